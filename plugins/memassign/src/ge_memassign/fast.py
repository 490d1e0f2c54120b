"""`fast`: the best of several quick answers. Stops as soon as one meets the lower bound."""

from __future__ import annotations

from typing import Final

from ge_core.api import Budget, MemoryProblem, Placement, collector_paused
from ge_memassign.conflicts import Conflicts
from ge_memassign.firstfit import FirstFit
from ge_memassign.lanes import by_stream
from ge_memassign.orders import orders
from ge_memassign.pools import Pool
from ge_memassign.sweep import best_fit

PAIR_LIMIT: Final = 3_000_000
"""Pairs of interfering buffers that are kept in memory; beyond it only sweeps are tried."""
WORK_LIMIT: Final = 8_000_000
"""Pairs looked at by first fit, over all orders; at least one order is tried."""


class Fast:
    """Best fit over time, forwards and backwards, then first fit in several orders."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """A place for every cluster. Raises `PlanError` where a fixed place can't be met."""
        offsets = [0] * len(problem.clusters)
        with collector_paused():
            for name, clusters in problem.by_pool().items():
                pool = Pool(problem, name, clusters)
                found, _ = quick(pool, budget)
                pool.write(found, offsets)
        return Placement(tuple(offsets), cut_short=budget.cut_short)


def pair_limit(pool: Pool) -> int:
    """Pairs to look at; asking the order of several streams takes longer than comparing lives."""
    return PAIR_LIMIT if pool.problem.order is None else PAIR_LIMIT // 4


def quick(pool: Pool, budget: Budget) -> tuple[list[int], Conflicts | None]:
    """The best quick answer for one pool, and its conflicts where they were needed."""
    best: list[int] | None = None
    peak = 0
    for backwards in (False, True):
        found = best_fit(pool, backwards=backwards)
        if found is not None and (best is None or pool.peak(found) < peak):
            best, peak = found, pool.peak(found)
        if best is not None and peak <= pool.bound:
            return best, None
    # Without a sweep's answer (fixed or borrowed places) there is no way around the pairs.
    conflicts = Conflicts(pool, pair_limit(pool) if best is not None else 1 << 62)
    if best is not None and not conflicts.complete:
        found = by_stream(pool, lambda lane: quick(lane, budget)[0])
        return (best if found is None or pool.peak(found) >= peak else found), None
    fit = FirstFit(pool, conflicts)
    for _, order in orders(pool):
        found, _ = fit.place(order, None if best is None else peak - 1)
        if found is not None and (best is None or pool.peak(found) < peak):
            best, peak = found, pool.peak(found)
        if peak <= pool.bound or fit.work > WORK_LIMIT or budget.expired():
            break
    assert best is not None
    return best, conflicts
