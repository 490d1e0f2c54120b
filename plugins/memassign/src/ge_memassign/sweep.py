"""A memory allocator run over time: each cluster takes the smallest hole that fits when it is born.

O(n log n) apart from list insertions, whatever the number of conflicts. Clusters are taken as solid
rectangles from their first to their last access. Running time backwards gives a second answer.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort

from ge_memassign.pools import FREE, Pool


def best_fit(pool: Pool, *, backwards: bool = False) -> list[int] | None:
    """Offsets by number, None where fixed places or memory of the caller's ask for more."""
    if pool.fixed or pool.owned:
        return None
    sizes = pool.sizes
    lives = [
        (-death, -birth) if backwards else (birth, death)
        for birth, death in zip(pool.birth, pool.death, strict=True)
    ]
    order = sorted(range(len(lives)), key=lambda at: (lives[at][0], -sizes[at], lives[at][1], at))
    holes = _Holes(pool.floor)
    offsets = [FREE] * len(lives)
    ends: list[tuple[int, int, int]] = []
    for number in order:
        begin, end = lives[number]
        while ends and ends[0][0] < begin:
            _, start, size = heapq.heappop(ends)
            holes.give(start, size)
        start = holes.take(sizes[number], pool.aligns[number])
        offsets[number] = start
        heapq.heappush(ends, (end, start, sizes[number]))
    return offsets


class _Holes:
    """Free bytes below the top, by size and by address."""

    def __init__(self, floor: int) -> None:
        self.top = floor
        self._by_size: list[tuple[int, int]] = []
        self._ends: dict[int, int] = {}
        self._starts: dict[int, int] = {}

    def take(self, size: int, align: int) -> int:
        """Bytes of the smallest hole that fits, else of the top."""
        at = bisect_left(self._by_size, (size, -1))
        while at < len(self._by_size):
            length, start = self._by_size[at]
            offset = -(-start // align) * align
            if offset + size <= start + length:
                self._remove(start, length)
                self._add(start, offset - start)
                self._add(offset + size, start + length - offset - size)
                return offset
            at += 1
        start = self._starts.get(self.top, self.top)
        offset = -(-start // align) * align
        if start != self.top:
            self._remove(start, self.top - start)
        self._add(start, offset - start)
        self.top = offset + size
        return offset

    def give(self, start: int, size: int) -> None:
        """Take bytes back, and join them with the holes beside them."""
        end = start + size
        before = self._starts.get(start)
        if before is not None:
            self._remove(before, start - before)
            start = before
        after = self._ends.get(end)
        if after is not None:
            self._remove(end, after - end)
            end = after
        self._add(start, end - start)

    def _add(self, start: int, size: int) -> None:
        if size:
            insort(self._by_size, (size, start))
            self._ends[start] = start + size
            self._starts[start + size] = start

    def _remove(self, start: int, size: int) -> None:
        del self._by_size[bisect_left(self._by_size, (size, start))]
        del self._ends[start]
        del self._starts[start + size]
