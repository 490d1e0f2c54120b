"""What must have finished before a node starts: one vector clock per node of a graph.

A clock says, for each stream, up to which of its nodes everything is known to have finished.
Streams run their nodes in order; edges between streams make the reader wait. Nodes without a task
(inputs, constants, views, task-free joins) stand on no stream: they hand on what their producers
say. A node whose subgraphs hold other streams than its own stands alone on a stream of its own,
since its place among the calls says nothing about when those end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from ge_core.analysis.nesting import inner_graphs
from ge_core.analysis.toporder import predecessors
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry, is_no_task, ref_of, scribbled_inputs, written_inputs

Clock: TypeAlias = tuple[int, ...]
_NEVER: Final = -1
_TASKLESS_KINDS: Final = frozenset({"data", "constant", "variable", "net_output", "noop"})


def has_task(node: Node, ops: OpRegistry) -> bool:
    """Whether the node takes a place on its stream: something runs, or may run, there."""
    traits = ops.traits(node)
    if traits.kind in _TASKLESS_KINDS or is_no_task(node):
        return False
    if traits.has_subgraphs or node.subgraphs or not node.outputs:
        return True
    # A view whose size is known only at run time reads it from its other inputs.
    if any(ref_of(output, ops) is None or output.desc.nbytes is None for output in node.outputs):
        return True
    return bool(written_inputs(node, ops) or scribbled_inputs(node, ops))


class InnerStreams:
    """The streams that run something inside a node's subgraphs; every graph is looked at once."""

    def __init__(self, ops: OpRegistry) -> None:
        self._ops = ops
        self._known: dict[Graph, frozenset[int]] = {}

    def of(self, node: Node) -> frozenset[int]:
        """Streams inside the node, its own place left out."""
        for graph in inner_graphs(node, known=self._known):
            self._known[graph] = self._streams(graph)
        return self._union(node)

    def _streams(self, graph: Graph) -> frozenset[int]:
        found = {node.stream_id for node in graph.nodes if has_task(node, self._ops)}
        for node in graph.nodes:
            if node.subgraphs:
                found |= self._union(node)
        return frozenset(found)

    def _union(self, node: Node) -> frozenset[int]:
        return frozenset().union(*(self._known[graph] for graph in node.subgraphs.values()))


class StreamClocks:
    """The clocks of one graph's nodes, for one order of running them.

    Args:
        nodes: all nodes of the graph in a topological order; it is the order on each stream.
    """

    __slots__ = ("_clocks", "_lanes", "_places")

    def __init__(self, nodes: Sequence[Node], ops: OpRegistry, inside: InnerStreams) -> None:
        self._lanes: dict[Node, int] = {}
        """The stream of each node that stands on one, numbered by first use."""
        self._places: dict[Node, int] = {}
        self._clocks: dict[Node, Clock] = {}
        """What was finished when the node starts. Nodes of a stream without waits share a clock."""
        self._number(nodes, ops, inside)
        self._count(nodes)

    def _number(self, nodes: Sequence[Node], ops: OpRegistry, inside: InnerStreams) -> None:
        numbers: dict[object, int] = {}
        for node in nodes:
            if not has_task(node, ops):
                continue
            foreign = inside.of(node) - {node.stream_id}
            key: object = node if foreign else node.stream_id
            self._lanes[node] = numbers.setdefault(key, len(numbers))

    def _count(self, nodes: Sequence[Node]) -> None:
        width = len(set(self._lanes.values()))
        nothing = (_NEVER,) * width
        on_lane: list[Clock] = [nothing] * width
        used = [0] * width
        for node in nodes:
            lane = self._lanes.get(node)
            clock = nothing if lane is None else on_lane[lane]
            for other in predecessors(node):
                clock = self._joined(clock, other, lane)
            self._clocks[node] = clock
            if lane is not None:
                on_lane[lane] = clock
                self._places[node] = used[lane]
                used[lane] += 1

    def _joined(self, clock: Clock, before: Node, lane: int | None) -> Clock:
        """The clock of somebody who also waits for `before`."""
        theirs = self._clocks[before]
        from_lane = self._lanes.get(before)
        if from_lane is not None and from_lane == lane:
            return clock
        if theirs is not clock and theirs != clock:
            clock = tuple(map(max, clock, theirs))
        if from_lane is not None and clock[from_lane] < self._places[before]:
            clock = (*clock[:from_lane], self._places[before], *clock[from_lane + 1 :])
        return clock

    def before(self, first: Node, second: Node) -> bool:
        """Whether `first`, which must have a task, has finished whenever `second` starts."""
        lane = self._lanes.get(first)
        if lane is None or first is second:
            return False
        place = self._places[first]
        if self._lanes.get(second) == lane:
            return place < self._places[second]
        return self._clocks[second][lane] >= place

    def on_stream(self, node: Node) -> bool:
        """Whether the node stands on a stream, so that `before` can speak for it."""
        return node in self._lanes
