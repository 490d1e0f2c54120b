"""`fast`: the best of several quick answers. Stops as soon as one meets the lower bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ge_core.api import Budget, MemoryProblem, Placement, collector_paused
from ge_memassign.conflicts import Conflicts
from ge_memassign.dive import dive
from ge_memassign.firstfit import FirstFit
from ge_memassign.lanes import by_stream
from ge_memassign.orders import by_offset, keys, orders
from ge_memassign.pools import Pool
from ge_memassign.sweep import best_fit

PAIR_LIMIT: Final = 3_000_000
"""Pairs of interfering buffers that are kept in memory; beyond it only sweeps are tried."""
DIVES: Final = 3
"""How many keys dives are made with."""
LOOKS: Final = 200_000
"""Questions that all dives of one pool may ask the skyline."""
DENSE_LOOKS: Final = 1_000_000
"""The same where the pairs are too many, and dives are all there is."""
WORK_LIMIT: Final = 6_000_000
"""Pairs that first fit may look at before it tries no further order."""


class Fast:
    """Best fit over time, dives along the skyline, then first fit in several orders."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """A place for every cluster. Raises `PlanError` where a fixed place can't be met."""
        offsets = [0] * len(problem.clusters)
        with collector_paused():
            for name, clusters in problem.by_pool().items():
                pool = Pool(problem, name, clusters)
                pool.write(solved(quick(pool, budget)), offsets)
        return Placement(tuple(offsets), cut_short=budget.cut_short)


def pair_limit(pool: Pool) -> int:
    """Pairs to look at; asking the order of several streams takes longer than comparing lives."""
    return PAIR_LIMIT if pool.problem.order is None else PAIR_LIMIT // 4


@dataclass
class Found:
    """The best answer so far for one pool.

    Attributes:
        offsets: by number; None where nothing has been found yet.
        conflicts: of the pool, where they were needed and are not too many.
        seeds: other good answers, to start searches from.
    """

    pool: Pool
    offsets: list[int] | None = None
    peak: int = 0
    conflicts: Conflicts | None = None
    seeds: list[list[int]] = field(default_factory=list)

    def take(self, offsets: list[int] | None) -> None:
        """Keep an answer if it is better."""
        if offsets is None:
            return
        peak = self.pool.peak(offsets)
        if self.offsets is None or peak < self.peak:
            self.offsets, self.peak = offsets, peak

    @property
    def optimal(self) -> bool:
        """Whether no answer can be better."""
        return self.offsets is not None and self.peak <= self.pool.bound


def quick(pool: Pool, budget: Budget, looks: int = LOOKS) -> Found:
    """The best quick answer for one pool. Raises `PlanError` where a fixed place can't be met.

    Args:
        pool: the clusters.
        budget: asked between tries.
        looks: questions that dives may ask the skyline.
    """
    found = Found(pool)
    for backwards in (False, True):
        found.take(best_fit(pool, backwards=backwards))
        if found.optimal:
            return found
    # Without an answer (fixed or borrowed places) there is no way around the pairs.
    limit = pair_limit(pool) if found.offsets is not None else 1 << 62
    conflicts = Conflicts(pool, limit)
    if not conflicts.complete:
        found.take(by_stream(pool, lambda lane: solved(quick(lane, budget))))
        # Between streams times say little: dives would stack what could share.
        _dives(found, budget, DENSE_LOOKS if pool.problem.order is None else looks)
        return found
    found.conflicts = conflicts
    fit = FirstFit(pool, conflicts)
    _first_fits(found, fit, (order for _, order in orders(pool)), budget)
    if not found.optimal and not budget.expired():
        _dives(found, budget, looks)
        _first_fits(found, fit, map(by_offset, found.seeds), budget)
    return found


def solved(found: Found) -> list[int]:
    """The offsets of an answer."""
    assert found.offsets is not None
    return found.offsets


def _dives(found: Found, budget: Budget, looks: int) -> None:
    for _, key in keys(found.pool)[:DIVES]:
        offsets, asked = dive(found.pool, key, looks)
        looks -= asked
        found.take(offsets)
        if offsets is None or found.optimal or budget.expired():
            return
        found.seeds.append(offsets)


def _first_fits(found: Found, fit: FirstFit, tried: Iterable[list[int]], budget: Budget) -> None:
    start = fit.work
    for order in tried:
        offsets, _ = fit.place(order, None if found.offsets is None else found.peak - 1)
        found.take(offsets)
        if found.optimal or fit.work - start > WORK_LIMIT or budget.expired():
            return
