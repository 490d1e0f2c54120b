"""What differs between two schedules: what `ge pipeline diff` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from ge_core.passes.pass_options import changed_options
from ge_core.passes.pipeline_text import PassUse, print_pipeline_use, print_word
from ge_core.passes.planning import Schedule, Scheduled

Key = tuple[str, int]
"""A pass, and which of its occurrences."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs.

    Attributes:
        change: in the other only, in the base only, in both and elsewhere, or in both otherwise.
        kind: of thing.
        before, after: the pass as it is written and placed, or the value, in the base and in the
            other; None where it isn't.
        where: behind which pass it stands in the other, empty for the first; None where that says
            nothing.
    """

    change: Literal["added", "removed", "moved", "changed"]
    kind: Literal["pass", "option", "target"]
    name: str
    before: str | None = None
    after: str | None = None
    where: str | None = None

    def __str__(self) -> str:
        """The line that people read."""
        place = "" if self.where is None else f", after {self.where}" if self.where else ", first"
        before, after = self._shown(self.before), self._shown(self.after)
        if self.change == "removed":
            return f"- {before}"
        if self.change == "changed":
            value = after if self.kind == "pass" else print_word(self.after or "")
            return f"~ {before} -> {value}"
        return f"{'+' if self.change == 'added' else '~'} {after}{place}"

    def _shown(self, value: str | None) -> str:
        if value is None or self.kind == "pass":
            return value or ""
        return f"target {value}" if self.kind == "target" else f"{self.name}={print_word(value)}"

    def to_json(self) -> dict[str, str | None]:
        """The record of `ge-pipeline-diff/1`."""
        return {
            "change": self.change,
            "kind": self.kind,
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "where": self.where,
        }


def compare_schedules(base: Schedule, other: Schedule) -> list[Difference]:
    """The differences: passes in order, then options in force by name, then the target.

    Empty where both run the same passes in the same order and places with the same options.
    """
    return [*_passes(base, other), *_options(base, other), *_targets(base, other)]


def diff_schedules(base: Schedule, other: Schedule) -> list[str]:
    """The differences as lines: `-` only in the base, `+` only in the other, `~` in both."""
    return [str(difference) for difference in compare_schedules(base, other)]


def _passes(base: Schedule, other: Schedule) -> Iterator[Difference]:
    before, after = _steps(base), _steps(other)
    old, new = list(before), list(after)
    kept: set[Key] = set()
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        kept.update(old[block.a : block.a + block.size])
    for key in old:
        if key not in after:
            yield Difference("removed", "pass", key[0], before=before[key].shown)
    for at, key in enumerate(new):
        where = new[at - 1][0] if at else ""
        step, known = after[key], before.get(key)
        if known is None:
            yield Difference("added", "pass", key[0], after=step.shown, where=where)
        elif known.place != step.place or key not in kept:
            yield Difference("moved", "pass", key[0], known.shown, step.shown, where)
        elif known != step:
            yield Difference("changed", "pass", key[0], known.shown, step.shown)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step as it is compared: its options, place, and the repeat that it is part of."""

    written: str
    place: str
    repeat: str

    @property
    def shown(self) -> str:
        tail = f" in {self.repeat}" if self.repeat else ""
        return f"{self.written} ({self.place}){tail}"


def _steps(schedule: Schedule) -> Mapping[Key, _Step]:
    found: dict[Key, _Step] = {}
    counts: Counter[str] = Counter()
    for repeat, group in groupby(schedule.passes, key=lambda step: step.repeat):
        steps = list(group)
        names = ",".join(step.name for step in steps)
        shown = "" if repeat is None else f"repeat{{limit={repeat.limit}}}({names})"
        for step in steps:
            found[step.name, counts[step.name]] = _Step(_written(step), str(step.place), shown)
            counts[step.name] += 1
    return found


def _written(step: Scheduled) -> str:
    options = changed_options(step.declaration, step.options)
    return print_pipeline_use(PassUse(step.name, tuple(options.items())))


def _options(base: Schedule, other: Schedule) -> Iterator[Difference]:
    old, new = base.options.as_dict(), other.options.as_dict()
    for name in sorted({*old, *new}):
        yield from _value("option", name, old.get(name), new.get(name))


def _targets(base: Schedule, other: Schedule) -> Iterator[Difference]:
    yield from _value("target", "target", base.target, other.target)


def _value(
    kind: Literal["option", "target"], name: str, before: str | None, after: str | None
) -> Iterator[Difference]:
    if before == after:
        return
    change: Literal["added", "removed", "changed"] = "changed"
    if before is None or after is None:
        change = "added" if before is None else "removed"
    yield Difference(change, kind, name, before, after)
