"""User memory: what the caller hands in and gets back lies where the caller says."""

from __future__ import annotations

from typing import Any

from ge_core.api import Anchor, InputAnchor, OutputAnchor
from ge_memconflict.checkers._sides import in_front_of, one_producer


def user_input_and_packed(given: OutputAnchor, packed: Anchor, query: Any) -> Any:
    """The caller's input can't lie in a packed group."""
    at = in_front_of(given, packed, query)
    return query.conflict(code="USER_INPUT_PACKED", isolate=at)


def user_input_and_join(given: OutputAnchor, operand: InputAnchor, query: Any) -> Any:
    """The caller's input can't lie among a join's other operands."""
    if one_producer(operand, query):
        return query.no_conflict()
    at = in_front_of(given, operand, query)
    return query.conflict(code="USER_INPUT_IN_JOIN", isolate=at)


def user_input_and_split(given: OutputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """The caller's input is cut where it lies unless only its first address can be bound late.

    That is so in a graph built to be run elsewhere, of a single op, or of several kinds of device.
    """
    if not _binds_first_only(query, given):
        return query.no_conflict()
    at = in_front_of(given, piece, query)
    return query.conflict(code="USER_INPUT_CUT", isolate=at)


def _binds_first_only(query: Any, given: OutputAnchor) -> bool:
    if query.option("ge.buildGraphMode") == "offline" or query.option("ge.resourceConfigPath"):
        return True
    graphs = (query.root, given.node.graph)
    return any(graph is not None and graph.attrs.get("_single_op_scene") for graph in graphs)


def user_input_and_special_output(given: OutputAnchor, special: OutputAnchor, query: Any) -> Any:
    """The caller's input can't be trusted to lie in memory of a special kind."""
    at = in_front_of(given, special, query)
    return query.conflict(code="USER_INPUT_IN_SPECIAL_MEMORY", isolate=at)


def user_output_and_packed(result: InputAnchor, packed: InputAnchor, query: Any) -> Any:
    """A packed group lies in the caller's output only where that is the group's own result."""
    if result.source is not None and result.source.node is packed.node:
        return query.no_conflict()
    return query.conflict(code="USER_OUTPUT_PACKED", isolate=result)
