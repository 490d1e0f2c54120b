"""`best`: the strongest planner here, and the default."""

from __future__ import annotations

from typing import Final

from ge_core.api import Budget, MemoryProblem, Placement, collector_paused
from ge_memassign.exhaust import exhaust
from ge_memassign.fast import quick, solved
from ge_memassign.improve import improve
from ge_memassign.pools import Pool

LOOKS: Final = 600_000
"""Questions that all dives of one pool may ask the skyline."""


class Best:
    """`fast`, then every placement of small pools, and better orders of others."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """A place for every cluster. Raises `PlanError` where a fixed place can't be met."""
        offsets = [0] * len(problem.clusters)
        optimal: set[str] = set()
        with collector_paused():
            for name, clusters in problem.by_pool().items():
                pool = Pool(problem, name, clusters)
                found, proved = _place(pool, budget)
                pool.write(found, offsets)
                if proved:
                    optimal.add(name)
        return Placement(tuple(offsets), frozenset(optimal), budget.cut_short)


def _place(pool: Pool, budget: Budget) -> tuple[list[int], bool]:
    """Offsets, and whether they are proved to be the best."""
    found = quick(pool, budget, LOOKS)
    offsets = solved(found)
    if found.optimal or not pool.clusters:
        return offsets, True
    conflicts = found.conflicts
    if conflicts is None:
        return offsets, False
    offsets, proved = exhaust(pool, conflicts, offsets)
    if proved:
        return offsets, True
    return improve(pool, conflicts, offsets, found.seeds, budget), False
