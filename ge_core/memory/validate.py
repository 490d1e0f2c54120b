"""Checks an assigner's placement: the kernel trusts no planner."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ge_core.errors import PlanError
from ge_core.memory.problem import (
    Buffer,
    Cluster,
    MemoryProblem,
    Placement,
    round_up,
    wrong_offset,
)


def check_placement(problem: MemoryProblem, placement: Placement, owner: str | None = None) -> None:
    """Check that every cluster has an allowed place and that no two interfering buffers meet.

    Args:
        problem: what was to be placed.
        placement: the answer.
        owner: who gave it, for messages.

    Raises:
        PlanError: names the clusters, what is wrong with their places, and the owner.
    """
    if not isinstance(placement, Placement):
        raise PlanError(
            f"the assigner answered {type(placement).__name__}, not a Placement", owner=owner
        )
    offsets = placement.offsets
    if not isinstance(offsets, tuple):
        raise PlanError(f"offsets are {type(offsets).__name__}, not a tuple", owner=owner)
    if len(offsets) != len(problem.clusters):
        raise PlanError(f"{len(offsets)} offsets for {len(problem.clusters)} clusters", owner=owner)
    for cluster, offset in zip(problem.clusters, offsets, strict=True):
        _check_offset(cluster, offset, owner)
    for pool, clusters in problem.by_pool().items():
        capacity = problem.capacities.get(pool)
        need = placement.peak(problem, pool)
        if capacity is not None and need > capacity:
            raise PlanError(f"pool {pool} needs {need} bytes and has {capacity}", owner=owner)
        clash = find_clash(problem, clusters, offsets)
        if clash is not None:
            raise PlanError(_say(*clash, offsets), owner=owner)
    _check_optimal(problem, placement, owner)


def fingerprint(problem: MemoryProblem) -> Hashable:
    """What an assigner must leave as it is: equal before and after where it did."""
    return (
        problem.align,
        tuple(sorted(problem.capacities.items())),
        id(problem.order),
        tuple(
            (
                id(c),
                (c.name, c.align, c.pool, c.fixed, c.owned, c.index, c.size, c.birth, c.death),
                tuple((d, b.name, b.size, b.first, b.last, id(b.clock)) for d, b in c.pieces),
            )
            for c in problem.clusters
        ),
    )


def _check_optimal(problem: MemoryProblem, placement: Placement, owner: str | None) -> None:
    """Where a pool is called optimal, putting all buffers behind each other can't be smaller."""
    for pool in sorted(map(str, placement.optimal)):
        clusters = [cluster for cluster in problem.clusters if cluster.pool == pool]
        if not clusters:
            raise PlanError(f"pool {pool!r}, called optimal, has nothing in it", owner=owner)
        if any(cluster.fixed is not None for cluster in clusters):
            continue
        end, peak = 0, placement.peak(problem, pool)
        for cluster in clusters:
            end = round_up(end, cluster.align) + cluster.size
        if peak > round_up(end, problem.align):
            raise PlanError(
                f"pool {pool!r} is called optimal at {peak} bytes, and {end} are enough for"
                " everything without reuse",
                owner=owner,
            )


def _check_offset(cluster: Cluster, offset: int, owner: str | None) -> None:
    if type(offset) is not int:
        # 0.0, False and numpy's numbers compare well and are written to plans as something else.
        raise PlanError(
            f"offset {offset!r} of {cluster.name!r} is {type(offset).__name__}, not int",
            owner=owner,
        )
    wrong = wrong_offset(cluster, offset)
    if wrong is not None:
        raise PlanError(
            f"cluster {cluster.name!r} can't be placed at offset {offset}: {wrong}", owner=owner
        )


class _Placed(NamedTuple):
    """A buffer at its place."""

    low: int
    number: int
    cluster: Cluster
    buffer: Buffer

    @property
    def high(self) -> int:
        return self.low + self.buffer.size


def find_clash(
    problem: MemoryProblem, clusters: Sequence[Cluster], offsets: Sequence[int]
) -> tuple[Cluster, Cluster] | None:
    """Two clusters of one pool that share bytes although they must not, or None."""
    for mine in (cluster for cluster in clusters if cluster.owned):
        for other in clusters:
            if other is not mine and _sticks_out(mine, other, offsets):
                return mine, other
    placed: list[_Placed] = []
    for cluster in clusters:
        for delta, buffer in cluster.pieces:
            low = offsets[cluster.index] + delta
            placed.append(_Placed(low, len(placed), cluster, buffer))
    order = problem.order
    if order is None:
        return _over_time(problem, placed, placed)
    chains: dict[int, list[_Placed]] = {}
    inner: list[_Placed] = []
    for piece in placed:
        clock = piece.buffer.clock
        if clock is not None and order.scopes[clock.scope].depth == 0:
            chains.setdefault(clock.scope, []).append(piece)
        else:
            inner.append(piece)
    for chain in chains.values():
        clash = _over_addresses(problem, chain)
        if clash is not None:
            return clash
    return _over_time(problem, placed, inner) if inner else None


def _over_time(
    problem: MemoryProblem, placed: Sequence[_Placed], judged: Sequence[_Placed]
) -> tuple[Cluster, Cluster] | None:
    """A sweep over time: what is in use at a position is kept by address.

    Compares every piece of `judged` with all that is in use at the same time and shares bytes.
    """
    wanted = {piece.number for piece in judged}
    events: list[tuple[int, int, int]] = []
    for piece in placed:
        # What ends at a position is still in use there.
        events.append((piece.buffer.first, 1, piece.number))
        events.append((piece.buffer.last + 1, 0, piece.number))
    events.sort()
    active: list[_Placed] = []
    active_judged: list[_Placed] = []
    longest = max((piece.buffer.size for piece in placed), default=0)
    for _, begins, number in events:
        piece = placed[number]
        for pieces in (active, active_judged) if number in wanted else (active,):
            if begins:
                insort(pieces, piece)
            else:
                del pieces[bisect_left(pieces, piece)]
        if begins:
            around = active if number in wanted else active_judged
            clash = _beside(problem, piece, around, longest)
            if clash is not None:
                return clash
    return None


def _beside(
    problem: MemoryProblem, piece: _Placed, around: Sequence[_Placed], longest: int
) -> tuple[Cluster, Cluster] | None:
    at = bisect_left(around, (piece.high,))
    while at > 0:
        at -= 1
        other = around[at]
        if other.low + longest <= piece.low:
            break
        if other.cluster is piece.cluster or other.high <= piece.low:
            continue
        if problem.interferes(piece.buffer, other.buffer):
            return other.cluster, piece.cluster
    return None


def _over_addresses(
    problem: MemoryProblem, chain: Sequence[_Placed]
) -> tuple[Cluster, Cluster] | None:
    """A sweep over addresses: what lies there is kept by birth, and neighbours are compared.

    In one scope "comes before" is transitive and goes with birth, so that neighbours speak for all.
    """
    events: list[tuple[int, int, int]] = []
    for at, piece in enumerate(chain):
        events.append((piece.low, 1, at))
        events.append((piece.high, 0, at))
    events.sort()
    here: list[tuple[int, int]] = []
    for _, begins, at in events:
        key = (chain[at].buffer.first, at)
        place = bisect_left(here, key)
        if begins:
            here.insert(place, key)
            pairs = [(place - 1, place), (place, place + 1)]
        else:
            del here[place]
            pairs = [(place - 1, place)]
        for one, other in pairs:
            if one >= 0 and other < len(here):
                a, b = chain[here[one][1]], chain[here[other][1]]
                if a.cluster is not b.cluster and problem.interferes(a.buffer, b.buffer):
                    return a.cluster, b.cluster
    return None


def _sticks_out(owned: Cluster, other: Cluster, offsets: Sequence[int]) -> bool:
    """Whether a cluster touches memory of the caller's and is not wholly inside it."""
    low, start = offsets[owned.index], offsets[other.index]
    high, end = low + owned.size, start + other.size
    if end <= low or high <= start:
        return False
    return other.owned or start < low or end > high


def _say(a: Cluster, b: Cluster, offsets: Sequence[int]) -> str:
    at, other = offsets[a.index], offsets[b.index]
    return (
        f"{a.name!r} at [{at}, {at + a.size}) and {b.name!r} at [{other}, {other + b.size}) "
        f"of pool {a.pool} share bytes, but are needed at the same time"
    )
