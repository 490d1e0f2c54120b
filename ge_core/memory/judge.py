"""Why two tensors may or may not share bytes: the rule of reuse, asked by name."""

from __future__ import annotations

from collections.abc import Sequence

from ge_core.analysis import pieces_overlap
from ge_core.memory.facts import PlanFacts, Site
from ge_core.memory.plan import rows_at
from ge_core.memory.problem import Buffer, MemoryProblem


class Judge:
    """Answers for the tensors and scratch areas of one problem.

    Args:
        problem, facts: as built together.
        offsets: where the clusters lie, to speak of tensors of one cluster.
    """

    def __init__(
        self, problem: MemoryProblem, facts: PlanFacts, offsets: Sequence[int] = ()
    ) -> None:
        self._problem = problem
        self._facts = facts
        self._offsets = offsets

    def __call__(self, a: str, b: str) -> tuple[bool, str]:
        """Whether the two may share bytes, and why.

        Raises:
            KeyError: one of the names is not a planned tensor's or scratch area's.
        """
        names = self._facts.named()
        one, other = names[a], names[b]
        if one.pool != other.pool:
            return False, f"they lie in the pools {one.pool} and {other.pool}"
        if one.cluster is None or other.cluster is None:
            return self._without_cluster(one, other)
        if one.cluster == other.cluster:
            return self._together(one, other)
        first, second = self._problem.clusters[one.cluster], self._problem.clusters[other.cluster]
        if first.owned and second.owned:
            return False, "both are memory of the caller's, at two addresses"
        for mine in self._pieces(one):
            for theirs in self._pieces(other):
                if self._problem.interferes(mine, theirs):
                    return False, self._rule(a, b) or self._clash(mine, theirs)
        return True, "every access to the one comes before the other is written"

    def _without_cluster(self, one: Site, other: Site) -> tuple[bool, str]:
        if 0 in (one.size, other.size):
            return True, "one of them has no bytes"
        if self._overlap(one, other):
            return True, "they are one weight"
        return False, "weights have places of their own"

    def _together(self, one: Site, other: Site) -> tuple[bool, str]:
        if self._overlap(one, other):
            return True, "they are the same memory"
        return False, "they are different pieces of one run"

    @staticmethod
    def _overlap(one: Site, other: Site) -> bool:
        return pieces_overlap(
            rows_at(one.delta, one.size, one.rows), rows_at(other.delta, other.size, other.rows)
        )

    def _pieces(self, site: Site) -> list[Buffer]:
        """The buffers under the bytes of a site."""
        assert site.cluster is not None
        return [
            buffer
            for delta, buffer in self._problem.clusters[site.cluster].pieces
            if delta < site.delta + site.size and site.delta < delta + buffer.size
        ]

    def _rule(self, a: str, b: str) -> str | None:
        """The plugin's rule that kept the one out of the other's place."""
        name = self._facts.work.name
        for pair, clash in self._facts.clashes.items():
            if {a, b} == set(map(name, pair)):
                return (
                    f"{clash.first!r} and {clash.second!r} can't share a memory: {clash.code}"
                    f" ({clash.owner})"
                )
        return None

    def _clash(self, mine: Buffer, theirs: Buffer) -> str:
        if self._problem.order is None:
            return (
                f"{mine.name} is in use at positions {mine.first}-{mine.last}, "
                f"{theirs.name} at {theirs.first}-{theirs.last}"
            )
        return (
            f"neither does every access to {mine.name} come before {theirs.name} is written, "
            "nor the other way round"
        )
