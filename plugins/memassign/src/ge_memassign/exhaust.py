"""The optimum of small problems, by trying every placement that matters.

A placement in which nothing can fall is the first fit of its clusters in the order of their
offsets (Moffitt, "MiniMalloc", 2023, calls such solutions canonical), and some optimum is one. So
it is enough to choose, again and again, the next cluster among those whose lowest free place is not
below the last one. A branch ends where some cluster left can't stay below the best peak.
"""

from __future__ import annotations

from typing import Final

from ge_memassign.conflicts import Conflicts
from ge_memassign.pools import FREE, Pool

CLUSTERS: Final = 24
"""Problems with more clusters are left to other searches."""
NODES: Final = 20_000
"""Partial placements that may be looked at."""


def exhaust(pool: Pool, conflicts: Conflicts, best: list[int]) -> tuple[list[int], bool]:
    """An answer that is at least as good as `best`, and whether it is proved to be optimal.

    Only for clusters of one buffer that are bound to nothing: others need not be canonical.
    """
    if len(best) > CLUSTERS or pool.owned or pool.fixed or not all(pool.single):
        return best, False
    search = _Search(pool, conflicts, best)
    done = search.descend((pool.floor, -1), list(range(len(best))))
    return search.best, done


class _Search:
    def __init__(self, pool: Pool, conflicts: Conflicts, best: list[int]) -> None:
        self.pool = pool
        self.conflicts = conflicts
        self.best = best
        self.ceiling = pool.peak(best) - pool.align
        self._offsets = [FREE] * len(best)
        self._nodes = NODES

    def descend(self, last: tuple[int, int], left: list[int]) -> bool:
        """Whether everything below this partial placement has been seen or ruled out."""
        if not left:
            self.best = list(self._offsets)
            self.ceiling = self.pool.peak(self.best) - self.pool.align
            return True
        self._nodes -= 1
        if self._nodes < 0:
            return False
        places = [(self._lowest(number), number) for number in left]
        clusters = self.pool.clusters
        if any(
            max(offset, last[0]) + clusters[number].size > self.ceiling for offset, number in places
        ):
            return True
        whole = True
        for place in sorted(places):
            if place <= last:
                # Below the last one: another branch places it earlier.
                continue
            offset, number = place
            if offset + clusters[number].size > self.ceiling:
                # The ceiling has come down since the places were found.
                break
            self._offsets[number] = offset
            whole = self.descend(place, [other for other in left if other != number]) and whole
            self._offsets[number] = FREE
            if not whole:
                break
        return whole

    def _lowest(self, number: int) -> int:
        sizes, align = self.pool.sizes, self.pool.aligns[number]
        taken = sorted(
            (at, at + sizes[i])
            for i in self.conflicts.plain[number]
            if (at := self._offsets[i]) >= 0
        )
        offset = -(-self.pool.floor // align) * align
        for low, high in taken:
            if low - offset >= sizes[number]:
                break
            if high > offset:
                offset = -(-high // align) * align
        return offset
