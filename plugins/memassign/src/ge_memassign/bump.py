"""Clusters one behind the other: no two share bytes."""

from __future__ import annotations

from ge_core.api import Budget, MemoryProblem, Placement


class Bump:
    """Every cluster gets bytes of its own, by birth. Clusters with fixed places go first."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """A place for every cluster, in time linear in their number where none is fixed."""
        offsets = [0] * len(problem.clusters)
        for clusters in problem.by_pool().values():
            fixed = sorted(
                (cluster.fixed, cluster.fixed + cluster.size)
                for cluster in clusters
                if cluster.fixed is not None
            )
            top = 0
            for cluster in clusters:
                if cluster.fixed is not None:
                    offsets[cluster.index] = cluster.fixed
                    continue
                at = -(-top // cluster.align) * cluster.align
                for low, high in fixed:
                    if at < high and low < at + cluster.size:
                        at = -(-high // cluster.align) * cluster.align
                offsets[cluster.index] = at
                top = at + cluster.size
        return Placement(tuple(offsets))
