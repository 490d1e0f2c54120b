"""When memories are needed, if the graph runs in its listed order.

Every node has one position: a caller comes first, then the nodes of its subgraphs, then what
follows it. A memory is needed from the first node that makes part of it to the last that touches
it; what a loop's body touches from outside, until the loop is done. A subgraph with several callers
stands where it is called first, and what it touches is needed from its first call to the end of its
last: lives may be longer than in any single run, never shorter. The planner of memory works on
single runs instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ge_core.analysis._alias_rules import walk
from ge_core.analysis.aliases import AliasClasses, Anchor, Scheme
from ge_core.analysis.nesting import containers, inner_graphs
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry

_LOOPS: Final = ("while", "loop", "scan")
_LASTING: Final = ("constant", "variable")


@dataclass(frozen=True, slots=True)
class Life:
    """First and last position at which a memory is needed, both included."""

    first: int
    last: int

    def overlaps(self, other: Life) -> bool:
        """Whether both are needed at some position."""
        return self.first <= other.last and other.first <= self.last


class Liveness:
    """Lives of all memories of a graph. Position 0 is before all nodes, `end` behind them.

    Args:
        classes: what is one memory, of `Scheme.MEMORY`; made from the graph by default.
    """

    def __init__(self, graph: Graph, ops: OpRegistry, classes: AliasClasses | None = None) -> None:
        root = graph.root
        self._ops = ops
        self.classes = AliasClasses(root, ops, Scheme.MEMORY) if classes is None else classes
        self._positions = {node: at for at, node in enumerate(walk(root), 1)}
        self.end = len(self._positions) + 1
        self._ends: dict[Graph, int] = {}
        """Per subgraph the last position inside."""
        self._lives: dict[Anchor, Life] = {}
        for node in self._positions:
            self._note(node)

    def position(self, node: Node) -> int:
        """Where the node runs."""
        return self._positions[node]

    def done(self, node: Node) -> int:
        """The last position at which the node, or something inside it, runs."""
        last = self._positions[node]
        for graph in inner_graphs(node, known=self._ends):
            inside = [self.done(inner) for inner in graph.nodes]
            self._ends[graph] = max(inside, default=0)
        return max([last, *(self._ends[graph] for graph in node.subgraphs.values())])

    def life(self, anchor: Anchor) -> Life:
        """When the memory that an anchor is part of is needed."""
        return self._lives[self.classes.root(anchor)]

    def size(self, anchor: Anchor) -> int | None:
        """Bytes of the memory that an anchor is part of; None where a size is unknown."""
        placed = self.classes.placed(anchor)
        ends: list[int] = []
        for member, place in placed:
            desc = member.desc
            if desc is None or desc.nbytes is None:
                return None
            piece = self.classes.piece(member)
            held = desc.nbytes
            if piece is not None:
                held = (piece.count - 1) * piece.pitch + piece.row
            ends.append(place + held)
        return max(ends)

    def peak(self) -> tuple[int, int]:
        """The most bytes needed at once, memories of unknown size left out, and where first."""
        change: dict[int, int] = {}
        for root, life in self._lives.items():
            size = self.size(root) or 0
            change[life.first] = change.get(life.first, 0) + size
            change[life.last + 1] = change.get(life.last + 1, 0) - size
        most, where, total = 0, 0, 0
        for at in sorted(change):
            total += change[at]
            if total > most:
                most, where = total, at
        return most, where

    def _note(self, node: Node) -> None:
        kind = self._ops.kind(node)
        for output in node.outputs:
            first, last = self._span(node, output)
            if kind in _LASTING or self._is_given(node):
                first = 0
            if kind in _LASTING:
                last = self.end
            self._extend(output, first, last)
        for anchor in node.inputs:
            if anchor.source is not None:
                self._extend(anchor, *self._span(node, anchor))

    def _is_given(self, node: Node) -> bool:
        return self._ops.kind(node) == "data" and node.graph is not None and node.graph.is_root

    def _extend(self, anchor: Anchor, first: int, last: int) -> None:
        root = self.classes.root(anchor)
        known = self._lives.get(root)
        if known is not None:
            first, last = min(first, known.first), max(last, known.last)
        self._lives[root] = Life(first, last)

    def _span(self, node: Node, anchor: Anchor) -> tuple[int, int]:
        """From when to when an access by a node needs the memory."""
        graph = node.graph
        first, last = self._positions[node], self.done(node)
        if graph is not None and graph.is_root and self._ops.kind(node) == "net_output":
            return first, self.end
        for around, callers in containers(node).items():
            if around is graph:
                continue
            for caller in callers:
                # What a turn makes itself is gone with the turn; what it touches outside stays.
                loops = self._ops.kind(caller) in _LOOPS and self._comes_from(anchor, caller)
                if len(callers) > 1 or loops:
                    first = min(first, self._positions[caller])
                    last = max(last, self.done(caller))
        return first, last

    def _comes_from(self, anchor: Anchor, loop: Node) -> bool:
        """Whether the memory is known outside a loop that the access is in."""
        ends: list[Anchor] = [*loop.inputs, *loop.outputs]
        return any(end in self.classes and self.classes.same(end, anchor) for end in ends)
