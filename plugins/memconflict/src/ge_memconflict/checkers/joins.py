"""Joins and splits without a task: operands and pieces that lie back to back in the whole."""

from __future__ import annotations

from typing import Any

from ge_core.api import InputAnchor, Node, OutputAnchor, is_free_join


def two_joins(first: InputAnchor, second: InputAnchor, query: Any) -> Any:
    """One tensor lies in two task-free joins only if one's operands are a run of the other's.

    A join that is a whole operand of another one is none of this: nothing is asked of it twice.
    (GE compares the first two joins of a tensor only, and so misses a third one that clashes, and
    those that read the tensor through different views.)
    """
    for operands in (_sources, _viewed):
        ones, others = operands(first.node, query), operands(second.node, query)
        tensor = ones[first.index]
        if tensor is None or tensor is not others[second.index]:
            continue
        if not _is_run(ones, others) and not _is_run(others, ones):
            places = [(query.listed(anchor.node), anchor.index) for anchor in (first, second)]
            late = first if places[0] > places[1] else second
            return query.conflict(code="IN_TWO_JOINS", isolate=late)
    return query.no_conflict()


def _sources(join: Node, query: Any) -> list[OutputAnchor | None]:
    """What a join reads: GE asks for no more."""
    return [port.source for port in join.inputs]


def _viewed(join: Node, query: Any) -> list[OutputAnchor | None]:
    """What a join is fed by, views looked through, but not other joins."""
    return [query.producer(port, lambda output: is_free_join(output.node)) for port in join.inputs]


def _is_run(short: list[Any], long: list[Any]) -> bool:
    width = len(short)
    return any(long[at : at + width] == short for at in range(len(long) - width + 1))


def join_and_split(operand: InputAnchor, piece: OutputAnchor, query: Any) -> Any:
    """A task-free split takes a task-free join apart only as its direct reader."""
    whole = piece.node.inputs[0].source if piece.node.inputs else None
    if whole is not None and whole.node is operand.node and whole.index == 0:
        return query.no_conflict()
    return query.conflict(code="JOIN_MEETS_SPLIT", isolate=operand)
