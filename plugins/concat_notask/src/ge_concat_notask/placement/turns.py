"""What the choice asks of the graph's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ge_core.api import Bytes, InputAnchor, Node, OpRegistry, Order, OutputAnchor, ReuseRule

OFFERS: Final = "_output_inplace_ability"
"""GE's list of [output, input] pairs on a node that may be one range."""


class Turns:
    """Answers from the order of a graph that is not edited meanwhile.

    Args:
        order: the order.
        ops: tells which ops work in place.
        reuse: makes the kernel's rule of reuse, when first asked.
    """

    def __init__(self, order: Order, ops: OpRegistry, reuse: Callable[[], ReuseRule]) -> None:
        self._order = order
        self._ops = ops
        self._reuse = reuse
        self._known: dict[tuple[Node, Node], bool] = {}

    def precedes(self, first: Node, second: Node, one_stream: bool) -> bool:
        """Whether the first has finished whenever the second starts.

        Args:
            one_stream: whether copies next to the two, on their streams, have to be ordered too.
        """
        if one_stream and (first.graph is not second.graph or _stream(first) != _stream(second)):
            return False
        found = self._known.get((first, second))
        if found is None:
            found = self._known[first, second] = self._order.before(first, second)
        return found

    def may_reuse(
        self, old: Sequence[Bytes], new: Sequence[Bytes], without: Sequence[Node]
    ) -> bool:
        """What the kernel says: it knows calls, loops and the options in force."""
        return self._reuse().may_reuse(old, new, without=without)

    def in_place(self, reader: InputAnchor, output: OutputAnchor) -> bool:
        """Whether a node may write an output to exactly the range that one of its inputs is."""
        node = reader.node
        if node is not output.node or node.subgraphs:
            return False
        pair = (output.index, reader.index)
        offers = node.attrs.get(OFFERS)
        listed = offers if isinstance(offers, (list, tuple)) else ()
        if any(isinstance(one, (list, tuple)) and tuple(one) == pair for one in listed):
            return True
        return pair in self._ops.traits(node).inplace


def _stream(node: Node) -> int:
    return node.stream_id
