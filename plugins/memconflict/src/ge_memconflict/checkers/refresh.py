"""Ops that can't be told new addresses, and memory whose address changes between runs."""

from __future__ import annotations

from typing import Any

from ge_core.api import Anchor, InputAnchor, OutputAnchor
from ge_memconflict.addresses import addresses_move, is_fixed
from ge_memconflict.checkers._sides import assigned_input


def fixed_reader(reader: InputAnchor, other: Anchor, query: Any) -> Any:
    """What an op that can't follow reads lies in memory of its own, where addresses move.

    Of two such readers the later one gets the copy.
    """
    stuck = [
        anchor
        for anchor in (reader, other)
        if isinstance(anchor, InputAnchor) and is_fixed(anchor, query)
    ]
    if not stuck or not addresses_move(reader, other, query):
        return query.no_conflict()
    late = next((anchor for anchor in stuck if anchor is not query.earlier), stuck[0])
    return query.conflict(code="READ_AT_A_FIXED_ADDRESS", isolate=late)


def fixed_reader_and_writer(reader: InputAnchor, writer: OutputAnchor, query: Any) -> Any:
    """Of a reader and a writer that can't follow, the reader gets the copy."""
    return (
        fixed_reader(reader, writer, query)
        if is_fixed(reader, query)
        else fixed_writer(writer, reader, query)
    )


def fixed_writer(writer: OutputAnchor, other: Anchor, query: Any) -> Any:
    """What an op that can't follow makes lies in memory of its own, where addresses move.

    Of two such writers the earlier one's value is copied.
    """
    stuck = [
        anchor
        for anchor in (writer, other)
        if isinstance(anchor, OutputAnchor) and is_fixed(anchor, query)
    ]
    if not stuck or not addresses_move(writer, other, query):
        return query.no_conflict()
    early = next((anchor for anchor in stuck if anchor is query.earlier), stuck[0])
    return query.conflict(code="WRITTEN_AT_A_FIXED_ADDRESS", isolate=early)


def user_input_and_fixed_reader(given: OutputAnchor, reader: InputAnchor, query: Any) -> Any:
    """The caller's input may lie elsewhere in each run."""
    if not is_fixed(reader, query):
        return query.no_conflict()
    return query.conflict(code="USER_INPUT_READ_AT_A_FIXED_ADDRESS", isolate=reader)


def user_input_and_fixed_writer(given: OutputAnchor, writer: OutputAnchor, query: Any) -> Any:
    """The caller's input may lie elsewhere in each run."""
    if not is_fixed(writer, query):
        return query.no_conflict()
    at: Anchor | None = assigned_input(writer, query)
    if at is None:
        at = writer if addresses_move(given, writer, query) else given
    return query.conflict(code="USER_INPUT_WRITTEN_AT_A_FIXED_ADDRESS", isolate=at)


def user_output_and_fixed_reader(result: InputAnchor, reader: InputAnchor, query: Any) -> Any:
    """The caller's output may lie elsewhere in each run."""
    if not is_fixed(reader, query):
        return query.no_conflict()
    at = reader if addresses_move(result, reader, query) else result
    return query.conflict(code="USER_OUTPUT_READ_AT_A_FIXED_ADDRESS", isolate=at)


def user_output_and_fixed_writer(result: InputAnchor, writer: OutputAnchor, query: Any) -> Any:
    """The caller's output may lie elsewhere in each run."""
    if not is_fixed(writer, query):
        return query.no_conflict()
    at: Anchor = writer if addresses_move(result, writer, query) else result
    return query.conflict(code="USER_OUTPUT_WRITTEN_AT_A_FIXED_ADDRESS", isolate=at)
