"""`MemoryProblem`: what an assigner sees, and all that it sees.

A *buffer* is a rectangle of bytes x life. A *cluster* is what must be placed as one: buffers at
fixed distances from its start. Buffers of one cluster never stand in each other's way. Two buffers
of one pool that interfere must not share bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from ge_core.errors import PlanError, near_matches
from ge_core.memory.order import Clock, StreamOrder
from ge_core.memory.plan import ARENA
from ge_core.memory.timeindex import TimeIndex

DEFAULT_ALIGN: Final = 64

OFFSET_BITS: Final = 63
"""Offsets are signed 64-bit numbers for whoever reads a plan."""


@dataclass(slots=True, eq=False)
class Buffer:
    """Bytes that are in use from their first write to their last access.

    Attributes:
        name: for messages.
        size: bytes, more than 0.
        first, last: positions of the first and the last access, both included. Where several
            streams run, a time outside which nothing interferes: necessary, not sufficient.
        clock: the exact order, where several streams run; None where `first` and `last` are exact.
    """

    name: str
    size: int
    first: int
    last: int
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if self.size <= 0 or self.last < self.first:
            raise PlanError(
                f"buffer {self.name!r} has size {self.size} and life [{self.first}, {self.last}]"
            )


Pieces = tuple[tuple[int, Buffer], ...]


@dataclass(slots=True, eq=False)
class Cluster:
    """Buffers at fixed distances, placed as one.

    Attributes:
        name: unique in the problem; that of its first tensor.
        pieces: (distance from the start in bytes, buffer); starts at distance 0.
        align: the start must be a multiple of this.
        pool: name of the address space.
        fixed: the only offset allowed, or None.
        owned: memory of the caller's: two such clusters never share bytes, and what shares bytes
            with one lies wholly inside it.
        index: place in `MemoryProblem.clusters`.
    """

    name: str
    pieces: Pieces
    align: int = DEFAULT_ALIGN
    pool: str = ARENA
    fixed: int | None = None
    owned: bool = False
    index: int = -1
    size: int = field(init=False)
    birth: int = field(init=False)
    death: int = field(init=False)

    def __post_init__(self) -> None:
        if not self.pieces or min(delta for delta, _ in self.pieces) != 0:
            raise PlanError(f"cluster {self.name!r} has no piece at its start")
        if self.align < 1 or (
            self.fixed is not None and (self.fixed < 0 or self.fixed % self.align)
        ):
            raise PlanError(
                f"cluster {self.name!r}: offset {self.fixed} is no multiple of {self.align}"
            )
        self.size = max(delta + buffer.size for delta, buffer in self.pieces)
        self.birth = min(buffer.first for _, buffer in self.pieces)
        self.death = max(buffer.last for _, buffer in self.pieces)

    @classmethod
    def of(cls, buffer: Buffer, *, align: int = DEFAULT_ALIGN, pool: str = ARENA) -> Cluster:
        """A cluster of one buffer; `PlanError` where `align` is not a power of two."""
        if align < 1 or align & (align - 1):
            raise PlanError(f"cluster {buffer.name!r}: align {align} is not a power of two")
        return cls(buffer.name, ((0, buffer),), align, pool)

    def __repr__(self) -> str:
        return f"<Cluster {self.name}: {self.size} bytes, life [{self.birth}, {self.death}]>"


@dataclass(frozen=True, slots=True)
class Placement:
    """An assigner's answer.

    Attributes:
        offsets: offset by cluster index.
        optimal: names of the pools for which the assigner has proved that none smaller exists.
        cut_short: whether a time budget ended the search: another run may answer differently.
    """

    offsets: tuple[int, ...]
    optimal: frozenset[str] = frozenset()
    cut_short: bool = False

    def peak(self, problem: MemoryProblem, pool: str) -> int:
        """Bytes of a pool: the end of the highest cluster, rounded up to the pool's alignment."""
        ends = (
            self.offsets[cluster.index] + cluster.size
            for cluster in problem.clusters
            if cluster.pool == pool
        )
        return round_up(max(ends, default=0), problem.align)


class Budget:
    """How long an assigner may search. Steps keep answers equal on every machine; seconds don't.

    Args:
        seconds: None for no limit.
        steps: of the assigner's own measure, None for its default.
    """

    __slots__ = ("_deadline", "cut_short", "seconds", "steps")

    def __init__(self, seconds: float | None = None, steps: int | None = None) -> None:
        self.seconds = seconds
        self.steps = steps
        self.cut_short = False
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def expired(self) -> bool:
        """Whether the time is over; asking remembers a yes in `cut_short`."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.cut_short = True
        return self.cut_short


@runtime_checkable
class Assigner(Protocol):
    """Chooses offsets. It sees the problem, never the graph, and must be deterministic."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """A place for every cluster; the kernel checks it.

        Raises:
            PlanError: a capacity or a fixed offset can't be met.
        """
        ...


class MemoryProblem:
    """Clusters to place.

    Args:
        clusters: in order of their birth, as built; the problem numbers them.
        align: what pool totals are rounded up to.
        capacities: bytes by pool; pools that are missing are not limited.
        order: the order of several streams; None where one stream runs.
    """

    def __init__(
        self,
        clusters: Iterable[Cluster] = (),
        *,
        align: int = DEFAULT_ALIGN,
        capacities: Mapping[str, int] | None = None,
        order: StreamOrder | None = None,
    ) -> None:
        self.clusters: tuple[Cluster, ...] = tuple(clusters)
        for index, cluster in enumerate(self.clusters):
            cluster.index = index
        self.align = align
        self.capacities: dict[str, int] = dict(capacities or {})
        self.order = order
        self._offsets: list[int | None] = [None] * len(self.clusters)
        self._placed: dict[str, TimeIndex] = {}
        self._owned: list[Cluster] = []

    # ---- reading -------------------------------------------------------------------------------

    @property
    def buffers(self) -> Iterator[Buffer]:
        """All buffers, cluster by cluster."""
        return (buffer for cluster in self.clusters for _, buffer in cluster.pieces)

    @property
    def pools(self) -> list[str]:
        """Names of the pools, in the order in which clusters first name them."""
        return list(dict.fromkeys(cluster.pool for cluster in self.clusters))

    def by_pool(self) -> dict[str, list[Cluster]]:
        """The clusters of each pool."""
        found: dict[str, list[Cluster]] = {}
        for cluster in self.clusters:
            found.setdefault(cluster.pool, []).append(cluster)
        return found

    def lower_bound(self, pool: str = ARENA) -> int:
        """Bytes that every placement of a pool takes at least; one that meets it is optimal.

        Raises:
            PlanError: there is no such pool; names those that are near.
        """
        from ge_core.memory.bound import lower_bound

        known = {ARENA, *self.pools, *self.capacities}
        if pool not in known:
            raise PlanError(f"the problem has no pool {pool!r}", near=near_matches(pool, known))
        return lower_bound(self, pool)

    def interferes(self, a: Buffer | Cluster, b: Buffer | Cluster) -> bool:
        """Whether two buffers may be in use at the same time; of clusters: whether any pieces do.

        A cluster doesn't interfere with itself; clusters of two pools don't interfere.
        """
        if isinstance(a, Cluster) and isinstance(b, Cluster):
            if a is b or a.pool != b.pool:
                return False
            if a.owned and b.owned:
                return True
        mine = [buffer for _, buffer in a.pieces] if isinstance(a, Cluster) else [a]
        others = [buffer for _, buffer in b.pieces] if isinstance(b, Cluster) else [b]
        return any(self._meet(one, other) for one in mine for other in others)

    def _meet(self, a: Buffer, b: Buffer) -> bool:
        if a.last < b.first or b.last < a.first:
            return False
        if self.order is None or a.clock is None or b.clock is None:
            return a is not b
        return a is not b and self.order.interferes(a.clock, b.clock)

    # ---- placing -------------------------------------------------------------------------------

    def lowest_free(self, cluster: Cluster) -> int:
        """The lowest offset at which no piece meets a placed buffer that interferes with it."""
        if cluster.fixed is not None:
            return cluster.fixed
        return lowest_gap(self._forbidden(cluster), cluster.align)

    def place(self, cluster: Cluster, offset: int) -> None:
        """Place a cluster.

        Raises:
            PlanError: it is placed already, or the offset is negative, not aligned, not the fixed
                one, or taken.
        """
        if self._offsets[cluster.index] is not None:
            raise PlanError(f"cluster {cluster.name!r} is placed already")
        wrong = wrong_offset(cluster, offset) or self._in_the_way(cluster, offset)
        if wrong is not None:
            raise PlanError(f"cluster {cluster.name!r} can't be placed at offset {offset}: {wrong}")
        self._offsets[cluster.index] = offset
        index = self._placed.setdefault(cluster.pool, TimeIndex())
        for delta, buffer in cluster.pieces:
            index.add(buffer.first, buffer.last, (offset + delta, buffer, cluster))
        if cluster.owned:
            self._owned.append(cluster)

    def placement(self) -> Placement:
        """What has been placed. Raises `PlanError` naming a cluster that has not."""
        offsets: list[int] = []
        for cluster, offset in zip(self.clusters, self._offsets, strict=True):
            if offset is None:
                raise PlanError(f"cluster {cluster.name!r} is not placed")
            offsets.append(offset)
        return Placement(tuple(offsets))

    def clear(self) -> None:
        """Take all placed clusters out again, to try another order."""
        self._offsets = [None] * len(self.clusters)
        self._placed.clear()
        self._owned.clear()

    def _in_the_way(self, cluster: Cluster, offset: int) -> str | None:
        """Which placed cluster forbids an offset and why, None where none does."""
        index = self._placed.get(cluster.pool)
        for delta, buffer in cluster.pieces if index is not None else ():
            assert index is not None
            low, high = offset + delta, offset + delta + buffer.size
            for at, other, owner in index.overlapping(buffer.first, buffer.last):
                if owner is cluster or at >= high or at + other.size <= low:
                    continue
                if self._meet(buffer, other):
                    return f"{self._shown(owner)} is needed at the same time"
        for other in self.clusters:
            at = self._offsets[other.index]
            if other is cluster or other.pool != cluster.pool or at is None:
                continue
            if other.owned and _within(around_owned(cluster, other, at), offset):
                must = "must not share bytes with it" if cluster.owned else "must lie wholly inside"
                return f"{self._shown(other)} is memory of the caller's, and this {must}"
            borrows = cluster.owned and not other.owned
            if borrows and _within(around_borrower(cluster, other, at), offset):
                return f"this is memory of the caller's, and {self._shown(other)} sticks out"
        return None

    def _shown(self, placed: Cluster) -> str:
        at = self._offsets[placed.index]
        return f"{placed.name!r} at {at}..{(at or 0) + placed.size}"

    def _forbidden(self, cluster: Cluster) -> list[tuple[int, int]]:
        """Open intervals in which the cluster can't start, unsorted."""
        found: list[tuple[int, int]] = []
        index = self._placed.get(cluster.pool)
        if index is None:
            return found
        for delta, buffer in cluster.pieces:
            for at, other, owner in index.overlapping(buffer.first, buffer.last):
                if owner is not cluster and self._meet(buffer, other):
                    found.append((at - delta - buffer.size, at + other.size - delta))
        for other in self._owned:
            at = self._offsets[other.index]
            if other.pool == cluster.pool and at is not None:
                found.extend(around_owned(cluster, other, at))
        if cluster.owned:
            for other in self.clusters:
                at = self._offsets[other.index]
                if at is not None and not other.owned and other.pool == cluster.pool:
                    found.extend(around_borrower(cluster, other, at))
        return found


def wrong_offset(cluster: Cluster, offset: int) -> str | None:
    """Why a cluster can't start at an offset wherever others are, None where it can."""
    if offset < 0:
        return "it is negative"
    if offset % cluster.align:
        return f"it is no multiple of {cluster.align}"
    if cluster.fixed not in (None, offset):
        return f"it is not the fixed {cluster.fixed}"
    if (offset + cluster.size).bit_length() > OFFSET_BITS:
        return f"its end doesn't fit in {OFFSET_BITS} bits"
    return None


def _within(forbidden: Iterable[tuple[int, int]], offset: int) -> bool:
    return any(low < offset < high for low, high in forbidden)


def round_up(value: int, align: int) -> int:
    """The least multiple of `align` that is not less than `value`."""
    return -(-value // align) * align


def lowest_gap(forbidden: list[tuple[int, int]], align: int) -> int:
    """The lowest aligned offset that lies in none of the open intervals."""
    offset = 0
    for low, high in sorted(forbidden):
        if low >= offset:
            # Later intervals start even higher, and an open interval may start at the offset.
            break
        if high > offset:
            offset = round_up(high, align)
    return offset


def around_owned(cluster: Cluster, owned: Cluster, at: int) -> list[tuple[int, int]]:
    """Where a cluster can't start because it would stick out of memory of the caller's."""
    end = at + owned.size
    if cluster.owned or cluster.size > owned.size:
        return [(at - cluster.size, end)]
    return [(at - cluster.size, at), (end - cluster.size, end)]


def around_borrower(owned: Cluster, cluster: Cluster, at: int) -> list[tuple[int, int]]:
    """Where memory of the caller's can't start because a placed cluster would stick out of it."""
    end = at + cluster.size
    if cluster.size > owned.size:
        return [(at - owned.size, end)]
    return [(at - owned.size, end - owned.size), (at, end)]
