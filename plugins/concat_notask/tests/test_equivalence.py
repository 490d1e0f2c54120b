"""Marked graphs read what unmarked ones read: random graphs on bytes that know their origin.

Two runs of the same listed nodes: the reference run, in which joins and splits copy, and the marked
run, in which task-free nodes do nothing and every tensor lies where the marks put it. Each class of
aliases gets memory of its own, so the only way to go wrong is a wrong mark.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import combinations, product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from ge_concat_notask.marks import CONCAT_CLAIM, mark_join
from ge_core.api import (
    AliasClasses,
    Graph,
    GraphBuilder,
    InputAnchor,
    Node,
    OpRegistry,
    OutputAnchor,
    Target,
    TensorDesc,
    clone,
    is_no_task,
    ref_of,
    register_builtin_ops,
    scribbled_inputs,
    written_inputs,
)
from ge_core.testing.choices import DrawnChoices, SeededChoices
from ge_core.testing.random_graphs import GraphKnobs, random_graph

Content = tuple[Hashable, ...]
Run = Callable[..., object]


class Machine:
    """One run; `reads` maps (node, input) to the bytes read there."""

    def __init__(self, graph: Graph, ids: dict[Content, int], *, destroys: bool) -> None:
        self.graph = graph
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

    def shared_results(self) -> set[tuple[int, int]]:
        """Pairs of results that have bytes in common."""
        out = self.graph.net_output
        assert out is not None
        places = [(a.index, set(self._at(a))) for a in out.inputs if a.source is not None]
        return {(i, j) for (i, one), (j, two) in combinations(places, 2) if one & two}

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
    first = Machine(original, ids, destroys=not guarded)
    second = Machine(marked, ids, destroys=True)
    before, after = first.reads, second.reads
    assert second.shared_results() <= first.shared_results()
    return [key for key, content in after.items() if before[key] != content]


KNOBS = GraphKnobs(nodes=14, control_flow=False, moves=10)
LEVELS = ("O3", "O4")


@settings(max_examples=100)
@given(data=st.data(), aligned=st.booleans(), level=st.sampled_from(LEVELS))
def test_random_graphs_read_the_same(
    data: st.DataObject, aligned: bool, level: str, run: Run, ascend: Target, generic: Target
) -> None:
    """Whatever is marked, every node reads the bytes it read when joins and splits copied."""
    graph = random_graph(DrawnChoices(data.draw), KNOBS)
    original = clone(graph)
    run(graph, target=ascend if aligned else generic, level=level)
    assert differing_reads(original, graph) == []


@settings(max_examples=60)
@given(data=st.data(), level=st.sampled_from(LEVELS))
def test_graphs_that_are_yet_to_be_guarded(
    data: st.DataObject, level: str, run: Run, generic: Target
) -> None:
    """Where nodes destroy what others read, the marks change nothing about who reads what."""
    knobs = GraphKnobs(nodes=14, control_flow=False, moves=5, guarded=False)
    graph = random_graph(DrawnChoices(data.draw), knobs)
    original = clone(graph)
    run(graph, target=generic, level=level)
    assert differing_reads(original, graph, guarded=False) == []


def tangled(choices: DrawnChoices | SeededChoices, count: int) -> Graph:
    """A graph of little but joins and splits of the same few tensors, and views of them."""
    b = GraphBuilder()
    first = b.op("Relu", b.data("x"), name="n0", outputs=[TensorDesc.make("int8", (8,))])
    pool = [first]
    for at in range(1, count):
        kind = choices.pick(("Relu", "join", "join", "join", "split", "view", "store"))
        source = choices.pick(pool)
        size = source.desc.elements or 0
        if kind == "join" and size <= 64:
            parts = [source, *(choices.pick(pool) for _ in range(choices.integer(0, 2)))]
            out = TensorDesc.make("int8", (sum(p.desc.elements or 0 for p in parts),))
            made = b.node("ConcatD", *parts, name=f"n{at}", outputs=[out], attrs={"concat_dim": 0})
        elif kind == "split" and size >= 2:
            half = TensorDesc.make("int8", (size // 2,))
            rest = TensorDesc.make("int8", (size - size // 2,))
            made = b.node(
                "SplitD", source, name=f"n{at}", outputs=[half, rest], attrs={"split_dim": 0}
            )
        elif kind == "view":
            made = b.node("Reshape", source, name=f"n{at}")
        elif kind == "store" and choices.chance(20):
            made = b.node(
                "ScatterUpdate",
                source,
                name=f"n{at}",
                outputs=[source.desc.replace(reuse_input=0)],
                attrs={"reference": True},
            )
        else:
            made = b.node("Relu", source, name=f"n{at}")
        pool.extend(made.outputs)
    for at in range(choices.integer(1, 4)):
        b.op("Relu", choices.pick(pool), name=f"late{at}")
    b.net_output(*(choices.pick(pool) for _ in range(choices.integer(1, 2))))
    return b.graph


@settings(max_examples=150)
@given(data=st.data(), level=st.sampled_from(LEVELS))
def test_tangled_joins_read_the_same(
    data: st.DataObject, level: str, run: Run, generic: Target
) -> None:
    """Joins of joins, shared operands, joined parts of splits: places agree or a task stays."""
    graph = tangled(DrawnChoices(data.draw), data.draw(st.integers(3, 16)))
    original = clone(graph)
    run(graph, target=generic, level=level)
    assert differing_reads(original, graph) == []


def test_the_machine_sees_wrong_marks(run: Run, generic: Target) -> None:
    """A mark that ought not to be there is seen: without this the tests above prove nothing."""
    found = 0
    for seed in range(60):
        graph = tangled(SeededChoices(seed), 12)
        original = clone(graph)
        for node in graph.nodes_of("ConcatD"):
            if len({anchor.source for anchor in node.inputs}) == len(node.inputs):
                mark_join(graph, node, CONCAT_CLAIM)
        try:
            found += bool(differing_reads(original, graph))
        except AssertionError:
            found += 1  # the distances contradict each other
    assert found > 10
