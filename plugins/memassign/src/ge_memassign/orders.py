"""Orders in which first fit is tried: what is hard to place goes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ge_memassign.pools import Pool

Key: TypeAlias = Callable[[int], tuple[int, ...]]


def keys(pool: Pool) -> list[tuple[str, Key]]:
    """Sort keys by name, those that do best on the average first."""
    sizes, birth, death = pool.sizes, pool.birth, pool.death
    pressure = _pressure(pool)

    def life(at: int) -> int:
        return death[at] - birth[at] + 1

    return [
        ("size", lambda at: (-sizes[at], -life(at), birth[at])),
        ("area", lambda at: (-sizes[at] * life(at), birth[at])),
        ("life", lambda at: (-life(at), -sizes[at], birth[at])),
        ("breadth", lambda at: (-pressure[at], -sizes[at], birth[at])),
        ("birth", lambda at: (birth[at], -sizes[at], -life(at))),
        ("death", lambda at: (-death[at], -sizes[at], -life(at))),
    ]


def orders(pool: Pool) -> Iterator[tuple[str, list[int]]]:
    """The numbers of the clusters in the order of each key."""
    for name, key in keys(pool):
        yield name, in_order(pool, key)


def in_order(pool: Pool, key: Key) -> list[int]:
    """The numbers of the clusters by a key, then by number."""
    ranks = [(*key(at), at) for at in range(len(pool.sizes))]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def by_offset(offsets: list[int]) -> list[int]:
    """The numbers of the clusters, the lowest first."""
    return sorted(range(len(offsets)), key=lambda at: (offsets[at], at))


def _pressure(pool: Pool) -> list[int]:
    """For each cluster, the most bytes that are in use at one time of its life."""
    times: dict[int, int] = {}
    for birth, death, size in zip(pool.birth, pool.death, pool.sizes, strict=True):
        times[birth] = times.get(birth, 0) + size
        times[death + 1] = times.get(death + 1, 0) - size
    steps = sorted(times)
    place = {time: at for at, time in enumerate(steps)}
    level = 0
    levels: list[int] = []
    for time in steps:
        level += times[time]
        levels.append(level)
    table = _RangeMax(levels)
    return [
        table.ask(place[birth], place[death + 1])
        for birth, death in zip(pool.birth, pool.death, strict=True)
    ]


class _RangeMax:
    """The greatest value of any range, by tables of ranges of 1, 2, 4, ... values."""

    def __init__(self, values: list[int]) -> None:
        self._tables = [values]
        width = 1
        while 2 * width <= len(values):
            last = self._tables[-1]
            self._tables.append(list(map(max, last, last[width:])))
            width *= 2

    def ask(self, low: int, high: int) -> int:
        """The greatest of values low .. high - 1."""
        level = (high - low).bit_length() - 1
        table = self._tables[level]
        return max(table[low], table[high - (1 << level)])
