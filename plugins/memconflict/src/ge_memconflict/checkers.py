"""The layout rules: GE's pair table, as far as it concerns user, fixed and packed memory.

Each rule says when two anchors of one memory clash, and where a copy would have to stand. Checkers
read the edges as they are.
"""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import ASSIGN_LIKE, InputAnchor, OutputAnchor
from ge_memconflict.anchor_types import (
    CONTINUOUS_INPUT,
    CONTINUOUS_OUTPUT,
    IMMUTABLE_ADDRESS_OUTPUT,
    NOPADDING_CONTINUOUS_INPUT,
    NOPADDING_CONTINUOUS_OUTPUT,
    USER_MEMORY_INPUT,
    USER_MEMORY_OUTPUT,
    Anchor,
)

_UNKNOWN_SHAPE: Final = ("_graph_unknown_flag", "_dynamic_shape_partitioned")
_REASSIGNED: Final = frozenset({"Variable", "VariableV2", "RefData"})


def fixed_and_user_output(fixed: OutputAnchor, result: InputAnchor, query: Any) -> Any:
    """A constant can't lie in the caller's buffer, where shapes are known and buffers are bound."""
    if any(query.root.attrs.get(mark) for mark in _UNKNOWN_SHAPE):
        return query.no_conflict()
    if fixed.node.op in _REASSIGNED:
        return query.no_conflict()
    return query.conflict(code="FIXED_ADDRESS_TO_USER_OUTPUT", isolate=result)


def two_packed_inputs(first: InputAnchor, second: InputAnchor, query: Any) -> Any:
    """One tensor can't lie in two packed groups."""
    return query.conflict(code="IN_TWO_PACKED_GROUPS", isolate=second)


def two_joins(first: InputAnchor, second: InputAnchor, query: Any) -> Any:
    """One tensor lies in two task-free joins only if one's operands are a run of the other's."""
    ones = [query.producer(anchor) for anchor in first.node.inputs]
    others = [query.producer(anchor) for anchor in second.node.inputs]
    if _is_run(ones, others) or _is_run(others, ones):
        return query.no_conflict()
    return query.conflict(code="IN_TWO_JOINS", isolate=second)


def _is_run(short: list[Any], long: list[Any]) -> bool:
    width = len(short)
    return any(long[at : at + width] == short for at in range(len(long) - width + 1))


def two_packed_outputs(first: OutputAnchor, second: OutputAnchor, query: Any) -> Any:
    """One tensor can't be a piece of two packed groups."""
    return query.conflict(code="PIECE_OF_TWO_GROUPS", isolate=first)


def packed_input_and_output(packed: InputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """Packed outputs feed packed inputs only as one aligned run."""
    ones = list(piece.node.outputs)
    others = [query.producer(anchor) for anchor in packed.node.inputs]
    if _aligned(ones, others):
        return query.no_conflict()
    return query.conflict(code="GROUPS_NOT_ALIGNED", isolate=piece)


def _aligned(ones: list[Any], others: list[Any]) -> bool:
    """Whether two lists agree where they overlap, and one of them is used up there."""
    meeting = next(
        ((i, j) for i, one in enumerate(ones) for j, other in enumerate(others) if one is other),
        None,
    )
    if meeting is None or (meeting[0] and meeting[1]):
        return False
    i, j = meeting
    length = min(len(ones) - i, len(others) - j)
    if any(ones[i + k] is not others[j + k] for k in range(length)):
        return False
    left = ones[:i] + ones[i + length :]
    foreign = others[:j] + others[j + length :]
    return not any(a is b for a in left for b in others) and not any(
        a is b for a in foreign for b in ones
    )


def fixed_and_packed_output(fixed: OutputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """A constant or variable can't be cut where it lies."""
    inputs = piece.node.inputs
    whole: Anchor = inputs[0] if inputs else piece
    return query.conflict(code="FIXED_ADDRESS_CUT", isolate=_assigned_input(piece, query) or whole)


def fixed_and_join(fixed: OutputAnchor, operand: InputAnchor, query: Any) -> Any:
    """A constant or variable can't lie among a join's other operands."""
    if _one_producer(operand, query):
        return query.no_conflict()
    return query.conflict(code="FIXED_ADDRESS_IN_JOIN", isolate=operand)


def user_input_and_packed(given: OutputAnchor, packed: Anchor, query: Any) -> Any:
    """The caller's input can't lie in a packed group."""
    return query.conflict(code="USER_INPUT_PACKED", isolate=_assigned_input(packed, query) or given)


def user_input_and_join(given: OutputAnchor, operand: InputAnchor, query: Any) -> Any:
    """The caller's input can't lie among a join's other operands."""
    if _one_producer(operand, query):
        return query.no_conflict()
    return user_input_and_packed(given, operand, query)


def user_input_and_split(given: OutputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """The caller's input is cut where it lies unless only its first address can be bound late."""
    offline = query.option("ge.buildGraphMode") == "offline"
    if not offline and not query.root.attrs.get("_single_op_scene"):
        return query.no_conflict()
    return user_input_and_packed(given, piece, query)


def user_output_and_packed(result: InputAnchor, packed: InputAnchor, query: Any) -> Any:
    """A packed group lies in the caller's output only where that is the group's own result."""
    if result.source is not None and result.source.node is packed.node:
        return query.no_conflict()
    return query.conflict(code="USER_OUTPUT_PACKED", isolate=result)


def join_and_split(operand: InputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """A task-free split takes a task-free join apart only as its direct reader."""
    whole = piece.node.inputs[0].source if piece.node.inputs else None
    if whole is not None and whole.node is operand.node and whole.index == 0:
        return query.no_conflict()
    return query.conflict(code="JOIN_MEETS_SPLIT", isolate=operand)


def _one_producer(operand: InputAnchor, query: Any) -> bool:
    """Whether all operands of a join are one and the same tensor."""
    return len({query.producer(anchor) for anchor in operand.node.inputs}) == 1


def _assigned_input(anchor: Anchor, query: Any) -> InputAnchor | None:
    """The constrained node's input that a store feeds: the copy must leave the variable updated."""
    members = set(query.members())
    for port in anchor.node.inputs:
        source = port.source
        if source is not None and source.node.op in ASSIGN_LIKE and port in members:
            return port
    return None


def register_checkers(checkers: Any) -> None:
    """Declare the rules."""
    ui, uo, fixed = USER_MEMORY_INPUT, USER_MEMORY_OUTPUT, IMMUTABLE_ADDRESS_OUTPUT
    ci, co = CONTINUOUS_INPUT, CONTINUOUS_OUTPUT
    ni, no = NOPADDING_CONTINUOUS_INPUT, NOPADDING_CONTINUOUS_OUTPUT
    checkers.never(uo, ui)
    checkers.never(uo, uo)
    checkers.always(uo, co, code="USER_OUTPUT_PACKED")
    checkers.always(uo, no, code="USER_OUTPUT_PACKED")
    checkers.always(fixed, ci, code="FIXED_ADDRESS_PACKED")
    checkers.always(ci, no, code="PACKED_AND_UNPADDED")
    checkers.always(co, ni, code="PACKED_AND_UNPADDED")
    for one, other, function, code in (
        (fixed, uo, fixed_and_user_output, "FIXED_ADDRESS_TO_USER_OUTPUT"),
        (ci, ci, two_packed_inputs, "IN_TWO_PACKED_GROUPS"),
        (ci, ni, two_packed_inputs, "IN_TWO_PACKED_GROUPS"),
        (ci, co, packed_input_and_output, "GROUPS_NOT_ALIGNED"),
        (co, co, two_packed_outputs, "PIECE_OF_TWO_GROUPS"),
        (co, no, two_packed_outputs, "PIECE_OF_TWO_GROUPS"),
        (no, no, two_packed_outputs, "PIECE_OF_TWO_GROUPS"),
        (fixed, co, fixed_and_packed_output, "FIXED_ADDRESS_CUT"),
        (fixed, no, fixed_and_packed_output, "FIXED_ADDRESS_CUT"),
        (fixed, ni, fixed_and_join, "FIXED_ADDRESS_IN_JOIN"),
        (ni, ni, two_joins, "IN_TWO_JOINS"),
        (ni, no, join_and_split, "JOIN_MEETS_SPLIT"),
        (ui, ci, user_input_and_packed, "USER_INPUT_PACKED"),
        (ui, co, user_input_and_packed, "USER_INPUT_PACKED"),
        (ui, ni, user_input_and_join, "USER_INPUT_PACKED"),
        (ui, no, user_input_and_split, "USER_INPUT_PACKED"),
        (uo, ci, user_output_and_packed, "USER_OUTPUT_PACKED"),
        (uo, ni, user_output_and_packed, "USER_OUTPUT_PACKED"),
    ):
        checkers.check(one, other, function, codes=(code,))
