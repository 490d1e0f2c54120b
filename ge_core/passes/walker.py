"""The worklist on which node passes walk a graph: GE's GEPass, with a bound on its work.

Producers come before consumers. Results depend on the order and no fixpoint is sought, as in GE: a
node is looked at again only when asked for. Differences: each node pass walks on its own (GE runs
all passes on a node before the next node), and a subgraph in which and around which nothing has
changed since it was last walked is not walked again, so that shared subgraphs can't multiply the
work. Nor is one that has nothing in it that the pass looks at, where the pass says what that is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Set

from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, Node

MAX_DEPTH = 150
"""Subgraphs nested deeper are refused: what Python's own stack allows. (GE refuses below 25.)"""
MANY_PREDECESSORS = 1000
"""Nodes with more wait until the others are done: looking at them once per producer is dear."""
VISITS_PER_NODE = 10
"""The walk stops after this many visits per node, with a warning."""


class _Queue:
    """The walk over one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ready: deque[Node] = deque()
        self.again: dict[Node, None] = {}
        self.seen: set[Node] = set()
        self.last: dict[Node, None] = {}
        self.visits: dict[Node, int] = {}
        self.budget = VISITS_PER_NODE * len(graph)
        for node in graph.nodes:
            before = len(node.in_nodes) + len(node.control_inputs)
            if before == 0:
                self.ready.append(node)
            elif before > MANY_PREDECESSORS:
                self.last[node] = None
        self._queued = set(self.ready)
        self._known = frozenset(graph.nodes)

    def next(self) -> Node | None:
        """The next node to visit, None when all is done."""
        while True:
            if not self.ready and not self._refill():
                return None
            node = self.ready.popleft()
            self._queued.discard(node)
            if node.graph is self.graph:
                # A visit that happens anyway answers an earlier wish for one.
                self.again.pop(node, None)
                return node

    def _refill(self) -> bool:
        if self.last:
            self._queue_all(self.last)
            self.last.clear()
        else:
            self._queue_all(n for n in self.again if n in self.seen or self._is_ready(n))
            self.again.clear()
        return bool(self.ready) or bool(self.last) or bool(self.again)

    def _queue_all(self, nodes: Iterable[Node]) -> None:
        for node in list(nodes):
            if node.graph is self.graph and node not in self._queued:
                self.ready.append(node)
                self._queued.add(node)

    def done(self, node: Node, before: list[Node], edited: bool) -> None:
        """A node was visited; `before` are the successors it had then.

        Args:
            edited: whether the visit changed the graph.
        """
        self.seen.add(node)
        after = [] if node.graph is None else list(_successors(node))
        for follower in dict.fromkeys((*before, *after)):
            if follower in self.seen or follower in self._queued or follower in self.last:
                continue
            if follower.graph is not self.graph:
                continue
            if self._is_ready(follower):
                self.ready.append(follower)
                self._queued.add(follower)
            elif edited:
                self._queue_added(follower)

    def _is_ready(self, node: Node) -> bool:
        seen = self.seen
        return all(
            other in seen or other.op == "NextIteration"
            for others in (node.in_nodes, node.control_inputs)
            for other in others
        )

    def _queue_added(self, node: Node) -> None:
        """Queue what the visit put in front of a node: all that comes before it may be done."""
        for other in dict.fromkeys((*node.in_nodes, *node.control_inputs)):
            new = other not in self._known and other not in self.seen
            if new and other not in self._queued and self._is_ready(other):
                self.ready.append(other)
                self._queued.add(other)

    def revisit(self, node: Node, now: bool) -> None:
        if not now:
            self.again[node] = None
        elif node in self.seen and node not in self._queued:
            self.ready.appendleft(node)
            self._queued.add(node)


def _most_visited(queue: _Queue) -> str:
    if not queue.visits:
        return ""
    node, count = max(queue.visits.items(), key=lambda item: item[1])
    return f"; {count} of them were of {node.name!r} ({node.op})" if count > 1 else ""


def _successors(node: Node) -> Iterator[Node]:
    yield from node.out_nodes
    yield from node.control_outputs


class Walk:
    """One node pass's walk over a graph and everything below it.

    Args:
        visit: called with a node, its graph and whether its subgraphs have been walked.
        warn: told when the bound on work stops the walk.
        only: op types of the nodes to visit; empty for all.
    """

    def __init__(
        self,
        visit: Callable[[Node, Graph, bool], None],
        warn: Callable[[str], None],
        only: Set[str] = frozenset(),
    ) -> None:
        self._visit = visit
        self._warn = warn
        self._only = only
        self._active: dict[Graph, _Queue] = {}
        self._walked: dict[Graph, int] = {}
        self._called: dict[Graph, tuple[int, list[Graph]]] = {}
        self._budget = 0

    def run(self, root: Graph) -> None:
        """Walk the root graph; `LimitExceeded` for subgraphs nested deeper than `MAX_DEPTH`."""
        self._budget = VISITS_PER_NODE * sum(len(graph) for graph in root.all_graphs())
        self._run(root, 0)

    def _run(self, graph: Graph, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LimitExceeded(
                f"subgraphs are nested deeper than {MAX_DEPTH}: {graph.name!r}",
                hint="inline calls before this pass",
            )
        if graph in self._active:
            raise LimitExceeded(f"subgraph {graph.name!r} calls itself")
        queue = self._active[graph] = _Queue(graph)
        try:
            self._drain(queue, depth)
        finally:
            del self._active[graph]
        self._walked[graph] = graph.version

    def _drain(self, queue: _Queue, depth: int) -> None:
        while (node := queue.next()) is not None:
            if queue.budget <= 0 or self._budget <= 0:
                self._warn(
                    f"the walk over graph {queue.graph.name!r} stopped after "
                    f"{VISITS_PER_NODE} visits per node{_most_visited(queue)}"
                )
                return
            queue.budget -= 1
            queue.visits[node] = queue.visits.get(node, 0) + 1
            self._budget -= 1
            successors, version = list(_successors(node)), queue.graph.version
            self._visit_with_subgraphs(node, queue.graph, depth)
            queue.done(node, successors, queue.graph.version != version)

    def _visit_with_subgraphs(self, node: Node, graph: Graph, depth: int) -> None:
        looked_at = not self._only or node.op in self._only
        if looked_at:
            self._visit(node, graph, False)
        if node.graph is not graph or not node.subgraphs:
            return
        for sub in list(node.subgraphs.values()):
            if self._walked.get(sub) != sub.version and self._has_work(sub):
                self._run(sub, depth + 1)
        if looked_at:
            self._visit(node, graph, True)

    def _has_work(self, graph: Graph) -> bool:
        """Whether there is a node to visit in a subgraph, or further below it."""
        if not self._only:
            return True
        seen = {graph}
        waiting = [graph]
        while waiting:
            at = waiting.pop()
            if at.count_of(*self._only):
                return True
            fresh = [below for below in self._below(at) if below not in seen]
            seen.update(fresh)
            waiting += fresh
        return False

    def _below(self, graph: Graph) -> list[Graph]:
        """The graphs that the nodes of one call."""
        found = self._called.get(graph)
        if found is None or found[0] != len(graph):
            called = (sub for node in graph.nodes for sub in node.subgraphs.values())
            found = self._called[graph] = len(graph), list(dict.fromkeys(called))
        return found[1]

    def revisit(self, node: Node, now: bool = False) -> None:
        """Ask for another visit. A node of a graph that isn't being walked is not visited again."""
        queue = None if node.graph is None else self._active.get(node.graph)
        if queue is not None:
            queue.revisit(node, now)

    def revisit_neighbours(self, node: Node) -> None:
        """Ask for another visit of everything that feeds or follows a node."""
        neighbours = (*node.in_nodes, *node.control_inputs, *_successors(node))
        for other in dict.fromkeys(neighbours):
            self.revisit(other)
