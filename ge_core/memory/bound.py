"""Lower bounds: what no placement can beat, computed apart from the planners.

On one stream: at each position, what the buffers in use there take together. On several: the same
over each root scope's streams, counting at each position only what is in use whatever the other
streams have done. A buffer at an aligned distance takes whole alignment units; one at another
distance may lie in the padding of others, so that it counts with its exact size, and so do the
others beside it.
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd
from typing import TypeAlias

from ge_core.memory.problem import Buffer, Cluster, MemoryProblem, Pieces, round_up


def lower_bound(problem: MemoryProblem, pool: str) -> int:
    """Bytes that every placement of a pool takes at least, a multiple of the alignment."""
    clusters = [cluster for cluster in problem.clusters if cluster.pool == pool]
    sweep = _interval_bound(clusters) if problem.order is None else 0
    if problem.order is not None:
        sweep = _stream_bound(problem, clusters)
    single = max((cluster.size for cluster in clusters), default=0)
    return round_up(max(sweep, single), problem.align)


def without_reuse(problem: MemoryProblem, pool: str) -> int:
    """Bytes of a pool if no two clusters shared any."""
    return sum(
        round_up(cluster.size, problem.align)
        for cluster in problem.clusters
        if cluster.pool == pool
    )


def _interval_bound(clusters: list[Cluster]) -> int:
    unit = _unit(clusters)
    events: list[_Event] = []
    for cluster in clusters:
        for delta, buffer in _apart(cluster):
            _count(events, buffer.first, buffer.last, delta, buffer.size, unit)
    return _highest(events)


def _stream_bound(problem: MemoryProblem, clusters: list[Cluster]) -> int:
    """Over each stream of each world, what is in use for certain at each position."""
    order = problem.order
    assert order is not None
    unit = _unit(clusters)
    lanes: dict[tuple[int, int], list[_Event]] = {}
    for cluster in clusters:
        for delta, buffer in _apart(cluster):
            clock = buffer.clock
            for stream, (first, last) in enumerate(() if clock is None else clock.sure):
                if clock is not None and first <= last:
                    lane = lanes.setdefault((clock.scope, stream), [])
                    _count(lane, first, last, delta, buffer.size, unit)
    return max((_highest(events) for events in lanes.values()), default=0)


_Event: TypeAlias = tuple[int, int, int]
"""Position, and how the padded and the exact total change there."""


def _unit(clusters: list[Cluster]) -> int:
    return gcd(*(cluster.align for cluster in clusters))


def _count(events: list[_Event], first: int, last: int, delta: int, size: int, unit: int) -> None:
    padded = round_up(size, unit) if delta % unit == 0 else 0
    events.append((first, padded, size))
    events.append((last + 1, -padded, -size))


def _highest(events: list[_Event]) -> int:
    """The greatest running sum over time; at one position what ends goes before what begins."""
    events.sort()
    best = padded = exact = at = 0
    for position, more, size in events:
        if position != at:
            best = max(best, padded, exact)
            at = position
        padded += more
        exact += size
    return max(best, padded, exact)


def _apart(cluster: Cluster) -> Pieces:
    """Pieces of a cluster that share no byte at one time: counting others twice would be wrong."""
    pieces = cluster.pieces
    if len(pieces) == 1:
        return pieces
    ordered = sorted(pieces, key=lambda piece: (piece[0], piece[1].first))
    following = pairwise(ordered)
    if all(_clear(one, other) for one, other in following) and len(
        {delta for delta, _ in ordered}
    ) == len(ordered):
        return pieces
    chosen: list[tuple[int, Buffer]] = []
    for piece in sorted(pieces, key=lambda piece: -piece[1].size):
        if all(_clear(piece, other) for other in chosen):
            chosen.append(piece)
    return tuple(chosen)


def _clear(one: tuple[int, Buffer], other: tuple[int, Buffer]) -> bool:
    (low, a), (high, b) = sorted((one, other), key=lambda piece: piece[0])
    return low + a.size <= high or a.last < b.first or b.last < a.first
