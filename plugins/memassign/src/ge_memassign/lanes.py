"""Streams side by side: the answer where they hardly wait for one another.

Then almost everything of one stream stands in the way of everything of the others, and the pairs
are too many to list. Each stream's buffers are a problem of one stream for themselves, exactly;
buffers of several streams are a last problem, by the times outside which they are in nobody's way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ge_core.api import Buffer, Cluster, MemoryProblem
from ge_memassign.pools import FREE, Pool

Solver: TypeAlias = Callable[[Pool], list[int]]


def by_stream(pool: Pool, solve: Solver) -> list[int] | None:
    """Offsets by number; None where one stream runs, or where fixed places ask for more.

    Args:
        pool: the clusters.
        solve: places a pool of one stream.
    """
    if pool.problem.order is None or pool.fixed or pool.owned:
        return None
    groups: dict[tuple[int, int], list[tuple[int, Cluster]]] = {}
    for number, cluster in enumerate(pool.clusters):
        key, twin = _alone(cluster)
        groups.setdefault(key, []).append((number, twin))
    offsets = [FREE] * len(pool.clusters)
    top = pool.floor
    for key in sorted(groups):
        twins = [twin for _, twin in groups[key]]
        problem = MemoryProblem(twins, align=pool.align)
        inner = Pool(problem, pool.name, twins)
        found = [0] * len(twins)
        inner.write(solve(inner), found)
        for (number, _), offset in zip(groups[key], found, strict=True):
            offsets[number] = top + offset
        top += max(at + twin.size for at, twin in zip(found, twins, strict=True))
        top = -(-top // pool.align) * pool.align
    return offsets


def _alone(cluster: Cluster) -> tuple[tuple[int, int], Cluster]:
    """The scope and stream that a cluster belongs to, and the cluster as that stream sees it."""
    lane = _lane(cluster)
    if lane is None:
        pieces = tuple(
            (delta, Buffer(buffer.name, buffer.size, buffer.first, buffer.last))
            for delta, buffer in cluster.pieces
        )
        return (-1, -1), Cluster(cluster.name, pieces, cluster.align, cluster.pool)
    scope, stream, first, last = lane
    buffer = Buffer(cluster.name, cluster.size, first, last)
    return (scope, stream), Cluster.of(buffer, align=cluster.align, pool=cluster.pool)


def _lane(cluster: Cluster) -> tuple[int, int, int, int] | None:
    """The scope and stream on which all accesses to a cluster lie, and when on that stream."""
    if len(cluster.pieces) > 1:
        return None
    clock = cluster.pieces[0][1].clock
    if clock is None or not clock.sure:
        return None
    streams = [stream for stream, position in enumerate(clock.last) if position]
    if len(streams) != 1:
        return None
    (stream,) = streams
    return clock.scope, stream, clock.sure[stream][0], clock.last[stream]
