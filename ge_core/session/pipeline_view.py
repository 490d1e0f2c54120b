"""Pipelines as people and programs look at them: the list, one in full, and two compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from ge_core.errors import UsageError
from ge_core.passes.levels import Level
from ge_core.passes.options import NOBODY_SET
from ge_core.passes.overlays import Overlay
from ge_core.passes.pass_options import changed_options
from ge_core.passes.pipeline_bases import listed_base
from ge_core.passes.pipeline_text import PassUse, PipelineText, print_pipeline_use, print_word
from ge_core.passes.pipelines import (
    GIVEN,
    TEXT,
    NamedPipeline,
    PackagedOverlay,
    PipelineRegistry,
)
from ge_core.passes.planning import NOT_WRITTEN, Schedule, Scheduled
from ge_core.passes.precedence import LEVEL
from ge_core.registry import Owner, kernel_owner
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.session.scheduling import CONFIGURED, schedule_for

NOBODYS: Final = "-"


def list_pipelines(pipelines: PipelineRegistry) -> list[dict[str, Any]]:
    """Levels, level sets and pipelines as the items of `ge-pipelines/1`; no form is checked."""
    rows = [_row(str(level), kernel_owner(), "level") for level in Level]
    for entry in pipelines.levels.entries():
        rows.append(_row(entry.name, entry.owner, "level", base=entry.value))
    for found in pipelines.entries():
        rows.append(_pipeline_row(found.name, found.owner, found.value, pipelines))
    for name, owners in pipelines.contested.items():
        contested = [str(owner) for owner in owners]
        rows.append({**_row(name, None, "contested"), "contested": contested})
    # The kernel's levels keep their order in front.
    return rows[: len(Level)] + sorted(rows[len(Level) :], key=lambda row: str(row["name"]))


def _row(name: str, owner: Owner | None, kind: str, **facts: str | None) -> dict[str, Any]:
    return {
        "name": name,
        "owner": NOBODYS if owner is None else owner.distribution,
        "version": None if owner is None else owner.version,
        "kind": kind,
        "base": None,
        "target": None,
        "origin": None,
        "summary": "",
        "contested": [],
        **facts,
    }


def _pipeline_row(
    name: str, owner: Owner, value: Any, pipelines: PipelineRegistry
) -> dict[str, Any]:
    if isinstance(value, PipelineText):
        return _row(name, owner, "text")
    if isinstance(value, PackagedOverlay):
        facts = {"base": listed_base(value, pipelines), "target": value.text("target")}
        summary = value.text("summary") or ""
        return _row(name, owner, "overlay", **facts, origin=value.source.origin, summary=summary)
    assert isinstance(value, Overlay)
    return _row(
        name,
        owner,
        "overlay",
        base=listed_base(value, pipelines),
        target=value.target,
        origin=value.origin or None,
        summary=value.summary,
    )


@dataclass(frozen=True)
class Shown:
    """A pipeline that was asked for, and what it runs.

    Attributes:
        kind: level, overlay or text.
        origin: whose it is, or where it was given.
    """

    name: str
    kind: str
    origin: str
    schedule: Schedule

    def to_json(self) -> dict[str, Any]:
        """The document `ge-pipeline/1`."""
        schedule = self.schedule
        return {
            "schema": "ge-pipeline/1",
            "name": self.name,
            "kind": self.kind,
            "origin": self.origin,
            "level": schedule.level.name,
            "target": self.target,
            "text": str(schedule.text()),
            "passes": [_step(step, schedule) for step in schedule.passes],
            "off": [
                {"name": name, "because": _because(schedule, name)} for name in self.switched_off()
            ],
            "options": [
                {"name": name, "value": value, "source": source}
                for name, value, source in self.options()
            ],
            "warnings": list(schedule.warnings),
        }

    @property
    def target(self) -> str | None:
        """The name of the target in force, None where nobody named one."""
        schedule = self.schedule
        return None if schedule.target is None or not schedule.device else schedule.device.name

    def switched_off(self) -> list[str]:
        """Passes that somebody switched off by name; a text says enough by leaving them out."""
        decisions = self.schedule.decisions.values()
        found = [d for d in decisions if d.explicit and not d.runs]
        return [d.name for d in found if d.because[0].rule != NOT_WRITTEN]

    def options(self) -> list[tuple[str, str, str]]:
        """Name, value and source of the options that somebody set, the level apart."""
        values = self.schedule.options.values
        return [
            (name, found.value, found.source)
            for name, found in sorted(values.items())
            if found.rank < NOBODY_SET and name != LEVEL
        ]

    def lines(self) -> list[str]:
        """What people read."""
        schedule = self.schedule
        lines = [f"{self.name}: {self.kind}, {self.origin}", f"  level   {schedule.level.name}"]
        if self.target is not None:
            lines.append(f"  target  {self.target}")
        for place, steps in groupby(schedule.passes, key=lambda step: step.place):
            lines += [str(place), *_step_lines(list(steps), schedule)]
        for title, facts in (
            ("switched off", [(name, _why(schedule, name)) for name in self.switched_off()]),
            (
                "options",
                [(f"{n}={print_word(value)}", source) for n, value, source in self.options()],
            ),
        ):
            if facts:
                lines += [title, *_columns([(f"  {first}", why) for first, why in facts])]
        return lines


def show_pipeline(kernel: Kernel, what: str | None, request: CompileRequest) -> Shown:
    """A level, or a pipeline by name, file or text; what a plain compile runs for None.

    Raises:
        UsageError: another level is asked for than the one to show.
        GeError: what `schedule_for` raises.
    """
    pipelines = kernel.registries.pipelines
    level = None if what is None else pipelines.levels.current(what)[0]
    if level is not None and (level in set(Level) or level in pipelines.levels):
        if request.level not in (None, what):
            raise UsageError(f"level {request.level!r} is asked for, and {what!r} is to be shown")
        at_level = replace(request, level=what, pipeline=None)
        schedule = schedule_for(kernel, at_level, plain=True)
        return Shown(str(what), "level", _whose_level(kernel, level), schedule)
    schedule = schedule_for(kernel, request if what is None else replace(request, pipeline=what))
    named = schedule.named
    if named is None:
        name = schedule.pipeline
        return Shown(name, "level", _whose_level(kernel, name), schedule)
    kind = "text" if isinstance(named.value, PipelineText) else "overlay"
    return Shown(named.name, kind, _origin(kernel, named), schedule)


def _origin(kernel: Kernel, named: NamedPipeline) -> str:
    if named.name in kernel.registries.pipelines or named.name != TEXT:
        return named.origin
    return "given" if named.origin == GIVEN else CONFIGURED


def _whose_level(kernel: Kernel, level: str) -> str:
    levels = kernel.registries.pipelines.levels
    return str(levels.entry(level).owner if level in levels else kernel_owner())


def _step(step: Scheduled, schedule: Schedule) -> dict[str, Any]:
    owner, repeat = step.declaration.owner, step.repeat
    return {
        "name": step.name,
        "owner": owner.distribution,
        "version": owner.version,
        "stage": str(step.place),
        "options": changed_options(step.declaration, step.options),
        "repeat": None if repeat is None else {"id": repeat.id, "limit": repeat.limit},
        "because": _because(schedule, step.name),
    }


def _because(schedule: Schedule, name: str) -> list[Mapping[str, str]]:
    return [reason.to_json() for reason in schedule.decisions[name].because]


def _why(schedule: Schedule, name: str) -> str:
    reason = schedule.decisions[name].because[0]
    return f"{reason.source}: {reason.rule}: {reason.value}"


def _step_lines(steps: list[Scheduled], schedule: Schedule) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for repeat, group in groupby(steps, key=lambda step: step.repeat):
        indent = "  " if repeat is None else "    "
        if repeat is not None:
            rows.append((f"  until nothing changes, at most {repeat.limit} times",))
        for step in group:
            options = changed_options(step.declaration, step.options)
            written = print_pipeline_use(PassUse(step.name, tuple(options.items())))
            owner = str(step.declaration.owner)
            rows.append((indent + written, owner, _why(schedule, step.name)))
    return _columns(rows)


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Aligned; a row of one cell is as wide as it is."""
    full = [row for row in rows if len(row) > 1]
    widths = [max(len(row[at]) for row in full) for at in range(len(full[0]) - 1)] if full else []
    lines = []
    for row in rows:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*padded, *row[len(widths) :]]) if len(row) > 1 else row[0])
    return lines
