"""When accesses happen if a graph runs as it is listed: keys that can be compared, and the nesting.

A key is the way from the root to an access: the place of a caller, which of its subgraphs, the
place inside, and so on. A subgraph with several callers is keyed by its first; whoever needs all
its runs looks at the callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from ge_core.analysis.accesses import HEAD, NODE, Access
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry

Key: TypeAlias = "tuple[int, ...]"
"""Rises in the listed order; a caller comes before what is inside it."""

FIRST: Final = -1
LAST: Final = 1 << 60


class Timeline:
    """The places of all nodes below a root, each graph read when it is first asked about."""

    def __init__(self, graph: Graph, ops: OpRegistry) -> None:
        self._root = graph.root
        self._ops = ops
        self._orders: dict[Graph, list[Node]] = {}
        self._places: dict[Node, int] = {}
        self._prefixes: dict[Graph, Key] = {}
        self._straight: dict[Graph, bool] = {}
        self._single: dict[Graph, bool] = {}
        self.version = 0
        """Changes when a node is moved: keys are stale then."""

    def order(self, graph: Graph) -> list[Node]:
        """The nodes of a graph as they are listed, those gone meanwhile among them."""
        found = self._orders.get(graph)
        if found is None:
            found = self._orders[graph] = list(graph.nodes)
            self._places |= {node: at for at, node in enumerate(found)}
        return found

    def place(self, node: Node) -> int:
        """The place of a node in its graph's listing; raises `KeyError` for one added later."""
        found = self._places.get(node)
        if found is None:
            assert node.graph is not None
            self.order(node.graph)
            found = self._places[node]
        return found

    def knows(self, node: Node) -> bool:
        """Whether the node was in the listing when it was read."""
        assert node.graph is not None
        self.order(node.graph)
        return node in self._places

    def move(self, graph: Graph, first: int, nodes: Sequence[Node]) -> None:
        """From place `first` on, these nodes follow: the same that were there, in another order.

        Taken back with the graph's transaction.
        """
        order = self.order(graph)
        before = order[first : first + len(nodes)]
        self._put(order, first, nodes)
        self._take_back(lambda: self._put(order, first, before))

    def replace(self, old: Node, new: Node) -> None:
        """A node that has been put in the place of another one is listed there.

        Taken back with the graph's transaction.
        """
        assert new.graph is not None
        order, at = self.order(new.graph), self.place(old)
        self._put(order, at, [new])
        self._take_back(lambda: self._places.pop(new))
        self._take_back(lambda: self._put(order, at, [old]))

    def _put(self, order: list[Node], first: int, nodes: Sequence[Node]) -> None:
        order[first : first + len(nodes)] = nodes
        for at, node in enumerate(nodes, first):
            self._places[node] = at
        self._prefixes.clear()
        self.version += 1

    def _take_back(self, undo: Callable[[], object]) -> None:
        journal = self._root.journal
        if journal.active:
            journal.record(undo)

    # ---- keys ----------------------------------------------------------------------------------

    def key(self, access: Access) -> Key:
        """When an access happens."""
        prefix = self._prefix(access.graph)
        if access.moment == NODE:
            return (*prefix, self.place(access.node))
        return (*prefix, FIRST if access.moment == HEAD else LAST)

    def _prefix(self, graph: Graph) -> Key:
        chain: list[Graph] = []
        at = graph
        while at not in self._prefixes:
            if not at.callers:
                self._prefixes[at] = ()
                break
            chain.append(at)
            outer = at.callers[0][0].graph
            assert outer is not None
            at = outer
        for inner in reversed(chain):
            caller, label = inner.callers[0]
            assert caller.graph is not None
            which = list(caller.subgraphs).index(label)
            self._prefixes[inner] = (*self._prefixes[caller.graph], self.place(caller), which)
        return self._prefixes[graph]

    def is_straight(self, graph: Graph) -> bool:
        """Whether the graph runs exactly once: calls lead to it, each with one caller."""
        chain: list[Graph] = []
        at = graph
        answer = True
        while not at.is_root:
            known = self._straight.get(at)
            if known is not None:
                answer = known
                break
            chain.append(at)
            if len(at.callers) != 1 or self._ops.kind(at.callers[0][0]) != "call":
                answer = False
                break
            outer = at.callers[0][0].graph
            assert outer is not None
            at = outer
        self._straight.update(dict.fromkeys(chain, answer))
        return answer

    def is_spread(self, graphs: Iterable[Graph]) -> bool:
        """Whether what is in these graphs may be in several places at once.

        It is where one of them, or one between it and the innermost graph that is around all, has
        several callers. What lies in one subgraph alone belongs to one run of it at a time.
        """
        inside = list(dict.fromkeys(graphs))
        if len(inside) < 2 or all(self._is_single(graph) for graph in inside):
            return False
        around = [_around(graph) for graph in inside]
        common = [graph for graph in around[0] if all(graph in other for other in around)]
        home = max(common, key=lambda graph: len(_around(graph)), default=self._root)
        return any(
            len(graph.callers) > 1
            for start in inside
            for graph in _around(start, home)
            if graph is not home
        )

    def _is_single(self, graph: Graph) -> bool:
        """Whether neither the graph nor any around it has several callers."""
        known = self._single.get(graph)
        if known is None:
            known = all(len(each.callers) <= 1 for each in _around(graph))
            self._single[graph] = known
        return known


def _around(graph: Graph, until: Graph | None = None) -> dict[Graph, None]:
    """A graph and those around it, up to one of them."""
    found = {graph: None}
    waiting = [graph]
    while waiting:
        at = waiting.pop()
        for caller, _ in () if at is until else at.callers:
            outer = caller.graph
            if outer is not None and outer not in found:
                found[outer] = None
                waiting.append(outer)
    return found
