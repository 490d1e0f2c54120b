"""Expectations of the family `pass_registry`: one function per key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ge_core.cases.model import Failure
from ge_core.errors import GeError
from ge_core.passes.pass_options import write_value
from ge_core.passes.planning import Schedule

ScheduleCheck = Callable[[Any, Schedule], Iterator[Failure]]
ErrorCheck = Callable[[Any, GeError], Iterator[Failure]]


def _runs(names: list[str], schedule: Schedule) -> Iterator[Failure]:
    """All passes that run, in order."""
    got = [step.name for step in schedule.passes]
    if got != names:
        yield Failure(f"runs {_listed(names)}", f"runs {_listed(got)}")


def _includes(names: list[str], schedule: Schedule) -> Iterator[Failure]:
    """Passes that run, in this order, among others."""
    got = [step.name for step in schedule.passes if step.name in names]
    if got != names:
        yield Failure(f"runs {_listed(names)}, among others", f"of these runs {_listed(got)}")


def _off(names: list[str], schedule: Schedule) -> Iterator[Failure]:
    """Passes that are there and don't run."""
    for name in names:
        decision = schedule.decisions.get(name)
        if decision is None or decision.runs:
            yield Failure(f"{name} is off", "there is none" if decision is None else "it runs")


def _because(wanted: Mapping[str, list[str]], schedule: Schedule) -> Iterator[Failure]:
    """Per pass the chain of decisions as `ge passes why` prints it, the strongest first."""
    for name, chain in wanted.items():
        decision = schedule.decisions.get(name)
        steps = () if decision is None else decision.because
        got = [f"{step.source}: {step.rule}: {step.value}" for step in steps]
        if got != chain:
            yield Failure(f"{name}: {_listed(chain)}", _listed(got))


def _values(wanted: Mapping[str, str | None], schedule: Schedule) -> Iterator[Failure]:
    """Values in force; null where an option is absent."""
    for name, value in wanted.items():
        got = schedule.options.get(name)
        if got != value:
            yield Failure(f"{name} is {value!r}", f"it is {got!r}")


def _set_by(wanted: Mapping[str, str], schedule: Schedule) -> Iterator[Failure]:
    """Who gave the value in force."""
    for name, source in wanted.items():
        got = schedule.options.source(name)
        if got != source:
            yield Failure(f"{name} is set by {source}", f"it is by {got}")


def _pass_options(wanted: Mapping[str, str], schedule: Schedule) -> Iterator[Failure]:
    """Options of passes that run, `Pass.field`, as texts; null where the default holds."""
    for path, value in wanted.items():
        name, _, option = path.rpartition(".")
        steps = [step for step in schedule.passes if step.name == name]
        got = (
            write_value(steps[0].options[option]) if steps and option in steps[0].options else None
        )
        if got != value:
            yield Failure(f"{path} is {value!r}", f"it is {got!r}")


def _level(wanted: list[str], schedule: Schedule) -> Iterator[Failure]:
    """The working level, and what it extends, down to one of the kernel's."""
    if list(schedule.level.chain) != wanted:
        yield Failure(f"level {_listed(wanted)}", _listed(schedule.level.chain))


def _pipeline(wanted: str, schedule: Schedule) -> Iterator[Failure]:
    """The name of the pipeline in force."""
    if schedule.pipeline != wanted:
        yield Failure(f"pipeline {wanted}", schedule.pipeline)


def _text(wanted: str, schedule: Schedule) -> Iterator[Failure]:
    """The schedule as a pipeline text."""
    got = str(schedule.text())
    if got != wanted:
        yield Failure(wanted, got)


def _warnings(wanted: list[str], schedule: Schedule) -> Iterator[Failure]:
    """All warnings in order, each by words that stand in it."""
    got = list(schedule.warnings)
    for words, warning in zip(wanted, got, strict=False):
        if words not in warning:
            yield Failure(f"a warning with {words!r}", repr(warning))
    if len(got) != len(wanted):
        yield Failure(f"{len(wanted)} warnings", "; ".join(got) or "none")


SCHEDULE_CHECKS: Final[Mapping[str, ScheduleCheck]] = {
    "runs": _runs,
    "includes": _includes,
    "off": _off,
    "because": _because,
    "values": _values,
    "set_by": _set_by,
    "pass_options": _pass_options,
    "level": _level,
    "pipeline": _pipeline,
    "text": _text,
    "warnings": _warnings,
}


def _error(wanted: str, error: GeError) -> Iterator[Failure]:
    """The class of the error."""
    if type(error).__name__ != wanted:
        yield Failure(f"error {wanted}", _shown(error))


def _code(wanted: str, error: GeError) -> Iterator[Failure]:
    """Its code."""
    if error.code != wanted:
        yield Failure(f"code {wanted}", _shown(error))


def _words(wanted: list[str], error: GeError) -> Iterator[Failure]:
    """Words that its message has: the value, the option, who gave it, what is near, whose it is."""
    for words in wanted:
        if words not in str(error):
            yield Failure(f"an error with {words!r}", _shown(error))


ERROR_CHECKS: Final[Mapping[str, ErrorCheck]] = {"error": _error, "code": _code, "words": _words}


def _shown(error: GeError) -> str:
    return f"{type(error).__name__} {error.code}: {error}"


def _listed(items: Sequence[str]) -> str:
    return "[" + ", ".join(items) + "]"
