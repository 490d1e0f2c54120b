"""`IntervalMap`: which value each byte address of a pool holds.

The map covers every address from 0 upwards with pieces. A write cuts at most two pieces and forgets
those that it covers: O(log n) on average, plus the pieces forgotten, each of which some earlier
write has made.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final, Generic, TypeVar

V = TypeVar("V")

_CHUNK: Final = 256
"""Pieces per chunk when a chunk is cut: inserting moves at most twice as many list entries."""

Piece = tuple[int, int | None, V]


class IntervalMap(Generic[V]):
    """A value per address; neighbours with one value are not joined.

    Args:
        default: what every address holds at first.
    """

    __slots__ = ("_firsts", "_journals", "_starts", "_values", "steps")

    def __init__(self, default: V) -> None:
        self._starts: list[list[int]] = [[0]]
        self._values: list[list[V]] = [[default]]
        self._firsts: list[int] = [0]
        self._journals: list[list[tuple[int, int, list[tuple[int, int, V]]]]] = []
        self.steps = 0
        """Pieces made and forgotten so far: what the tests bound instead of seconds."""

    def at(self, address: int) -> tuple[int, int | None, V]:
        """The piece around an address: start, end (None: without end) and value."""
        chunk = bisect_right(self._firsts, address) - 1
        starts = self._starts[chunk]
        place = bisect_right(starts, address) - 1
        return starts[place], self._end(chunk, place), self._values[chunk][place]

    def pieces(self, start: int, end: int) -> list[tuple[int, int, V]]:
        """The pieces of [start, end), cut to it, in order."""
        if start >= end:
            return []
        chunk = bisect_right(self._firsts, start) - 1
        place = bisect_right(self._starts[chunk], start) - 1
        found: list[tuple[int, int, V]] = []
        low = start
        while True:
            high = self._end(chunk, place)
            value = self._values[chunk][place]
            if high is None or high >= end:
                found.append((low, end, value))
                return found
            found.append((low, high, value))
            low = high
            place += 1
            if place == len(self._starts[chunk]):
                chunk, place = chunk + 1, 0

    def assign(self, start: int, end: int, value: V) -> None:
        """Give [start, end) one value."""
        if start >= end:
            return
        if self._journals:
            self._journals[-1].append((start, end, self.pieces(start, end)))
        self._put(start, end, value)

    def _put(self, start: int, end: int, value: V) -> None:
        chunk = bisect_right(self._firsts, start) - 1
        starts = self._starts[chunk]
        place = bisect_right(starts, start) - 1
        if starts[place] == start and self._end(chunk, place) == end:
            self._values[chunk][place] = value
            return
        self._cut(end)
        self._cut(start)
        chunk = bisect_right(self._firsts, start) - 1
        place = bisect_left(self._starts[chunk], start)
        self._values[chunk][place] = value
        self._forget(chunk, place + 1, end)

    def _end(self, chunk: int, place: int) -> int | None:
        starts = self._starts[chunk]
        if place + 1 < len(starts):
            return starts[place + 1]
        return self._firsts[chunk + 1] if chunk + 1 < len(self._firsts) else None

    def _cut(self, address: int) -> None:
        """Let a piece begin at the address."""
        chunk = bisect_right(self._firsts, address) - 1
        starts, values = self._starts[chunk], self._values[chunk]
        place = bisect_right(starts, address) - 1
        if starts[place] == address:
            return
        self.steps += 1
        starts.insert(place + 1, address)
        values.insert(place + 1, values[place])
        if len(starts) > 2 * _CHUNK:
            self._starts[chunk : chunk + 1] = [starts[:_CHUNK], starts[_CHUNK:]]
            self._values[chunk : chunk + 1] = [values[:_CHUNK], values[_CHUNK:]]
            self._firsts.insert(chunk + 1, starts[_CHUNK])

    def _forget(self, chunk: int, place: int, end: int) -> None:
        """Drop the pieces from a place on that begin before `end`."""
        while chunk < len(self._starts):
            starts = self._starts[chunk]
            stop = bisect_left(starts, end, place)
            if stop > place:
                self.steps += stop - place
                del starts[place:stop]
                del self._values[chunk][place:stop]
            if starts and place < len(starts):
                self._firsts[chunk] = starts[0]
                return
            if starts:
                chunk, place = chunk + 1, 0
                continue
            del self._starts[chunk], self._values[chunk], self._firsts[chunk]
            place = 0

    # ---- forks ---------------------------------------------------------------------------------

    def fork(self) -> None:
        """From here on remember what is overwritten, until `rollback`."""
        self._journals.append([])

    def rollback(self) -> list[tuple[int, int, list[tuple[int, int, V]]]]:
        """Undo every write since the last `fork`.

        Returns:
            (start, end, pieces) of the ranges that had been written, disjoint and in order, with
            the pieces that they held just before the rollback.
        """
        journal = self._journals.pop()
        written = [(low, high, self.pieces(low, high)) for low, high in _union(journal)]
        for _, _, old in reversed(journal):
            for low, high, value in old:
                self._put(low, high, value)
        return written


def _union(journal: list[tuple[int, int, list[tuple[int, int, V]]]]) -> list[tuple[int, int]]:
    """The written ranges, joined where they touch."""
    found: list[tuple[int, int]] = []
    for low, high in sorted((low, high) for low, high, _ in journal):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found
