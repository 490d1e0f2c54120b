"""Where nodes stand in the order in which their graph is run, copies put in since included."""

from __future__ import annotations

from typing import Final

from ge_core.api import Graph, Node, lift_both, listed_order

_FAR: Final = 1 << 40


class Places:
    """Places in the listings of all graphs, each listing read once.

    A place is a pair of numbers that grows along the listing.
    """

    def __init__(self) -> None:
        self._places: dict[Node, tuple[int, int]] = {}
        self._read: set[Graph] = set()
        self._added = 0

    def of(self, node: Node) -> tuple[int, int]:
        """The place of a node in its graph."""
        graph = node.graph
        assert graph is not None
        if graph not in self._read:
            self._read.add(graph)
            for at, other in enumerate(listed_order(graph)):
                self._places.setdefault(other, (at, 0))
        return self._places[node]

    def added(self, node: Node, *, before: Node) -> None:
        """A node has been listed directly before one of the listing."""
        at, _ = self.of(before)
        self._added += 1
        self._places[node] = at, self._added - _FAR

    def added_behind(self, node: Node, other: Node) -> None:
        """A node has been listed directly behind one of the listing."""
        at, _ = self.of(other)
        self._added += 1
        self._places[node] = at, _FAR - self._added

    def before(self, one: Node, other: Node) -> bool:
        """Whether the one has run when the other starts, as far as the listing says.

        Nodes in different graphs are compared where both are contained.
        """
        if one.graph is other.graph:
            return self.of(one) < self.of(other)
        both = lift_both(one, other)
        if both is None:
            return False
        _, firsts, seconds = both
        return all(self.of(a) < self.of(b) for a in firsts for b in seconds)
