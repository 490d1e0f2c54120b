"""First fit: clusters in a given order, each at the lowest place that earlier ones leave."""

from __future__ import annotations

from collections.abc import Sequence

from ge_memassign.conflicts import Conflicts
from ge_memassign.pools import FREE, Pool


class FirstFit:
    """Places clusters in orders that are given.

    Clusters with fixed places and memory of the caller's go first, whatever the order says.

    Attributes:
        work: pairs looked at so far.
        attempts: orders placed so far.
    """

    def __init__(self, pool: Pool, conflicts: Conflicts) -> None:
        self.pool = pool
        self.conflicts = conflicts
        self.work = 0
        self.attempts = 0
        self._cost = [
            1 + len(plain) + len(gaps)
            for plain, gaps in zip(conflicts.plain, conflicts.gaps, strict=True)
        ]
        fixed = set(pool.fixed)
        self._special = [*pool.fixed, *(at for at in pool.owned if at not in fixed)]
        self._blockers: dict[int, frozenset[int]] = {}

    def is_spent(self, work: int, attempts: int) -> bool:
        """Whether so many pairs, or so many orders, have been looked at."""
        return self.work >= work or self.attempts >= attempts

    def blockers(self, number: int) -> frozenset[int]:
        """The clusters that a cluster can't share bytes with."""
        found = self._blockers.get(number)
        if found is None:
            gaps = (gap[0] for gap in self.conflicts.gaps[number])
            found = frozenset((*self.conflicts.plain[number], *gaps))
            self._blockers[number] = found
        return found

    def place(
        self, order: Sequence[int], ceiling: int | None = None
    ) -> tuple[list[int] | None, int]:
        """Offsets by number; or None and the place in the order of what reaches above a ceiling."""
        self.attempts += 1
        offsets = [FREE] * len(self.pool.clusters)
        if self._special:
            # The caller's order is worked on in place: what is placed already is passed over.
            self._run(self._special, offsets, None)
        failed = self._run(order, offsets, ceiling)
        return (offsets, len(order)) if failed is None else (None, failed)

    def _run(self, order: Sequence[int], offsets: list[int], ceiling: int | None) -> int | None:
        pool, cost = self.pool, self._cost
        plain, gaps = self.conflicts.plain, self.conflicts.gaps
        sizes, aligns, clusters = pool.sizes, pool.aligns, pool.clusters
        floor, owned = pool.floor, pool.owned
        work = 0
        for at, number in enumerate(order):
            if offsets[number] >= 0:
                continue
            work += cost[number]
            size = sizes[number]
            taken = [(o, o + sizes[i]) for i in plain[number] if (o := offsets[i]) >= 0]
            fixed = clusters[number].fixed
            if fixed is not None:
                offset = fixed
            elif gaps[number] or owned:
                offset = _lowest(pool, number, taken, gaps[number], offsets)
            else:
                offset = floor
                if taken:
                    taken.sort()
                    for low, high in taken:
                        if low - offset >= size:
                            break
                        if high > offset:
                            offset = high
                    if offset % aligns[number]:
                        # Neighbours with a smaller alignment: look again, step by step.
                        offset = _aligned(taken, floor, size, aligns[number])
            if ceiling is not None and offset + clusters[number].size > ceiling:
                self.work += work
                return at
            offsets[number] = offset
        self.work += work
        return None


def _aligned(taken: Sequence[tuple[int, int]], floor: int, size: int, align: int) -> int:
    offset = -(-floor // align) * align
    for low, high in taken:
        if low - offset >= size:
            break
        if high > offset:
            offset = -(-high // align) * align
    return offset


def _lowest(
    pool: Pool,
    number: int,
    taken: Sequence[tuple[int, int]],
    gaps: Sequence[tuple[int, int, int]],
    offsets: Sequence[int],
) -> int:
    """The lowest start outside all open intervals."""
    size, align = pool.sizes[number], pool.aligns[number]
    forbidden = [(low - size, high) for low, high in taken]
    forbidden += [(at + low, at + high) for i, low, high in gaps if (at := offsets[i]) >= 0]
    if pool.owned:
        forbidden += _around_owned(pool, number, offsets)
    forbidden.sort()
    offset = -(-pool.floor // align) * align
    for low, high in forbidden:
        if low >= offset:
            break
        if high > offset:
            offset = -(-high // align) * align
    return offset


def _around_owned(pool: Pool, number: int, offsets: Sequence[int]) -> list[tuple[int, int]]:
    """What touches memory of the caller's lies wholly inside it; two such never share bytes."""
    cluster = pool.clusters[number]
    found: list[tuple[int, int]] = []
    for at in pool.owned:
        start = offsets[at]
        if start < 0 or at == number:
            continue
        end = start + pool.clusters[at].size
        if cluster.owned or cluster.size > pool.clusters[at].size:
            found.append((start - cluster.size, end))
        else:
            found += [(start - cluster.size, start), (end - cluster.size, end)]
    return found
