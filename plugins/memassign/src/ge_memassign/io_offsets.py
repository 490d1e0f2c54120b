"""`SetInputOutputOffsetPass`: where memory of graph inputs and outputs is used at other offsets.

GE's pass of that name. A loader that binds a user's buffer to a graph output replaces the address
that the output has in the plan. Where several tensors lie in that output, as the operands of a join
without a task do, it has to replace theirs too: two lists say at which offsets they lie.

Only what GE looks at is looked at: nodes that say they are connected to a graph's end. The task
list has the same for every input and output, marks or none (`TaskList.bindings`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ge_core.api import Graph, GraphPass, Node, OutputAnchor, PassContext, Plan, Target

BASIC: Final = "_zero_copy_basic_offset"
RELATIVE: Final = "_zero_copy_relative_offset"
TO_DATA: Final = "_is_connected_to_data"
TO_RESULT: Final = "_is_connected_to_netoutput"
FUSION_OFFSET: Final = "_output_offset_for_buffer_fusion"
FFTS_PLUS: Final = "_ffts_plus_sub_graph"


@dataclass(frozen=True)
class SetInputOutputOffsetPass(GraphPass):
    """Writes the offsets that zero copy patches onto the ends of the graph, as GE does.

    `_zero_copy_basic_offset` and `_zero_copy_relative_offset`, in bytes of the arena, one entry per
    tensor: on the node that the output goes to, and on the Data that an input comes from.
    """

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at every node of one graph that is connected to its end."""
        plan = ctx.environment.extras.get("plan")
        if not isinstance(plan, Plan):
            return
        if graph is graph.root:
            _forget(graph)
        marked = [n for n in graph.nodes if _indexes(n, TO_RESULT) or _indexes(n, TO_DATA)]
        if not marked or _is_ffts_plus(graph):
            return
        offsets = _Offsets(plan)
        lists: dict[Node, _Lists] = {}
        for node in marked:
            if _indexes(node, TO_RESULT):
                _outputs(node, offsets, lists)
            if _indexes(node, TO_DATA):
                _inputs(node, offsets, lists, ctx.target)
        for node, found in lists.items():
            # Behind what another graph has said: both arms of an If end at one NetOutput.
            for name, told in ((BASIC, found.basic), (RELATIVE, found.relative)):
                if told:
                    _graph_of(node).set_attr(node, name, [*node.attrs.get(name, ()), *told])


@dataclass(slots=True)
class _Lists:
    basic: list[int] = field(default_factory=list)
    relative: list[int] = field(default_factory=list)

    def add(self, basic: int, relative: int) -> None:
        """One more tensor."""
        self.basic.append(basic)
        self.relative.append(relative)


class _Offsets:
    """Offsets of outputs in their pools, in bytes; the first instance where calls make several."""

    def __init__(self, plan: Plan) -> None:
        self._at: dict[tuple[str, int], int] = {}
        self._bytes: dict[tuple[str, int], int] = {}
        for place in plan.tensors:
            self._at.setdefault((place.node, place.output), place.offset)
            self._bytes.setdefault((place.node, place.output), place.bytes)

    def of(self, output: OutputAnchor | None) -> int | None:
        """The offset of an output; None where it has no place."""
        return None if output is None else self._at.get((output.node.name, output.index))

    def size(self, output: OutputAnchor) -> int:
        """Bytes of an output."""
        return self._bytes.get((output.node.name, output.index), 0)


def _graph_of(node: Node) -> Graph:
    assert node.graph is not None
    return node.graph


def _forget(root: Graph) -> None:
    """Drop lists of an earlier compilation: they tell of another plan."""
    for node in root.all_nodes():
        for name in (BASIC, RELATIVE):
            if name in node.attrs:
                _graph_of(node).del_attr(node, name)


def _is_ffts_plus(graph: Graph) -> bool:
    """Whether FFTS+ runs the graph or one around it: it addresses memory itself."""
    around = {graph: None}
    left = [graph]
    while left:
        inner = left.pop()
        if inner.attrs.get(FFTS_PLUS) or any(
            caller.attrs.get(FFTS_PLUS) for caller, _ in inner.callers
        ):
            return True
        for caller, _ in inner.callers:
            outer = _graph_of(caller)
            if outer not in around:
                around[outer] = None
                left.append(outer)
    return False


def _indexes(node: Node, mark: str) -> list[int]:
    listed = node.attrs.get(mark)
    return [at for at in listed if type(at) is int] if isinstance(listed, (list, tuple)) else []


# ---- outputs -------------------------------------------------------------------------------------


def _outputs(node: Node, offsets: _Offsets, lists: dict[Node, _Lists]) -> None:
    if node.attrs.get("_no_task") and (node.attrs.get("continuous_input") or _is_fused(node)):
        _joined(node, offsets, lists)
    if node.attrs.get("continuous_output"):
        _packed(node, offsets, lists)


def _is_fused(node: Node) -> bool:
    """Whether every producer says where in a fused buffer it writes; true without producers."""
    return all(FUSION_OFFSET in producer.attrs for producer in node.in_nodes)


def _joined(node: Node, offsets: _Offsets, lists: dict[Node, _Lists]) -> None:
    """The operands of a join lie where its output is: one entry for each."""
    end = None if not node.outputs else _graph_end(node.outputs[0])
    basic = None if not node.outputs else offsets.of(node.outputs[0])
    if end is None or basic is None:
        return
    found = lists.setdefault(end, _Lists())
    for anchor in node.inputs:
        at = offsets.of(anchor.source)
        if at is not None:
            found.add(basic, at - basic)


def _packed(node: Node, offsets: _Offsets, lists: dict[Node, _Lists]) -> None:
    """The outputs of a node lie in one run, of which one goes out: the others move with it.

    Another of them that is a result itself has an address of its own to be patched, as in GE.
    """
    for index in _indexes(node, TO_RESULT):
        if not 0 <= index < len(node.outputs):
            continue
        end, basic = _graph_end(node.outputs[index]), offsets.of(node.outputs[index])
        if end is None or basic is None:
            continue
        found = lists.setdefault(end, _Lists())
        for output in node.outputs:
            at = offsets.of(output)
            if at is None:
                continue
            for reader in output.readers:
                if output.index == index or reader.node.op != "NetOutput":
                    found.add(basic, at - basic)


def _graph_end(output: OutputAnchor) -> Node | None:
    """The node that stands for the graph's output: a NetOutput if one reads it.

    In a subgraph it is the reader of the caller's output, if all its readers are NetOutputs.
    """
    readers = [reader.node for reader in output.readers]
    end = next((node for node in readers if node.op == "NetOutput"), None)
    if end is None:
        return readers[0] if readers else None
    outer = list(_outer_readers(end, output))
    if outer and all(node.op == "NetOutput" for node in outer):
        return outer[0]
    return end


def _outer_readers(end: Node, output: OutputAnchor) -> Iterator[Node]:
    """Who reads what the caller of a subgraph delivers for one of its results."""
    graph = end.graph
    assert graph is not None
    at = next(reader.index for reader in output.readers if reader.node is end)
    for caller, _ in graph.callers:
        if at < len(caller.outputs):
            yield from (reader.node for reader in caller.outputs[at].readers)


# ---- inputs --------------------------------------------------------------------------------------


def _inputs(node: Node, offsets: _Offsets, lists: dict[Node, _Lists], target: Target) -> None:
    """A Data that is read as a part of a run, elsewhere than where it lies."""
    if not node.attrs.get("continuous_input"):
        return
    wanted = set(_indexes(node, TO_DATA))
    start = offsets.of(node.inputs[0].source) if node.inputs else None
    if start is None:
        return
    for anchor in node.inputs:
        source = anchor.source
        at = offsets.of(source)
        if source is None or at is None:
            continue
        if anchor.index in wanted and source.node.op == "Data" and at != start:
            lists.setdefault(source.node, _Lists()).add(at, start - at)
        start += target.align(offsets.size(source))
