"""What a node without a task may cost: its buffer is whole for as long as any part is needed.

With a task every operand has a buffer of its own, from its producer to its last reader, and the
result another one, from the join on. Without, one buffer lives from the first producer on: at the
join that halves the need, but between the producers it holds bytes that nobody has written yet.
A split without a task keeps its whole input until the last reader of the last piece.
Whether that raises the peak depends on the rest of the graph: the planner decides, and `unmark`
takes a mark back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ge_core.api import Graph, Node, OutputAnchor


class Listing:
    """Positions of the nodes of one graph in its listed order, counted when first asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._at: dict[Node, int] = {}

    def at(self, node: Node) -> int:
        """The position of a node of the graph."""
        if not self._at:
            self._at = {node: at for at, node in enumerate(self._graph.nodes)}
        return self._at[node]


def early_bytes(roots: Sequence[OutputAnchor], listing: Listing) -> int:
    """Bytes of a join's buffer that lie reserved while nodes run that do not fill it.

    0 where the producers stand one behind the other in the listing.
    """
    by_position = sorted((listing.at(root.node), root.index) for root in roots)
    size_at = {(listing.at(root.node), root.index): root.desc.data_bytes or 0 for root in roots}
    positions = sorted({at for at, _ in by_position})
    for before, after in pairwise(positions):
        if after > before + 1:
            return sum(size for (at, _), size in size_at.items() if at >= after)
    return 0


def late_bytes(outputs: Sequence[OutputAnchor], listing: Listing) -> int:
    """Bytes of pieces whose readers in the graph are done before those of another piece."""
    last: list[tuple[int, int]] = []
    for output in outputs:
        positions = [listing.at(reader.node) for reader in output.readers]
        if positions:
            last.append((max(positions), output.desc.data_bytes or 0))
    end = max((at for at, _ in last), default=0)
    return sum(size for at, size in last if at < end)
