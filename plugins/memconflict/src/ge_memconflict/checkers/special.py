"""Memory of special kinds: a tensor lies in one of them, or in the device's own."""

from __future__ import annotations

from typing import Any

from ge_core.api import Anchor, InputAnchor, OutputAnchor, special_memory


def packed_and_special(packed: Anchor, special: Anchor, query: Any) -> Any:
    """A packed group in ordinary memory shares no tensor with special memory.

    The copy stands in the packed group's way, or in the other's where the group hands the memory
    on. A group that asks for special memory itself is none of this.
    """
    if special_memory(packed) is not None:
        return query.no_conflict()
    hands_on = isinstance(packed, InputAnchor) and query.results_here(packed.node)
    return query.conflict(code="PACKED_IN_SPECIAL_MEMORY", isolate=special if hands_on else packed)


def two_special_inputs(first: InputAnchor, second: InputAnchor, query: Any) -> Any:
    """Two readers want one tensor in different memories: the earlier one gets a copy.

    But not where it hands the memory on.
    """
    if special_memory(first) == special_memory(second):
        return query.no_conflict()
    early, late = _in_order(first, second, query)
    at = late if query.results_here(early.node) else early
    return query.conflict(code="TWO_SPECIAL_INPUTS", isolate=at)


def special_input_and_output(reader: InputAnchor, made: OutputAnchor, query: Any) -> Any:
    """A tensor is made in one memory and read in another."""
    if special_memory(reader) == special_memory(made):
        return query.no_conflict()
    return query.conflict(code="SPECIAL_INPUT_AND_OUTPUT", isolate=made)


def two_special_outputs(first: OutputAnchor, second: OutputAnchor, query: Any) -> Any:
    """One tensor is made in one memory, and handed on in another: the earlier one is copied."""
    if special_memory(first) == special_memory(second):
        return query.no_conflict()
    return query.conflict(code="TWO_SPECIAL_OUTPUTS", isolate=_in_order(first, second, query)[0])


def _in_order(first: Any, second: Any, query: Any) -> tuple[Any, Any]:
    if query.listed(second.node) < query.listed(first.node):
        return second, first
    return first, second
