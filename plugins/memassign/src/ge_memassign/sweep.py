"""A memory allocator run over time: each cluster takes the smallest hole that fits when it is born.

O(n log n) apart from list insertions, whatever the number of conflicts. Clusters are taken as solid
rectangles from their first to their last access. Running time backwards gives a second answer.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Sequence

from ge_core.api import Cluster
from ge_memassign.pools import FREE, Pool


def best_fit(pool: Pool, *, backwards: bool = False) -> list[int] | None:
    """Offsets by number, None where fixed places or memory of the caller's ask for more."""
    if pool.fixed or pool.owned:
        return None
    offsets = [FREE] * len(pool.clusters)
    times = list(zip(pool.birth, pool.death, strict=True))
    _run(pool, range(len(times)), times, pool.floor, offsets, backwards)
    return offsets


def best_fit_by_stream(pool: Pool) -> list[int] | None:
    """Each stream's clusters for themselves, exactly; those of several streams as a last group.

    The better answer where streams hardly wait for one another: then almost everything of one
    stream stands in the way of everything of the others. None where there is one stream.
    """
    if pool.problem.order is None or pool.fixed or pool.owned:
        return None
    offsets = [FREE] * len(pool.clusters)
    times = list(zip(pool.birth, pool.death, strict=True))
    groups: dict[tuple[int, int], list[int]] = {}
    for number, cluster in enumerate(pool.clusters):
        lane = _lane(cluster)
        if lane is None:
            groups.setdefault((-1, -1), []).append(number)
            continue
        scope, stream, times[number] = lane
        groups.setdefault((scope, stream), []).append(number)
    top = pool.floor
    for key in sorted(groups):
        top = _run(pool, groups[key], times, top, offsets, False)
    return offsets


def _lane(cluster: Cluster) -> tuple[int, int, tuple[int, int]] | None:
    """The scope and stream on which all accesses to a cluster lie, and when on that stream."""
    if len(cluster.pieces) > 1:
        return None
    clock = cluster.pieces[0][1].clock
    if clock is None or not clock.sure:
        return None
    streams = [stream for stream, position in enumerate(clock.last) if position]
    if len(streams) != 1:
        return None
    stream = streams[0]
    return clock.scope, stream, (clock.sure[stream][0], clock.last[stream])


def _run(
    pool: Pool,
    numbers: Sequence[int],
    times: Sequence[tuple[int, int]],
    floor: int,
    offsets: list[int],
    backwards: bool,
) -> int:
    """Place some clusters above the floor; returns how far up they reach, aligned."""
    sizes = pool.sizes
    lives = {at: (-times[at][1], -times[at][0]) if backwards else times[at] for at in numbers}
    order = sorted(numbers, key=lambda at: (lives[at][0], -sizes[at], lives[at][1], at))
    holes = _Holes(floor)
    ends: list[tuple[int, int, int]] = []
    for number in order:
        begin, end = lives[number]
        while ends and ends[0][0] < begin:
            _, start, size = heapq.heappop(ends)
            holes.give(start, size)
        start = holes.take(sizes[number], pool.aligns[number])
        offsets[number] = start
        heapq.heappush(ends, (end, start, sizes[number]))
    return -(-holes.top // pool.align) * pool.align


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
