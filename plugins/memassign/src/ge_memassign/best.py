"""`best`: the strongest planner here, and the default."""

from __future__ import annotations

from ge_core.api import Budget, MemoryProblem, Placement, collector_paused
from ge_memassign.conflicts import Conflicts
from ge_memassign.exhaust import exhaust
from ge_memassign.fast import pair_limit, quick
from ge_memassign.improve import improve
from ge_memassign.pools import Pool


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
    found, conflicts = quick(pool, budget)
    if pool.peak(found) <= pool.bound or not pool.clusters:
        return found, True
    if conflicts is None:
        conflicts = Conflicts(pool, pair_limit(pool))
    if not conflicts.complete:
        return found, False
    found, proved = exhaust(pool, conflicts, found)
    return (found, True) if proved else (improve(pool, conflicts, found, budget), False)
