"""Checks an assigner's placement: the kernel trusts no planner."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from ge_core.errors import PlanError
from ge_core.memory.problem import Buffer, Cluster, MemoryProblem, Placement


def check_placement(problem: MemoryProblem, placement: Placement, owner: str | None = None) -> None:
    """Check that every cluster has an allowed place and that no two interfering buffers meet.

    Args:
        problem: what was to be placed.
        placement: the answer.
        owner: who gave it, for messages.

    Raises:
        PlanError: names the clusters, what is wrong with their places, and the owner.
    """
    offsets = placement.offsets
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


def _check_offset(cluster: Cluster, offset: int, owner: str | None) -> None:
    if offset < 0:
        raise PlanError(f"offset {offset!r} for {cluster.name!r}", owner=owner)
    if offset % cluster.align:
        raise PlanError(
            f"offset {offset} of {cluster.name!r} is no multiple of {cluster.align}", owner=owner
        )
    if cluster.fixed is not None and offset != cluster.fixed:
        raise PlanError(
            f"offset {offset} of {cluster.name!r} is not the fixed {cluster.fixed}", owner=owner
        )


def find_clash(
    problem: MemoryProblem, clusters: Sequence[Cluster], offsets: Sequence[int]
) -> tuple[Cluster, Cluster] | None:
    """Two clusters of one pool that share bytes although they must not, or None.

    A sweep over time: what is in use at a position is kept by address, so that each piece is
    compared with its neighbours only. Pieces that may share bytes although their times overlap
    (several streams) make neighbourhoods larger.
    """
    owned = [cluster for cluster in clusters if cluster.owned]
    for mine in owned:
        for other in clusters:
            if other is not mine and _sticks_out(mine, other, offsets):
                return mine, other
    events: list[tuple[int, int, int]] = []
    pieces: list[tuple[Cluster, Buffer, int]] = []
    for cluster in clusters:
        for delta, buffer in cluster.pieces:
            number = len(pieces)
            pieces.append((cluster, buffer, offsets[cluster.index] + delta))
            events.append((buffer.first, 1, number))
            # What ends at a position is still in use there.
            events.append((buffer.last + 1, 0, number))
    events.sort()
    active: list[tuple[int, int]] = []
    longest = 0
    for _, begins, number in events:
        cluster, buffer, low = pieces[number]
        if not begins:
            del active[bisect_left(active, (low, number))]
            continue
        longest = max(longest, buffer.size)
        high = low + buffer.size
        at = bisect_left(active, (high, -1))
        while at > 0:
            at -= 1
            start, neighbour = active[at]
            if start + longest <= low:
                break
            owner, there, _ = pieces[neighbour]
            if owner is cluster or start + there.size <= low:
                continue
            if problem.interferes(buffer, there):
                return owner, cluster
        insort(active, (low, number))
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
        f"{a.name!r} at [{at}, {at + a.size}) and {b.name!r} at [{other}, {other + b.size}) of pool "
        f"{a.pool} share bytes, but are needed at the same time"
    )
