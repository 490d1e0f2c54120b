"""A planner in four lines."""

from __future__ import annotations


class FirstFit:
    """Clusters in order of birth, each at the lowest offset free for its whole life."""

    def assign(self, problem, budget):
        """Place every cluster."""
        for cluster in sorted(problem.clusters, key=lambda c: (c.birth, c.name)):
            problem.place(cluster, problem.lowest_free(cluster))
        return problem.placement()
