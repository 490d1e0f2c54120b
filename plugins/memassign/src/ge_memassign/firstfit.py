"""First fit: clusters in a given order, each at the lowest place that earlier ones leave."""

from __future__ import annotations

from collections.abc import Sequence

from ge_memassign.conflicts import Conflicts
from ge_memassign.pools import FREE, Pool


def first_fit(
    pool: Pool, conflicts: Conflicts, order: Sequence[int], ceiling: int | None = None
) -> list[int] | None:
    """Offsets by number; None as soon as something would reach above the ceiling.

    Clusters with fixed places and memory of the caller's go first, whatever the order says.
    """
    offsets = [FREE] * len(pool.clusters)
    special = pool.fixed + [at for at in pool.owned if at not in set(pool.fixed)]
    if special:
        done = set(special)
        order = [*special, *(at for at in order if at not in done)]
    sizes, aligns, plain, gaps = pool.sizes, pool.aligns, conflicts.plain, conflicts.gaps
    floor, owned = pool.floor, pool.owned
    for number in order:
        size = sizes[number]
        taken = [(at, at + sizes[i]) for i in plain[number] if (at := offsets[i]) >= 0]
        fixed = pool.clusters[number].fixed if pool.fixed else None
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
                align = aligns[number]
                if offset % align:
                    # Neighbours with a smaller alignment: look again, step by step.
                    offset = _aligned(taken, floor, size, align)
        if ceiling is not None and offset + pool.clusters[number].size > ceiling:
            return None
        offsets[number] = offset
    return offsets


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
