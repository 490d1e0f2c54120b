"""`best`: the strongest planner here, and the default."""

from __future__ import annotations

from ge_core.api import Budget, MemoryProblem, Placement, collector_paused
from ge_memassign.conflicts import Conflicts
from ge_memassign.fast import pair_limit, quick
from ge_memassign.improve import improve
from ge_memassign.pools import Pool


class Best:
    """`fast`, then better orders while steps last."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """A place for every cluster. Raises `PlanError` where a fixed place can't be met."""
        offsets = [0] * len(problem.clusters)
        with collector_paused():
            for name, clusters in problem.by_pool().items():
                pool = Pool(problem, name, clusters)
                pool.write(self._place(pool, budget), offsets)
        return Placement(tuple(offsets), cut_short=budget.cut_short)

    def _place(self, pool: Pool, budget: Budget) -> list[int]:
        found, conflicts = quick(pool, budget)
        if pool.peak(found) <= pool.bound or not pool.clusters:
            return found
        if conflicts is None:
            conflicts = Conflicts(pool, pair_limit(pool))
        return improve(pool, conflicts, found, budget) if conflicts.complete else found
