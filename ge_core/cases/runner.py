"""Runs one case: its passes and steps in order, then every expectation."""

from __future__ import annotations

from dataclasses import replace

from ge_core.cases.graph_checks import GRAPH_CHECKS
from ge_core.cases.model import Case, CaseResult, Failure
from ge_core.cases.outcome import Outcome
from ge_core.cases.plan_checks import PLAN_CHECKS
from ge_core.cases.registry_case import RegistryCase
from ge_core.cases.registry_runner import run_registry_case
from ge_core.cases.steps import STEPS
from ge_core.errors import GeError, near_matches
from ge_core.passes.base import AnalysisPass
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import Schedule, Scheduled, plan_passes
from ge_core.passes.precedence import ARGUMENTS, STRICT, Source
from ge_core.session.kernel import Kernel

TARGET = "ascend"
INFORMATION = frozenset({"error", "target_peak_bytes", "ge_also_forbids"})
"""Keys that no check of their own looks at: errors are checked first, the others only inform."""


_MISREAD = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


def run_case(case: Case, kernel: Kernel) -> CaseResult:
    """Run a case on GE's target with GE's tolerant reading of options, unless it says otherwise.

    Those of the family `pass_registry` plan passes only, on no target, and read strictly.
    """
    try:
        if isinstance(case, RegistryCase):
            return run_registry_case(case, kernel.catalog)
        return _run_compiled(case, kernel)
    except _MISREAD as error:
        # An expectation or a graph of other types than the schema says; the next case may be fine.
        got = f"{type(error).__name__}: {error}"
        return CaseResult(case, [Failure("a case as its schema says", got)])


def _run_compiled(case: Case, kernel: Kernel) -> CaseResult:
    result = CaseResult(case)
    expected = case.expect.get("error")
    outcome: Outcome | None = None
    try:
        outcome = run_outcome(case, kernel)
    except GeError as error:
        result.error = error
        got = f"{type(error).__name__}: {error}"
        if expected is None or str(expected) not in type(error).__name__:
            result.failures.append(Failure(f"error {expected}" if expected else "no error", got))
        return result
    if expected is not None:
        result.failures.append(Failure(f"error {expected}", "no error"))
        return result
    for key, wanted in case.expect.items():
        check = GRAPH_CHECKS.get(key) or PLAN_CHECKS.get(key)
        if check is not None:
            result.failures.extend(check(wanted, outcome))
        elif key not in INFORMATION:
            near = ", ".join(near_matches(key, [*GRAPH_CHECKS, *PLAN_CHECKS, *INFORMATION]))
            result.failures.append(Failure(f"{key}: {wanted!r}", f"no such check; near: {near}"))
    return result


def run_outcome(case: Case, kernel: Kernel) -> Outcome:
    """What the pipeline of a case leaves; raises `GeError` where it fails."""
    graph = case.build()
    options = {STRICT: "false", **case.options}
    schedule = plan_passes(kernel.catalog, [Source(ARGUMENTS, options, origin=str(case.path))])
    target = kernel.registries.targets.select(TARGET)
    outcome = Outcome(graph, case.query)
    for name in case.pipeline:
        if name in STEPS:
            STEPS[name](outcome, kernel, schedule, target)
            continue
        environment = kernel.environment(graph, schedule, target)
        environment.remarks = outcome.remarks
        only = replace(schedule, passes=_only(name, kernel, schedule))
        mark = outcome.remarks.mark()
        report = PassManager(only, environment, verify_each=True, audit=True).run()
        for run in report.passes:
            if "conflicts" in run.counters:
                outcome.conflict = run.counters["conflicts"] > 0
        if any(issubclass(step.declaration.load(), AnalysisPass) for step in only.passes):
            said = outcome.remarks.since(mark)
            outcome.conflict = any(remark.pass_name == name for remark in said)
    return outcome


def _only(name: str, kernel: Kernel, schedule: Schedule) -> tuple[Scheduled, ...]:
    """The pass of that name where level and switches let it run; an unknown name is an error."""
    kernel.registries.passes.get(name)
    return tuple(step for step in schedule.passes if step.name == name)
