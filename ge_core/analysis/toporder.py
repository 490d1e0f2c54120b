"""A topological order of one graph that is mended, not redone, when an edge is added.

After Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs" (2006):
every node has a label that grows along edges; a new edge against the labels moves only the nodes
between its ends. Labels are sparse, so that a new node finds a place without renumbering.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ge_core.errors import GraphError
from ge_core.ir import Graph, Node

_GAP = 1 << 32
_MOST_TRIES = 64


def successors(node: Node) -> Iterator[Node]:
    """Readers and waiting nodes, by output and reader order, then control order."""
    for output in node.outputs:
        for reader in output.readers:
            yield reader.node
    yield from node.control_outputs


def predecessors(node: Node) -> Iterator[Node]:
    """What feeds the node, by input, then what it waits for."""
    for anchor in node.inputs:
        if anchor.source is not None:
            yield anchor.source.node
    yield from node.control_inputs


def listed_order(graph: Graph) -> list[Node]:
    """The topological order that keeps closest to the listing: the earliest listed node first.

    Raises:
        GraphError: the graph has a cycle.
    """
    place: dict[Node, int] = {}
    waiting: dict[Node, int] = {}
    for at, node in enumerate(graph.nodes):
        place[node] = at
        waiting[node] = sum(1 for _ in predecessors(node))
    ready = [(place[node], node) for node, count in waiting.items() if count == 0]
    order: list[Node] = []
    while ready:
        node = heapq.heappop(ready)[1]
        order.append(node)
        for other in successors(node):
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, (place[other], other))
    if len(order) != len(place):
        stuck = next(node for node, count in waiting.items() if count > 0)
        raise GraphError("the node waits for itself, through others", node=stuck.name)
    return order


@dataclass(slots=True)
class Work:
    """What orders have done, counted together.

    Attributes:
        steps: edges looked at so far, for bounds and for tests of the cost.
        relabelled: how often labels of nodes have changed.
    """

    steps: int = 0
    relabelled: int = 0


class TopoOrder:
    """The order of one graph's nodes.

    Args:
        work: where to count; several orders can share it.
    """

    __slots__ = ("_graph", "_labels", "_placed", "_top", "work")

    def __init__(self, graph: Graph, work: Work | None = None) -> None:
        self._graph = graph
        self._labels: dict[Node, int] = {}
        self._placed: set[int] = set()
        self._top = 0
        self.work = Work() if work is None else work
        self.rebuild()

    @property
    def steps(self) -> int:
        """Edges looked at so far."""
        return self.work.steps

    def rebuild(self) -> None:
        """Number the graph as it is now; raises `GraphError` for a cycle."""
        old = self._labels
        self._labels = {node: (at + 1) * _GAP for at, node in enumerate(listed_order(self._graph))}
        self._top = len(self._labels) * _GAP
        self.work.relabelled += 1
        journal = self._graph.journal
        if journal.active:
            journal.record(lambda: self._put_back(old))

    def _put_back(self, labels: dict[Node, int]) -> None:
        self._labels = labels
        self.work.relabelled += 1

    def label(self, node: Node) -> int:
        """A number that grows along every edge; a node added since the last question is placed."""
        found = self._labels.get(node)
        return self._place(node) if found is None else found

    def _place(self, node: Node) -> int:
        """Find a label for a new node between those of its neighbours."""
        labels = self._labels
        earlier = [labels.get(other) for other in predecessors(node)]
        later = [labels.get(other) for other in successors(node)]
        if None in earlier or None in later:
            self.rebuild()
            return self._labels[node]
        low = max((label for label in earlier if label is not None), default=None)
        high = min((label for label in later if label is not None), default=None)
        found = self._free(low, high)
        if found is None:
            self.rebuild()
            return self._labels[node]
        labels[node] = found
        self._placed.add(found)
        self._top = max(self._top, found)
        journal = self._graph.journal
        if journal.active:
            journal.record(lambda: labels.pop(node, None))
        return found

    def _free(self, low: int | None, high: int | None) -> int | None:
        """A label that no node has between two, close to one that is given; None where none is.

        Two nodes of one label could not be told apart once an edge joins them.
        """
        if low is None:
            low = self._top if high is None else high - _GAP
        if high is None:
            high = low + _GAP
        middle = (low + high) // 2
        # Of many that find their places between the same two, each starts looking elsewhere.
        start = middle + len(self._placed) % max(1, high - middle)
        for label in range(start, min(high, start + _MOST_TRIES)):
            if label > low and label % _GAP and label not in self._placed:
                return label
        return None

    def sorted(self) -> list[Node]:
        """The nodes of the graph by label."""
        return sorted(self._graph.nodes, key=self.label)

    def path(self, sources: Iterable[Node], targets: Iterable[Node]) -> tuple[Node, Node] | None:
        """A source and a target that a path of one edge or more leads to, or None.

        One search for all of them, which looks at no node labelled beyond the last target.
        """
        work, wanted = self.work, dict.fromkeys(targets)
        if not wanted:
            return None
        limit = max(self.label(node) for node in wanted)
        came_from: dict[Node, Node] = {}
        stack = [(node, node) for node in sources if self.label(node) < limit]
        stack.reverse()
        while stack:
            node, origin = stack.pop()
            for other in successors(node):
                work.steps += 1
                if other in wanted:
                    return origin, other
                if other not in came_from and self.label(other) < limit:
                    came_from[other] = origin
                    stack.append((other, origin))
        return None

    def stray(self, sources: Iterable[Node], target: Node) -> Node | None:
        """The first source from which no path leads to the target; None where all lead there.

        One search for all of them, back from the target, down to the lowest label of a source.
        """
        work, waiting = self.work, dict.fromkeys(sources)
        low = min((self.label(node) for node in waiting), default=0)
        first = next((n for n in waiting if self.label(n) >= self.label(target)), None)
        if first is not None:
            return first
        stack = [target]
        seen = {target}
        while stack and waiting:
            for other in predecessors(stack.pop()):
                work.steps += 1
                waiting.pop(other, None)
                if other not in seen and self.label(other) > low:
                    seen.add(other)
                    stack.append(other)
        return next(iter(waiting), None)

    def missed(self, source: Node, targets: Iterable[Node]) -> Node | None:
        """The first target to which no path leads from the source; None where all are reached.

        One search for all of them, up to the highest label of a target.
        """
        work, waiting = self.work, dict.fromkeys(targets)
        high = max((self.label(node) for node in waiting), default=0)
        first = next((n for n in waiting if self.label(n) <= self.label(source)), None)
        if first is not None:
            return first
        stack = [source]
        seen = {source}
        while stack and waiting:
            for other in successors(stack.pop()):
                work.steps += 1
                waiting.pop(other, None)
                if other not in seen and self.label(other) < high:
                    seen.add(other)
                    stack.append(other)
        return next(iter(waiting), None)

    def reaches(self, before: Node, after: Node) -> bool:
        """Whether a path of one edge or more leads from one node to the other.

        Searches from both ends in turn, so that the cheaper side decides the cost.
        """
        work, low, high = self.work, self.label(before), self.label(after)
        if low >= high:
            return False
        ahead, behind = [before], [after]
        seen_ahead, seen_behind = {before}, {after}
        while ahead and behind:
            node = ahead.pop()
            for other in successors(node):
                work.steps += 1
                if other in seen_behind:
                    return True
                if other not in seen_ahead and self.label(other) < high:
                    seen_ahead.add(other)
                    ahead.append(other)
            node = behind.pop()
            for other in predecessors(node):
                work.steps += 1
                if other in seen_ahead:
                    return True
                if other not in seen_behind and self.label(other) > low:
                    seen_behind.add(other)
                    behind.append(other)
        return False

    def admit(self, before: Node, after: Node) -> bool:
        """Make room for an edge that is about to be added; False where it would close a cycle.

        On False nothing has changed.
        """
        if before is after:
            return False
        low, high = self.label(after), self.label(before)
        if high < low:
            return True
        ahead = self._ahead(after, before, high)
        if ahead is None:
            return False
        self._move(self._behind(before, low), ahead)
        return True

    def _ahead(self, start: Node, forbidden: Node, high: int) -> list[Node] | None:
        """Nodes reached from `start` up to label `high`; None where `forbidden` is one of them."""
        work, seen = self.work, {start: None}
        stack = [start]
        while stack:
            for other in successors(stack.pop()):
                work.steps += 1
                if other is forbidden:
                    return None
                if other not in seen and self.label(other) < high:
                    seen[other] = None
                    stack.append(other)
        return list(seen)

    def _behind(self, start: Node, low: int) -> list[Node]:
        """Nodes that reach `start`, down to label `low`."""
        work, seen = self.work, {start: None}
        stack = [start]
        while stack:
            for other in predecessors(stack.pop()):
                work.steps += 1
                if other not in seen and self.label(other) > low:
                    seen[other] = None
                    stack.append(other)
        return list(seen)

    def _move(self, behind: Sequence[Node], ahead: Sequence[Node]) -> None:
        """Deal the labels of both groups out again: all of `behind`, then all of `ahead`."""
        labels = self._labels
        moved = [*sorted(behind, key=labels.__getitem__), *sorted(ahead, key=labels.__getitem__)]
        old = {node: labels[node] for node in moved}
        for node, label in zip(moved, sorted(old.values()), strict=True):
            labels[node] = label
        self.work.relabelled += 1
        journal = self._graph.journal
        if journal.active:
            journal.record(lambda: self._put_back(_updated(labels, old)))


def _updated(labels: dict[Node, int], old: dict[Node, int]) -> dict[Node, int]:
    labels.update(old)
    return labels
