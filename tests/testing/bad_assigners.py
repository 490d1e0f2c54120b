"""Assigners that each break one promise, and one that breaks none."""

from __future__ import annotations

from typing import Any

from ge_core.api import Budget, MemoryProblem, Placement

_calls = 0


class Good:
    """Clusters in order of birth, each at the lowest free offset."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Place every cluster."""
        for cluster in sorted(problem.clusters, key=lambda c: (c.birth, c.name)):
            problem.place(cluster, problem.lowest_free(cluster))
        return problem.placement()


class AllAtZero(Good):
    """Everything at the start, alignment kept."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Offsets that clash."""
        return Placement(tuple(c.fixed or 0 for c in problem.clusters))


class AsksHashes(Good):
    """Goes by the hashes of names, which are others in each process."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Place every cluster, in an order of this process's own."""
        for cluster in sorted(problem.clusters, key=lambda c: (hash(c.name), c.index)):
            problem.place(cluster, problem.lowest_free(cluster))
        return problem.placement()


class NeedsClusters(Good):
    """Takes for granted that there is a cluster."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Look at the first one."""
        assert problem.clusters[0].size
        return super().assign(problem, budget)


class Alternates(Good):
    """Answers in turns."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Every other time something higher."""
        global _calls
        _calls += 1
        found = super().assign(problem, budget)
        plain = not problem.capacities and not any(c.owned for c in problem.clusters)
        if _calls % 2 == 0 or not plain or problem.order is not None:
            return found
        return Placement(
            tuple(
                at if c.fixed is not None else at + 512
                for c, at in zip(problem.clusters, found.offsets, strict=True)
            )
        )


class Renames(Good):
    """Writes into the problem."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Limit a pool that nothing lies in."""
        problem.capacities["SPARE"] = 64
        return super().assign(problem, budget)


class NeverTires(Good):
    """Asks its budget and doesn't listen."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Ask very often."""
        for _ in range(100_000 if budget.seconds is not None else 0):
            budget.expired()
        return super().assign(problem, budget)


class HidesItsHaste(Good):
    """Answers worse when its time is over and doesn't say so."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """One behind the other."""
        if not budget.expired():
            return super().assign(problem, budget)
        at, offsets = 0, []
        for cluster in problem.clusters:
            offsets.append(at)
            at += -(-cluster.size // 64) * 64
        return Placement(tuple(offsets))


class Boasts(Good):
    """Calls first fit optimal."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """By birth, which is not always best."""
        found = super().assign(problem, budget)
        return Placement(found.offsets, optimal=frozenset(problem.pools))


class Lists(Good):
    """Answers a list."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Any:
        """Of offsets."""
        return list(super().assign(problem, budget).offsets)
