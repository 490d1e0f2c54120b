"""A dive for canonical placements: next comes whatever can lie lowest on the skyline.

Of clusters that can lie equally low the one goes first that is harder to place. Nothing is put into
holes below the skyline; first fit in the order of the offsets does that afterwards. Needs no list
of conflicts, so that it answers where those are too many.
"""

from __future__ import annotations

import heapq

from ge_memassign.orders import Key
from ge_memassign.pools import FREE, Pool
from ge_memassign.skyline import Skyline


def dive(pool: Pool, key: Key, looks: int) -> tuple[list[int] | None, int]:
    """Offsets by number, and how many questions the skyline was asked.

    There are no offsets for fixed places and memory of the caller's, nor after too many questions.

    Args:
        pool: the clusters.
        key: among those that can lie equally low, the least goes first.
        looks: questions to the skyline that may be asked.
    """
    if pool.fixed or pool.owned:
        return None, 0
    clusters = pool.clusters
    times = sorted({t for c in clusters for _, b in c.pieces for t in (b.first, b.last)})
    place = {time: at for at, time in enumerate(times)}
    pieces = [
        [(delta, b.size, place[b.first], place[b.last]) for delta, b in cluster.pieces]
        for cluster in clusters
    ]
    skyline = Skyline(len(times))
    offsets = [FREE] * len(clusters)
    heap = [(pool.floor, key(number), number) for number in range(len(clusters))]
    heapq.heapify(heap)
    asked = 0
    while heap:
        offset, rank, number = heap[0]
        asked += 1
        if asked > looks:
            return None, asked
        lowest = pool.floor
        for delta, _, first, last in pieces[number]:
            lowest = max(lowest, skyline.height(first, last) - delta)
        align = pool.aligns[number]
        lowest = -(-lowest // align) * align
        if lowest > offset:
            # The skyline has risen since; what can lie lower now goes first.
            heapq.heapreplace(heap, (lowest, rank, number))
            continue
        heapq.heappop(heap)
        offsets[number] = lowest
        for delta, size, first, last in pieces[number]:
            skyline.raise_to(first, last, lowest + delta + size)
    return offsets, asked
