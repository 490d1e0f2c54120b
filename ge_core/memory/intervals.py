"""Ranges of bytes, asked which of them have any of some bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator


class Ranges:
    """Ranges, each with a number: those of about one size lie in one list.

    Args:
        items: (low, high, number); empty ranges have no bytes and are never found.
    """

    __slots__ = ("_lists",)

    def __init__(self, items: Iterable[tuple[int, int, int]]) -> None:
        self._lists: dict[int, list[tuple[int, int, int]]] = {}
        for item in items:
            if item[1] > item[0]:
                self._lists.setdefault((item[1] - item[0]).bit_length(), []).append(item)
        for found in self._lists.values():
            found.sort()

    def over(self, low: int, high: int) -> Iterator[int]:
        """The numbers of the ranges that have any of the bytes [low, high)."""
        for bits, found in self._lists.items():
            at = bisect_left(found, (low - (1 << bits) + 1,))
            while at < len(found) and found[at][0] < high:
                if found[at][1] > low:
                    yield found[at][2]
                at += 1
