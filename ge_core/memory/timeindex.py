"""Intervals of time that can be asked "who overlaps this one?".

An interval is stored once, at the level whose step is at least its length, in the bucket of its
start; a question looks at one bucket more than it spans per level. No balancing, no deletion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class TimeIndex:
    """A bag of closed intervals with a value each."""

    __slots__ = ("_levels",)

    def __init__(self) -> None:
        self._levels: dict[int, dict[int, list[tuple[int, int, Any]]]] = {}

    def add(self, first: int, last: int, value: Any) -> None:
        """Store [first, last]."""
        level = (last - first).bit_length()
        buckets = self._levels.setdefault(level, {})
        buckets.setdefault(first >> level, []).append((first, last, value))

    def overlapping(self, first: int, last: int) -> Iterator[Any]:
        """The values of the intervals that share a position with [first, last]."""
        for level, buckets in self._levels.items():
            low, high = (first >> level) - 1, last >> level
            if high - low < len(buckets):
                found = [buckets[at] for at in range(low, high + 1) if at in buckets]
            else:
                found = [entries for at, entries in buckets.items() if low <= at <= high]
            for entries in found:
                for begin, end, value in entries:
                    if begin <= last and end >= first:
                        yield value
