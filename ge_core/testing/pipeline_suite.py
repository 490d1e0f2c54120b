"""`pipeline_conformance` and `target_conformance`: what vendors compose must plan and be proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from ge_core.errors import GeError
from ge_core.passes.levels import Level
from ge_core.passes.planning import Schedule, plan_passes
from ge_core.session.compiler import Compiler
from ge_core.session.execution import make_executor
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result
from ge_core.session.scheduling import schedule_for
from ge_core.testing.examining import document, execute_and_compare
from ge_core.testing.kernels import PluginSpec, kernel_with, quick_assigner
from ge_core.testing.random_graphs import GraphKnobs
from ge_core.testing.samples import (
    Graphs,
    Sample,
    given_samples,
    odd_samples,
    random_samples,
    recipes,
)
from ge_core.testing.suite import Suite, fail, make_suite, plainly, skip


def pipeline_conformance(
    pipeline: str | Path,
    *,
    plugin: PluginSpec = None,
    options: Mapping[str, str] | None = None,
    graphs: Graphs = None,
    knobs: GraphKnobs | None = None,
    executor: str | None = "numpy",
    samples: int = 8,
) -> type[Any]:
    """A suite of conformance tests for a pipeline.

    `test_x = pipeline_conformance("acme-npu")` is all of it.

    Args:
        pipeline: a registered name, a text, a TOML file, or a level.
        plugin: the module that registers it, where that isn't installed.
        options: GE options, as texts.
        graphs, knobs, samples: what is compiled with it.
        executor: who executes; None leaves that test out, and the report says so.
    """
    given = CompileRequest(options=dict(options or {}))
    subject = _Subject(str(pipeline), "pipeline", given, plugin, graphs, knobs, executor, samples)
    return make_suite(PipelineSuite, Path(str(pipeline)).stem, subject)


def target_conformance(
    target: str | Path,
    *,
    plugin: PluginSpec = None,
    options: Mapping[str, str] | None = None,
    graphs: Graphs = None,
    knobs: GraphKnobs | None = None,
    executor: str | None = "numpy",
    samples: int = 8,
) -> type[Any]:
    """A conformance suite for a target, a name or TOML file; as `pipeline_conformance`."""
    given = CompileRequest(options=dict(options or {}))
    subject = _Subject(str(target), "target", given, plugin, graphs, knobs, executor, samples)
    return make_suite(TargetSuite, Path(str(target)).stem, subject)


@dataclass
class _Subject:
    name: str
    kind: Literal["pipeline", "target"]
    given: CompileRequest
    plugin: PluginSpec
    graphs: Graphs
    knobs: GraphKnobs | None
    executor: str | None
    count: int
    made: list[tuple[Sample, Result]] = field(default_factory=list)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel that has it."""
        return kernel_with(self.plugin)[0]

    @cached_property
    def request(self) -> CompileRequest:
        """How everything is compiled."""
        given = replace(self.given, assigner=quick_assigner(self.kernel))
        if self.kind == "target":
            return replace(given, target=self.name)
        if self.name in list(Level) or self.name in self.kernel.registries.pipelines.levels:
            return replace(given, level=self.name)
        return replace(given, pipeline=self.name)

    @cached_property
    def schedule(self) -> Schedule:
        """What runs."""
        return schedule_for(self.kernel, self.request)

    @cached_property
    def samples(self) -> list[Sample]:
        """What is compiled."""
        if self.graphs is not None:
            return given_samples(self.graphs, self.count)
        found = random_samples(self.knobs or GraphKnobs(), self.count)
        return found + odd_samples(recipes(["Cast"], self.kernel.ops))

    def results(self) -> list[tuple[Sample, Result]]:
        """Every sample, compiled. Fails the test where one can't be."""
        __tracebackhide__ = True
        if not self.made:
            for sample in self.samples:
                try:
                    result = Compiler(self.kernel).compile(sample.fresh(), self.request)
                except GeError as error:
                    fail(f"{self.name}: {sample.name} can't be compiled: {error}")
                self.made.append((sample, result))
        return self.made


class _Compiling(Suite):
    """What holds for everything that is compiled with."""

    subject: ClassVar[_Subject]

    @plainly
    def test_compiles_are_proved(self) -> None:
        """Random graphs and odd ones."""
        for sample, result in self.subject.results():
            assert result.proof is not None
            if not result.proof.ok:
                fail(
                    f"{self.subject.name}: the proof refuses {sample.name}",
                    f"  {result.proof.violations[0]}",
                    f"  the graph: {sample.again or sample.name}",
                )

    @plainly
    def test_compiled_graphs_compute_the_same(self) -> None:
        """Executed in their arenas, bit by bit."""
        if self.subject.executor is None:
            skip("executor=None leaves execution out")
        runner = make_executor(self.subject.executor)
        for sample, result in self.subject.results():
            problem = execute_and_compare(result, runner)
            if problem:
                fail(f"{self.subject.name}: {sample.name}", f"  {problem}")

    @plainly
    def test_equal_graphs_give_equal_bytes(self) -> None:
        """Two compiles give one document."""
        for sample, result in self.subject.results()[:4]:
            again = Compiler(self.subject.kernel).compile(sample.fresh(), self.subject.request)
            if document(again) != document(result):
                fail(f"{self.subject.name}: two compiles of {sample.name} differ")


class PipelineSuite(_Compiling):
    """What every pipeline promises."""

    @plainly
    def test_it_can_be_planned(self) -> None:
        """Its passes are there, its constraints can be met, and something runs; twice the same."""
        schedule = self.subject.schedule
        if not schedule.passes:
            fail(f"pipeline {self.subject.name} runs no pass")
        again = schedule_for(self.subject.kernel, self.subject.request)
        if str(again.text()) != str(schedule.text()):
            fail(f"planned twice, pipeline {self.subject.name} runs other passes")

    @plainly
    def test_it_prints_what_parses_back(self) -> None:
        """Its text runs the same passes, in the same order and places, with the same options."""
        schedule = self.subject.schedule
        text = str(schedule.text())
        sources = [self.subject.request.source(), *self.subject.kernel.sources]
        parsed = plan_passes(self.subject.kernel.catalog, sources, text, exact=True)
        if str(parsed.text()) != text:
            fail(
                f"pipeline {self.subject.name} doesn't print what parses back:",
                f"  it prints  {text}",
                f"  that gives {parsed.text()}",
            )

    @plainly
    def test_it_warns_of_nothing(self) -> None:
        """What it changes is there; nothing in it is old."""
        if self.subject.schedule.warnings:
            fail(f"pipeline {self.subject.name}: {self.subject.schedule.warnings[0]}")


class TargetSuite(_Compiling):
    """What every target promises."""

    @plainly
    def test_it_is_described(self) -> None:
        """Listings say what it is."""
        target = self.subject.kernel.target(self.subject.request.target)
        if not target.about.strip():
            fail(f"target {target.name} has no line about it: Target(..., about='...')")

    @plainly
    def test_plans_keep_its_alignment(self) -> None:
        """Whatever is placed on its own starts at a multiple of the target's alignment."""
        target = self.subject.kernel.target(self.subject.request.target)
        for sample, result in self.subject.results():
            for tensor in result.plan.tensors:
                free = tensor.alias_of is None and tensor.run is None and tensor.bytes
                if free and tensor.offset % target.align_bytes:
                    fail(
                        f"target {target.name}: {tensor.node}:{tensor.output} of {sample.name} lies"
                        f" at {tensor.offset}, no multiple of {target.align_bytes}"
                    )
