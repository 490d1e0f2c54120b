"""What later passes must leave as it is: the pieces that a join or split was placed for.

The planner lays the operands of a marked join one behind the other, and reads their sizes from the
graph as it is then. A pass that gives such a node another operand has asked none of the rules that
allowed the mark.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ge_concat_notask.marks import is_marked
from ge_core.api import Breach, Graph, Node

PLACED_PIECES: Final = "placed_pieces"
Pieces: TypeAlias = "tuple[tuple[int | None, ...], tuple[int | None, ...]]"


def pieces_of(graph: Graph) -> dict[Node, Pieces]:
    """Bytes of each input and of each output, of all marked nodes."""
    return {node: _pieces(node) for node in graph.all_nodes() if is_marked(node)}


def pieces_stay(graph: Graph, before: dict[Node, Pieces]) -> Breach | None:
    """What is wrong with the first node that has kept its marks and not its pieces."""
    for node, pieces in before.items():
        if node.graph is None or not is_marked(node):
            continue
        now = _pieces(node)
        for what, old, new in zip(("inputs", "outputs"), pieces, now, strict=True):
            if old != new:
                hint = "place it anew: take its marks back with ge_concat_notask.unmark"
                text = f"({node.op}) was placed for {what} of {_shown(old)} and has {_shown(new)}"
                return Breach(text, node, hint)
    return None


def _pieces(node: Node) -> Pieces:
    inputs = (anchor.source for anchor in node.inputs)
    return (
        tuple(None if feed is None else feed.desc.nbytes for feed in inputs),
        tuple(output.desc.nbytes for output in node.outputs),
    )


def _shown(sizes: tuple[int | None, ...]) -> str:
    return ", ".join("-" if size is None else str(size) for size in sizes) + " bytes"
