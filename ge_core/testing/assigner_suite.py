"""`assigner_conformance`: what every memory assigner promises, on random problems and graphs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar

import pytest

from ge_core.errors import GeError, PlanError, UsageError
from ge_core.ir import clone
from ge_core.memory import build_problem, check_placement
from ge_core.memory.problem import Assigner, Budget, Buffer, Cluster, MemoryProblem, Placement
from ge_core.plugin.registries import Registries
from ge_core.session.compiler import Compiler
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.testing.elsewhere import (
    ask_elsewhere,
    find,
    find_plugin,
    plugin_whereabouts,
    whereabouts,
)
from ge_core.testing.kernels import UNDER_TEST, PluginSpec, kernel_with, owned
from ge_core.testing.random_graphs import GraphKnobs, random_graph
from ge_core.testing.random_problems import ProblemKnobs, random_problem
from ge_core.testing.suite import Suite, fail, indented, make_suite, plainly, skip

KINDS: dict[str, ProblemKnobs] = {
    "ordinary": ProblemKnobs(
        pools=("HBM",), aligns=(64,), pieces=False, fixed=False, owned=False, capacities=False
    ),
    "many alignments": ProblemKnobs(aligns=(1, 2, 4, 32, 64, 512), fixed=False, owned=False),
    "relative placements": ProblemKnobs(fixed=False, owned=False, clusters=8),
    "fixed places": ProblemKnobs(owned=False, pieces=False),
    "memory of the caller's": ProblemKnobs(fixed=False, pieces=False),
    "everything": ProblemKnobs(clusters=16),
}
"""Kinds of random problems, by what they contain."""

STEPS = (0, 1, 10, 1000)
SMALL = ProblemKnobs(
    clusters=5, aligns=(4,), pools=("HBM",), pieces=False, fixed=False, owned=False,
    largest=60, capacities=False,
)  # fmt: skip
"""Problems small enough to try every order of first fit, which reaches the least peak."""


def assigner_conformance(
    assigner: type[Assigner] | Callable[[], Assigner] | str,
    *,
    plugin: PluginSpec = None,
    problems: int = 12,
    graphs: int = 6,
) -> type[Any]:
    """A suite of conformance tests for a memory assigner.

    `test_x = assigner_conformance(FirstFit)` is all of it.

    Args:
        assigner: a class or function that makes one, `"module:Class"`, or a registered name.
        plugin: the module that registers it, where that isn't installed.
        problems: random problems of each kind.
        graphs: random graphs that are compiled with it and proved.
    """
    label = assigner if isinstance(assigner, str) else assigner.__name__
    subject = _Subject(assigner, plugin, problems, graphs)
    return make_suite(AssignerSuite, label.rpartition(":")[2], subject)


@dataclass
class _Subject:
    assigner: Any
    plugin: PluginSpec
    problems: int
    graphs: int

    @cached_property
    def _found(self) -> tuple[Kernel, str]:
        kernel, _ = kernel_with(self.plugin)
        if isinstance(self.assigner, str) and ":" not in self.assigner:
            kernel.assigners.entry(self.assigner)
            return kernel, self.assigner
        staged = Registries()
        staged.assigners.add("assigner", self.assigner)
        return owned(kernel, staged), f"{UNDER_TEST.name}.assigner"

    @property
    def kernel(self) -> Kernel:
        """The kernel that has it."""
        return self._found[0]

    @property
    def name(self) -> str:
        """Its registered name."""
        return self._found[1]

    def __str__(self) -> str:
        if self.name == f"{UNDER_TEST.name}.assigner":
            return self.assigner if isinstance(self.assigner, str) else self.assigner.__name__
        return f"{self.name} ({self.kernel.assigners.entry(self.name).owner})"

    def to_json(self) -> dict[str, Any]:
        """What another process needs to find the assigner; `main` reads it.

        Raises:
            UsageError: it can't be imported, since a function defines it.
        """
        record: dict[str, Any] = {"problems": self.problems, **plugin_whereabouts(self.plugin)}
        if isinstance(self.assigner, str):
            return {**record, "name": self.assigner}
        return {**record, **whereabouts(self.assigner, str(self))}

    def offsets(self) -> list[list[int]]:
        """Its answers to a few problems of each kind."""
        return [
            list(self.assign(random_problem(seed, KINDS[kind])).offsets)
            for kind in KINDS
            for seed in range(min(4, self.problems))
        ]

    def assign(self, problem: MemoryProblem, budget: Budget | None = None) -> Placement:
        """A fresh assigner's answer. What it raises, but for `PlanError`, fails the test."""
        __tracebackhide__ = True
        problem.clear()
        try:
            answer = self.kernel.assigners.make(self.name).assign(problem, budget or Budget())
        except PlanError:
            raise
        except Exception as error:
            fail(f"{self} raised {type(error).__name__}: {error}", *told(problem))
        if not isinstance(answer, Placement):
            fail(f"{self} answered {answer!r}: answer a Placement, as problem.placement() does")
        return answer

    def every(self, kind: str) -> Iterator[MemoryProblem]:
        """The random problems of a kind."""
        for seed in range(self.problems):
            yield random_problem(seed, KINDS[kind])

    def check(self, problem: MemoryProblem, placement: Placement, about: str = "") -> None:
        """Fail for a placement that is not allowed."""
        __tracebackhide__ = True
        try:
            check_placement(problem, placement, str(self))
        except PlanError as error:
            fail(f"{self}: an invalid plan{about}", f"  {error}", *told(problem))
        for pool in problem.pools:
            peak, bound = placement.peak(problem, pool), problem.lower_bound(pool)
            if peak < bound:
                fail(f"{self}: a peak of {peak} bytes below the bound of {bound}", *told(problem))


def told(problem: MemoryProblem) -> list[str]:
    """A problem as lines of a message."""
    lines = [
        f"{c.name}: {c.size} bytes at multiples of {c.align} in {c.pool}, life"
        f" [{c.birth}, {c.death}]"
        + ("" if c.fixed is None else f", fixed at {c.fixed}")
        + (", the caller's" if c.owned else "")
        for c in problem.clusters
    ]
    return ["  problem:", indented("\n".join(lines) or "(no clusters)")]


class AssignerSuite(Suite):
    """What every memory assigner promises."""

    subject: ClassVar[_Subject]

    @plainly
    @pytest.mark.parametrize("kind", list(KINDS))
    def test_plans_are_valid(self, kind: str) -> None:
        """Every cluster has an allowed place, no peak is below the bound, no pool overflows."""
        for problem in self.subject.every(kind):
            try:
                placement = self.subject.assign(problem)
            except PlanError as error:
                fail(
                    f"{self.subject} gave up on a problem that can be met: {error}", *told(problem)
                )
            self.subject.check(problem, placement)

    @plainly
    def test_nothing_is_placed_nowhere(self) -> None:
        """A problem without clusters has a plan without offsets."""
        placement = self.subject.assign(MemoryProblem())
        if placement.offsets != ():
            fail(f"{self.subject}: {len(placement.offsets)} offsets for no clusters")

    @plainly
    def test_streams_are_respected(self) -> None:
        """Where several streams run, what may run at the same time shares no bytes."""
        for seed in range(self.subject.graphs):
            graph = random_graph(seed, GraphKnobs(nodes=16, streams=3))
            kernel = self.subject.kernel
            problem, _ = build_problem(graph, kernel.ops, kernel.target(None))
            self.subject.check(problem, self.subject.assign(problem), " for several streams")

    @plainly
    def test_what_can_not_be_met_ends(self) -> None:
        """For a pool that is too small it raises `PlanError`, or leaves that to the kernel's check.

        What it must not do is to answer with fewer or overlapping places.
        """
        buffers = [Buffer(f"b{at}", 64, 0, 9) for at in range(3)]
        problem = MemoryProblem([Cluster.of(b) for b in buffers], capacities={"HBM": 128})
        try:
            placement = self.subject.assign(problem)
        except PlanError:
            return
        problem.capacities = {}
        self.subject.check(problem, placement, " where a pool is too small")

    @plainly
    def test_equal_problems_give_equal_plans(self) -> None:
        """A fresh assigner answers the same, and one that has worked before does too."""
        subject = self.subject
        used = subject.kernel.assigners.make(subject.name)
        for kind in KINDS:
            for seed in range(min(4, subject.problems)):
                problem = random_problem(seed, KINDS[kind])
                first = subject.assign(problem)
                second = subject.assign(random_problem(seed, KINDS[kind]))
                third = used.assign(random_problem(seed, KINDS[kind]), Budget())
                if not first.offsets == second.offsets == third.offsets:
                    fail(
                        f"{subject} answers one problem in two ways:",
                        f"  {first.offsets}",
                        f"  {second.offsets}",
                        f"  {third.offsets} (by one that had worked before)",
                        *told(problem),
                    )

    @plainly
    def test_other_processes_give_equal_plans(self) -> None:
        """Another process, with another hash seed, answers the same."""
        subject = self.subject
        try:
            record = subject.to_json()
        except UsageError as error:
            skip(f"equal in this process; not tried in another one: {error.message}")
        here = subject.offsets()
        there = ask_elsewhere("ge_core.testing.assigner_suite", record, str(subject))
        for at, (one, other) in enumerate(zip(here, there, strict=True)):
            if one != other:
                each = min(4, subject.problems)
                problem = random_problem(at % each, KINDS[list(KINDS)[at // each]])
                fail(
                    f"{subject}: another process, with another hash seed, answers otherwise:",
                    f"  here:  {one}",
                    f"  there: {other}",
                    "  a set is iterated or hash() asked, probably: sort by the clusters' facts",
                    *told(problem),
                )

    @plainly
    def test_problems_are_left_alone(self) -> None:
        """Clusters, buffers, capacities and alignment are what they were."""
        for problem in self.subject.every("everything"):
            before = _facts(problem)
            self.subject.assign(problem)
            changed = [f"{a} became {b}" for a, b in zip(before, _facts(problem), strict=False)
                       if a != b]  # fmt: skip
            if changed or len(before) != len(_facts(problem)):
                fail(f"{self.subject} changed the problem: {(changed or ['a cluster'])[0]}")

    @plainly
    @pytest.mark.parametrize("steps", STEPS)
    def test_any_number_of_steps_will_do(self, steps: int) -> None:
        """With few steps the plan is valid still, and equal steps give equal plans."""
        for problem in self.subject.every("ordinary"):
            one = self.subject.assign(problem, Budget(steps=steps))
            other = self.subject.assign(problem, Budget(steps=steps))
            self.subject.check(problem, one, f" within {steps} steps")
            if one.offsets != other.offsets:
                fail(
                    f"{self.subject}: {steps} steps give two plans: {one.offsets} and"
                    f" {other.offsets}",
                    *told(problem),
                )

    @plainly
    def test_time_that_is_over_ends_the_search(self) -> None:
        """Told so, it asks a few times more at most; an answer cut short says that it is."""
        for problem in self.subject.every("ordinary"):
            free = self.subject.assign(problem)
            budget = _Counted(most := 50 * (len(problem.clusters) + 1))
            try:
                placement = self.subject.assign(problem, budget)
            except _StillSearching:
                fail(
                    f"{self.subject} goes on searching: asked {most} times whether its time was"
                    " over, and was told so each time",
                    *told(problem),
                )
            self.subject.check(problem, placement, " after its time was over")
            if placement.offsets != free.offsets and not placement.cut_short:
                fail(
                    f"{self.subject}: cut short by a time budget, and the placement doesn't say"
                    " so: give Placement(..., cut_short=budget.cut_short)",
                    *told(problem),
                )

    @plainly
    def test_optimal_means_optimal(self) -> None:
        """What it calls the least possible is: no order of first fit takes less."""
        for seed in range(self.subject.problems):
            problem = random_problem(seed, SMALL)
            placement = self.subject.assign(problem)
            self.subject.check(problem, placement)
            for pool in sorted(placement.optimal):
                peak, least = placement.peak(problem, pool), _least(problem)
                if peak > least:
                    fail(
                        f"{self.subject} calls {peak} bytes optimal, and {least} are enough",
                        *told(problem),
                    )

    @plainly
    def test_compiles_with_it_are_proved(self) -> None:
        """Random graphs, with control flow and on several streams."""
        subject = self.subject
        for seed in range(subject.graphs):
            graph = random_graph(seed, GraphKnobs(streams=1 + seed % 3))
            request = CompileRequest(assigner=subject.name)
            try:
                result = Compiler(subject.kernel).compile(clone(graph), request)
            except GeError as error:
                fail(f"{subject}: random_graph({seed}) can't be compiled: {error}")
            assert result.proof is not None
            if not result.proof.ok:
                fail(f"{subject}: random_graph({seed}): {result.proof.violations[0]}")


class _StillSearching(BaseException):
    """Ends an assigner that ignores its budget; no `Exception`, so that none catches it."""


class _Counted(Budget):
    """A budget whose time is over, and which counts how often it is asked."""

    __slots__ = ("_left",)

    def __init__(self, most: int) -> None:
        super().__init__(seconds=0.0)
        self._left = most

    def expired(self) -> bool:
        self.cut_short = True
        self._left -= 1
        if self._left < 0:
            raise _StillSearching
        return True


def _facts(problem: MemoryProblem) -> list[object]:
    return [
        ("align", problem.align),
        ("capacities", tuple(sorted(problem.capacities.items()))),
        *(
            (
                *(c.name, c.align, c.pool, c.fixed, c.owned, c.index),
                *((at, b.name, b.size, b.first, b.last) for at, b in c.pieces),
            )
            for c in problem.clusters
        ),
    ]


def _least(problem: MemoryProblem) -> int:
    peaks = []
    for order in permutations(problem.clusters):
        problem.clear()
        for cluster in order:
            problem.place(cluster, problem.lowest_free(cluster))
        peaks.append(problem.placement().peak(problem, "HBM"))
    problem.clear()
    return min(peaks, default=0)


def main() -> None:
    """Read a subject, and answer with its offsets: what another process is asked."""
    record = json.load(sys.stdin)
    plugin = find_plugin(record)
    assigner = record.get("name") or find(record)
    json.dump(_Subject(assigner, plugin, record["problems"], 0).offsets(), sys.stdout)


if __name__ == "__main__":
    main()
