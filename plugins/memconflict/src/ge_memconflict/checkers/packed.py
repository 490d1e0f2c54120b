"""Packed groups: tensors that lie side by side, each padded (GE: continuous)."""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import Anchor, InputAnchor, Node, OutputAnchor

PACKED: Final = ("continuous_input", "_no_padding_continuous_input")
"""Marks of a node whose inputs lie side by side."""


def two_packed_inputs(first: InputAnchor, second: InputAnchor, query: Any) -> Any:
    """One tensor can't lie in two packed groups: the later reader gets a copy.

    Of two groups in a row it is the second one. (GE isolates every reader behind the second
    group's, ordinary ones too, and misses groups that read the tensor through different views.)
    """
    return query.conflict(code="IN_TWO_PACKED_GROUPS", isolate=_later(first, second, query))


def _later(first: InputAnchor, second: InputAnchor, query: Any) -> InputAnchor:
    if _fed_by(first.node, second, query) is not None:
        return second
    if _fed_by(second.node, first, query) is not None:
        return first
    places = [(query.listed(anchor.node), anchor.index) for anchor in (first, second)]
    return first if places[0] > places[1] else second


def _fed_by(upper: Node, reader: InputAnchor, query: Any) -> OutputAnchor | None:
    """The output of a node that an input is fed by, through views or at once."""
    found: OutputAnchor | None = query.producer(reader, lambda output: output.node is upper)
    return found if found is not None and found.node is upper else None


def packed_input_and_output(packed: InputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """Packed outputs feed packed inputs only as one aligned run."""
    ones = list(piece.node.outputs)
    others = [query.producer(anchor) for anchor in packed.node.inputs]
    if _aligned(ones, others):
        return query.no_conflict()
    return query.conflict(code="GROUPS_NOT_ALIGNED", isolate=query.earlier or piece)


def _aligned(ones: list[Any], others: list[Any]) -> bool:
    """Whether two lists agree where they overlap, and one of them is used up there."""
    at = {id(other): j for j, other in reversed(list(enumerate(others)))}
    meeting = next(((i, at[id(one)]) for i, one in enumerate(ones) if id(one) in at), None)
    if meeting is None or (meeting[0] and meeting[1]):
        return False
    i, j = meeting
    length = min(len(ones) - i, len(others) - j)
    if any(ones[i + k] is not others[j + k] for k in range(length)):
        return False
    left = ones[:i] + ones[i + length :]
    foreign = others[:j] + others[j + length :]
    mine = {id(one) for one in ones}
    return not any(id(one) in at for one in left) and not any(id(a) in mine for a in foreign)


def two_packed_outputs(first: OutputAnchor, second: OutputAnchor, query: Any) -> Any:
    """One tensor can't be a piece of two packed groups: a copy stands between the two.

    Groups that take the same tensor apart have nothing between them: then what the later one reads
    is copied. (GE leaves those alone.)
    """
    at: Anchor | None = _between(first, second, query)
    if at is None:
        late = max((first, second), key=lambda output: query.listed(output.node))
        at = next((port for port in late.node.inputs if query.holds(port)), late)
    return query.conflict(code="PIECE_OF_TWO_GROUPS", isolate=at)


def two_splits(first: OutputAnchor, second: OutputAnchor, query: Any) -> Any:
    """A piece of a task-free split can't be cut again where it lies.

    Two splits may take the same tensor apart: their pieces stay where they are.
    """
    at = _between(first, second, query)
    if at is None:
        return query.no_conflict()
    return query.conflict(code="PIECE_OF_TWO_SPLITS", isolate=at)


def _between(first: OutputAnchor, second: OutputAnchor, query: Any) -> OutputAnchor | None:
    """The output of the one group that the other group is fed by, if it is.

    (GE expects every input to be connected, and gives up where an optional one is left out.)
    """
    return _feeding(first.node, second.node, query) or _feeding(second.node, first.node, query)


def _feeding(upper: Node, lower: Node, query: Any) -> OutputAnchor | None:
    for port in lower.inputs:
        found = _fed_by(upper, port, query) if query.holds(port) else None
        if found is not None:
            return found
    return None
