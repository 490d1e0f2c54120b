"""Frames: a graph on one call path, and the order its nodes run in.

Every call path is a frame of its own, so that a subgraph with two callers is evaluated twice. The
number of node instances is bounded, whatever the depth of the nesting.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator
from typing import Any, TypeVar

from ge_core.errors import GraphError, LimitExceeded
from ge_core.ir import Graph, Node, OutputAnchor
from ge_core.ops import output_parent_index
from ge_core.proof.facts import FactTable

T = TypeVar("T")

Call = tuple[str, ...]
Instance = tuple[Call, str]
"""Call path and node name."""


class Frame:
    """A graph on a call path.

    Attributes:
        call: names of the calling nodes, outermost first.
        caller: the calling node, and parent its frame; None for the root.
        loops: how many loops it lies in.
        order: its nodes in running order.
    """

    __slots__ = ("_children", "call", "caller", "graph", "loops", "order", "parent")

    def __init__(
        self,
        graph: Graph,
        call: Call,
        order: list[Node],
        parent: Frame | None = None,
        caller: Node | None = None,
        loops: int = 0,
    ) -> None:
        self.graph = graph
        self.call = call
        self.order = order
        self.parent = parent
        self.caller = caller
        self.loops = loops
        self._children: dict[tuple[Node, Graph], Frame] = {}

    def path(self, node: Node) -> str:
        """How the node instance is written in messages."""
        return "/".join((*self.call, node.name))

    def results(self) -> list[tuple[int, int, OutputAnchor]]:
        """(parent output, position, producer) of what its NetOutput delivers."""
        out = self.graph.net_output
        if out is None:
            return []
        found = []
        for anchor in out.inputs:
            if anchor.source is None:
                continue
            at = output_parent_index(out, anchor.index)
            found.append((anchor.index if at is None else at, anchor.index, anchor.source))
        return found


class Frames:
    """The frames of one graph.

    Args:
        limit: node instances that calls may expand to.
    """

    def __init__(self, graph: Graph, facts: FactTable, limit: int) -> None:
        self._orders: dict[Graph, list[Node]] = {}
        self._facts = facts
        self._limit = limit
        self._left = limit
        self.root = Frame(graph.root, (), self._order(graph.root))

    def child(self, frame: Frame, node: Node, graph: Graph) -> Frame:
        """The frame of a subgraph of `node`.

        Raises:
            LimitExceeded: calls expand to too many node instances.
        """
        found = frame._children.get((node, graph))
        if found is None:
            inside = self._facts.of(node).kind in ("while", "loop", "scan")
            found = Frame(
                graph,
                (*frame.call, node.name),
                self._order(graph),
                frame,
                node,
                frame.loops + inside,
            )
            frame._children[node, graph] = found
        return found

    def _order(self, graph: Graph) -> list[Node]:
        order = self._orders.get(graph)
        if order is None:
            order = self._orders[graph] = running_order(graph)
        self._left -= len(order)
        if self._left < 0:
            raise LimitExceeded(
                f"the proof expands calls to more than {self._limit} node instances",
                hint="raise its limit, or inline fewer nested calls",
            )
        return order


def running_order(graph: Graph) -> list[Node]:
    """The nodes as listed; stably in topological order where the list is not one.

    Raises:
        GraphError: the graph has a cycle.
    """
    listed = list(graph.nodes)
    place = {node: at for at, node in enumerate(listed)}
    waiting = [0] * len(listed)
    later: dict[int, list[int]] = {}
    is_sorted = True
    for at, node in enumerate(listed):
        for earlier in (*node.in_nodes, *node.control_inputs):
            before = place[earlier]
            is_sorted = is_sorted and before < at
            waiting[at] += 1
            later.setdefault(before, []).append(at)
    if is_sorted:
        return listed
    ready = [at for at, count in enumerate(waiting) if count == 0]
    order: list[Node] = []
    while ready:
        at = heapq.heappop(ready)
        order.append(listed[at])
        for other in later.get(at, ()):
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, other)
    if len(order) != len(listed):
        stuck = next(node for node in listed if waiting[place[node]] > 0)
        raise GraphError(f"graph {graph.name!r} has a cycle", node=stuck.name)
    return order


Steps = Generator["Steps[Any]", Any, T]
"""A computation that asks for others by yielding them: calls may nest deeper than the stack."""


def run_steps(steps: Steps[T]) -> T:
    """Run a computation and those that it asks for."""
    stack: list[Steps[Any]] = [steps]
    answer: Any = None
    while True:
        try:
            inner = stack[-1].send(answer)
        except StopIteration as done:
            stack.pop()
            answer = done.value
            if not stack:
                result: T = answer
                return result
            continue
        stack.append(inner)
        answer = None
