"""One pool of a problem in plain lists, the form that the planners here work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ge_core.api import Cluster, MemoryProblem, round_up

FREE: Final = -1
"""Stands for the offset of a cluster that has no place yet."""


class Pool:
    """The clusters of one pool, numbered from 0.

    Clusters that stand in everybody's way (in use for the whole run) need bytes that nobody else
    gets, so they are stacked at the bottom at once; the others are placed above `floor`.

    Attributes:
        clusters: those to place by search.
        grounded: those at the bottom, with their offsets.
        floor: where the search begins.
        bound: no placement takes less.
        sizes: bytes by number, rounded up to the alignment where that loses nothing.
        birth, death: positions by number.
    """

    def __init__(self, problem: MemoryProblem, name: str, clusters: Sequence[Cluster]) -> None:
        self.problem = problem
        self.name = name
        self.bound = problem.lower_bound(name)
        self.align = problem.align
        self.grounded: list[tuple[Cluster, int]] = []
        self.floor = 0
        self.clusters = self._ground(clusters)
        self.owned = [at for at, cluster in enumerate(self.clusters) if cluster.owned]
        self.fixed = [at for at, c in enumerate(self.clusters) if c.fixed is not None]
        self.birth = [cluster.birth for cluster in self.clusters]
        self.death = [cluster.death for cluster in self.clusters]
        self.aligns = [cluster.align for cluster in self.clusters]
        self.sizes = [self._room(cluster) for cluster in self.clusters]
        self.single = [len(cluster.pieces) == 1 for cluster in self.clusters]

    def _ground(self, clusters: Sequence[Cluster]) -> list[Cluster]:
        # A fixed place or borrowed memory below others would break the stack.
        if any(cluster.fixed is not None or cluster.owned for cluster in clusters):
            return list(clusters)
        start = min((cluster.birth for cluster in clusters), default=0)
        end = max((cluster.death for cluster in clusters), default=0)
        whole: list[Cluster] = []
        rest: list[Cluster] = []
        for cluster in clusters:
            (whole if self._stays(cluster, start, end) else rest).append(cluster)
        whole.sort(key=lambda cluster: (-cluster.align, cluster.index))
        for cluster in whole:
            offset = round_up(self.floor, cluster.align)
            self.grounded.append((cluster, offset))
            self.floor = offset + cluster.size
        self.floor = round_up(self.floor, self.align)
        return rest

    @staticmethod
    def _stays(cluster: Cluster, start: int, end: int) -> bool:
        """Whether no other cluster can share bytes with it."""
        if len(cluster.pieces) > 1:
            return False
        buffer = cluster.pieces[0][1]
        if buffer.first > start or buffer.last < end:
            return False
        # Of several streams: nothing passes before its writers, and nothing starts behind it.
        clock = buffer.clock
        return clock is None or (not any(clock.start) and max(clock.last) >= end)

    def _room(self, cluster: Cluster) -> int:
        """The size a cluster takes from others: its padding is of no use to aligned ones."""
        return round_up(cluster.size, cluster.align) if len(cluster.pieces) == 1 else cluster.size

    def peak(self, offsets: Sequence[int]) -> int:
        """Bytes of the pool with these offsets by number."""
        ends = (at + cluster.size for at, cluster in zip(offsets, self.clusters, strict=True))
        return round_up(max(ends, default=self.floor), self.align) if self.clusters else self.floor

    def write(self, offsets: Sequence[int], into: list[int]) -> None:
        """Put the offsets where the problem numbers its clusters."""
        for cluster, offset in self.grounded:
            into[cluster.index] = offset
        for cluster, offset in zip(self.clusters, offsets, strict=True):
            into[cluster.index] = offset
