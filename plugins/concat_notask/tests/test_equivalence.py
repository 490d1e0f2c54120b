"""Marked graphs read what unmarked ones read: random graphs on bytes that know their origin.

Two runs of the same listed nodes: the reference run, in which joins and splits copy, and the marked
run, in which task-free nodes do nothing and every tensor lies where the marks put it. Each class of
aliases gets memory of its own, so the only way to go wrong is a wrong mark.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.api import (
    AliasClasses,
    Graph,
    InputAnchor,
    Node,
    OpRegistry,
    OutputAnchor,
    Target,
    clone,
    is_no_task,
    ref_of,
    register_builtin_ops,
    scribbled_inputs,
    written_inputs,
)
from ge_core.testing.choices import DrawnChoices
from ge_core.testing.random_graphs import GraphKnobs, random_graph

Content = tuple[Hashable, ...]
Run = Callable[..., object]


class Machine:
    """One run; `reads` maps (node, input) to the bytes read there."""

    def __init__(self, graph: Graph, ids: dict[Content, int], *, destroys: bool) -> None:
        self.ops = OpRegistry()
        register_builtin_ops(self.ops)
        self.classes = AliasClasses(graph, self.ops)
        assert self.classes.conflicts == []
        self.destroys = destroys
        self.bytes: dict[tuple[object, int], Hashable] = {}
        self.reads: dict[tuple[str, int], Content] = {}
        self.ids = ids
        for node in graph.nodes:
            self._step(node)

    # ---- memory --------------------------------------------------------------------------------

    def _at(self, anchor: InputAnchor | OutputAnchor) -> list[tuple[object, int]]:
        output = anchor.source if isinstance(anchor, InputAnchor) else anchor
        assert output is not None and output.desc.data_bytes is not None
        root = self.classes.root(output)
        start = self.classes.distance(root, output)
        return [(root, start + at) for at in range(output.desc.data_bytes)]

    def _load(self, anchor: InputAnchor | OutputAnchor) -> Content:
        return tuple(self.bytes.get(address, ("nothing",)) for address in self._at(anchor))

    def _store(self, anchor: InputAnchor | OutputAnchor, content: Content) -> None:
        self.bytes.update(zip(self._at(anchor), content, strict=True))

    def _fresh(self, anchor: OutputAnchor | InputAnchor, what: Content) -> None:
        number = self.ids.setdefault(what, len(self.ids))
        self._store(anchor, tuple((number, at) for at in range(len(self._at(anchor)))))

    # ---- nodes ---------------------------------------------------------------------------------

    def _step(self, node: Node) -> None:
        if is_no_task(node):
            return
        kind = self.ops.kind(node)
        views = {o.index for o in node.outputs if ref_of(o, self.ops) is not None}
        writes = written_inputs(node, self.ops)
        if views and not writes:
            return
        read = []
        for anchor in node.inputs:
            if anchor.source is not None:
                content = self._load(anchor)
                self.reads[node.name, anchor.index] = content
                read.append(content)
        if kind == "move":
            self._store(node.outputs[0], read[0])
        elif kind in ("join", "pack"):
            self._store(node.outputs[0], self._joined(node, read))
        elif kind == "split":
            self._cut(node, read[0])
        else:
            salt = (node.name,) if kind in ("data", "constant", "variable") else ()
            for at in writes:
                self._fresh(node.inputs[at], ("written", node.op, at, *read))
            for output in node.outputs:
                if output.index not in views:
                    self._fresh(output, (node.op, output.index, *salt, *read))
        if self.destroys:
            for at in scribbled_inputs(node, self.ops):
                self._fresh(node.inputs[at], ("destroyed", node.name))

    def _joined(self, node: Node, read: list[Content]) -> Content:
        if node.op == "Pack":
            assert node.attrs["axis"] == 0
            return sum(read, ())
        shapes = [anchor.source.desc.shape or () for anchor in node.inputs if anchor.source]
        axis = int(node.attrs["concat_dim"]) % len(shapes[0])
        rows = [_rows(content, shape, axis) for content, shape in zip(read, shapes, strict=True)]
        return sum((row for group in zip(*rows, strict=True) for row in group), ())

    def _cut(self, node: Node, content: Content) -> None:
        source = node.inputs[0].source
        assert source is not None and source.desc.shape is not None
        axis = int(node.attrs["split_dim"]) % len(source.desc.shape)
        outer = prod(source.desc.shape[:axis])
        sizes = [(output.desc.data_bytes or 0) // outer for output in node.outputs]
        row = sum(sizes)
        start = 0
        for output, size in zip(node.outputs, sizes, strict=True):
            parts = [content[at * row + start : at * row + start + size] for at in range(outer)]
            self._store(output, sum(parts, ()))
            start += size


def _rows(content: Content, shape: tuple[int, ...], axis: int) -> list[Content]:
    """The content cut into one row per setting of the axes outside the joined one."""
    count = len(list(product(*(range(dim) for dim in shape[:axis]))))
    size = len(content) // count
    return [content[at * size : (at + 1) * size] for at in range(count)]


def differing_reads(
    original: Graph, marked: Graph, *, guarded: bool = True
) -> list[tuple[str, int]]:
    """Inputs that read other bytes in the marked graph than in the original one.

    In the original a node destroys a copy of its own of what it destroys; not guarded: the copies
    are yet to be inserted, and the marks must not change what happens until then.
    """
    ids: dict[Content, int] = {}
    before = Machine(original, ids, destroys=not guarded).reads
    after = Machine(marked, ids, destroys=True).reads
    return [key for key, content in after.items() if before[key] != content]


KNOBS = GraphKnobs(nodes=14, control_flow=False, moves=10)


@settings(max_examples=150)
@given(data=st.data(), aligned=st.booleans())
def test_random_graphs_read_the_same(
    data: st.DataObject, aligned: bool, run: Run, ascend: Target, generic: Target
) -> None:
    """Whatever is marked, every node reads the bytes it read when joins and splits copied."""
    graph = random_graph(DrawnChoices(data.draw), KNOBS)
    original = clone(graph)
    run(graph, target=ascend if aligned else generic)
    assert differing_reads(original, graph) == []
