"""Accesses of two memories with their moments and places, and what goes wrong between them."""

from __future__ import annotations

from typing import NamedTuple

from ge_core.analysis.accesses import Access
from ge_core.analysis.timeline import Key


class TimedAccess(NamedTuple):
    """An access with its moment and its place.

    Attributes:
        key, phase: when; at one moment everybody reads before anybody writes.
        side: of which of two memories: 0 or 1.
        low, high: which bytes, `high` not included.
    """

    key: Key
    phase: int
    side: int
    low: int
    high: int
    access: Access


class AccessConflict(NamedTuple):
    """An access that would read what it must not, or that can't be done on one memory.

    Attributes:
        reader: who would read something else; `side` says of which memory.
        writer: whose bytes it would find; None where nobody has written to its memory yet.
        at_once: the two are one node, which would overwrite what it reads, or twice.
    """

    reader: Access
    writer: Access | None
    side: int
    at_once: bool = False


def moment(timed: TimedAccess) -> tuple[Key, int]:
    """What accesses are sorted by."""
    return timed.key, timed.phase
