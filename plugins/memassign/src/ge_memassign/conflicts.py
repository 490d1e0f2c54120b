"""Who stands in whose way, found once and used by every order that is tried.

For two clusters of one buffer each it is enough to know that they interfere. For others the
distances at which pieces would meet are kept: if j lies at o, cluster i can't start between o + low
and o + high.
"""

from __future__ import annotations

import heapq
from typing import TypeAlias

from ge_core.api import Buffer
from ge_memassign.pools import Pool

Gap: TypeAlias = tuple[int, int, int]
"""Number of the other cluster, low, high."""


class Conflicts:
    """The conflicts of one pool.

    Args:
        pool: the clusters.
        limit: of pairs of pieces.

    Attributes:
        plain: by number, the single-buffer clusters that a single-buffer cluster conflicts with.
        gaps: by number, conflicts in which a cluster of several pieces takes part.
        pairs: how many pairs of pieces are in use at the same time.
        complete: False where there are more than the limit; then nothing can be done with it.
    """

    def __init__(self, pool: Pool, limit: int) -> None:
        count = len(pool.clusters)
        self.plain: list[list[int]] = [[] for _ in range(count)]
        self.gaps: list[list[Gap]] = [[] for _ in range(count)]
        self.pairs = _count(pool)
        self.complete = self.pairs <= limit
        self._pool = pool
        if not self.complete:
            return
        self._sweep()
        if not all(pool.single):
            self.gaps = [_compressed(gaps) for gaps in self.gaps]

    def _sweep(self) -> None:
        pool = self._pool
        pieces: list[tuple[int, int, int, int, Buffer]] = []
        for number, cluster in enumerate(pool.clusters):
            for delta, buffer in cluster.pieces:
                pieces.append((buffer.first, buffer.last, number, delta, buffer))
        pieces.sort(key=lambda piece: piece[:4])
        ends: list[tuple[int, int]] = []
        active: dict[int, tuple[int, int, Buffer]] = {}
        exact = pool.problem.order is None
        interferes = pool.problem.interferes
        single, plain = pool.single, self.plain
        for at, (first, last, number, delta, buffer) in enumerate(pieces):
            while ends and ends[0][0] < first:
                del active[heapq.heappop(ends)[1]]
            mine = plain[number]
            alone = single[number]
            for other, distance, there in active.values():
                if other == number or not (exact or interferes(buffer, there)):
                    continue
                if alone and single[other]:
                    mine.append(other)
                    plain[other].append(number)
                else:
                    low = distance - delta
                    self.gaps[number].append((other, low - buffer.size, low + there.size))
                    self.gaps[other].append((number, -low - there.size, buffer.size - low))
            active[at] = (number, delta, buffer)
            heapq.heappush(ends, (last, at))


def _count(pool: Pool) -> int:
    """Pairs of pieces whose lives overlap: those that have begun before, less those that ended."""
    firsts = sorted(buffer.first for c in pool.clusters for _, buffer in c.pieces)
    lasts = sorted(buffer.last for c in pool.clusters for _, buffer in c.pieces)
    pairs = ended = 0
    for begun, first in enumerate(firsts):
        while lasts[ended] < first:
            ended += 1
        pairs += begun - ended
    return pairs


def _compressed(gaps: list[Gap]) -> list[Gap]:
    """Unite the open intervals of each other cluster where they overlap."""
    if len(gaps) < 2:
        return gaps
    found: list[Gap] = []
    for other, low, high in sorted(gaps):
        if found and found[-1][0] == other and low < found[-1][2]:
            found[-1] = (other, found[-1][1], max(high, found[-1][2]))
        else:
            found.append((other, low, high))
    return found
