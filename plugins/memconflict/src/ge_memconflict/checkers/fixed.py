"""Constants and variables: memory whose address is given before the graph is laid out."""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import Anchor, InputAnchor, OutputAnchor, ref_of
from ge_memconflict.checkers._sides import assigned_input, entry_of, in_front_of, one_producer
from ge_memconflict.graphs import is_unknown

_REASSIGNED: Final = frozenset({"Variable", "VariableV2", "RefData"})


def fixed_and_user_output(fixed: OutputAnchor, result: InputAnchor, query: Any) -> Any:
    """A constant can't lie in the caller's buffer, where shapes are known and buffers are bound."""
    if is_unknown(query.root) or fixed.node.op in _REASSIGNED:
        return query.no_conflict()
    return query.conflict(code="FIXED_ADDRESS_TO_USER_OUTPUT", isolate=result)


def fixed_and_packed_output(fixed: OutputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """A constant or variable can't be cut where it lies: what is cut gets a copy."""
    at: Anchor = assigned_input(piece, query) or _cut_input(piece, query)
    return query.conflict(code="FIXED_ADDRESS_CUT", isolate=at)


def _cut_input(piece: OutputAnchor, query: Any) -> Anchor:
    """The input that a packed output is the memory of."""
    at = ref_of(piece, query.ops)
    inputs = piece.node.inputs
    return inputs[at] if at is not None and at < len(inputs) else entry_of(piece, query)


def fixed_and_join(fixed: OutputAnchor, operand: InputAnchor, query: Any) -> Any:
    """A constant or variable can't lie among a join's other operands."""
    if one_producer(operand, query):
        return query.no_conflict()
    return query.conflict(code="FIXED_ADDRESS_IN_JOIN", isolate=operand)


def fixed_and_special_output(fixed: OutputAnchor, special: OutputAnchor, query: Any) -> Any:
    """A constant or variable can't lie in memory of another kind than its own."""
    at = in_front_of(fixed, special, query)
    return query.conflict(code="FIXED_ADDRESS_IN_SPECIAL_MEMORY", isolate=at)
