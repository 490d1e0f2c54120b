"""What differs between two schedules, line by line: what `ge pipeline diff` prints."""

from __future__ import annotations

from difflib import SequenceMatcher

from ge_core.passes.pass_options import changed_options
from ge_core.passes.planning import Schedule, Scheduled


def diff_schedules(base: Schedule, other: Schedule) -> list[str]:
    """Lines: `-` only in the base, `+` only in the other, `~` in both and elsewhere or otherwise.

    Empty where both run the same passes in the same order with the same options in force.
    """
    return [*_passes(base, other), *_options(base, other)]


def _passes(base: Schedule, other: Schedule) -> list[str]:
    old, new = ([step.name for step in schedule.passes] for schedule in (base, other))
    kept: set[str] = set()
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        kept.update(old[block.a : block.a + block.size])
    before = {step.name: step for step in base.passes}
    after = {step.name: step for step in other.passes}
    lines = [f"- {_shown(step)}" for step in base.passes if step.name not in after]
    for at, step in enumerate(other.passes):
        known = before.get(step.name)
        where = f"after {other.passes[at - 1].name}" if at else "first"
        if known is None:
            lines.append(f"+ {_shown(step)}, {where}")
        elif known.place != step.place or step.name not in kept:
            lines.append(f"~ {_shown(step)}, {where}")
        elif known.options != step.options:
            lines.append(f"~ {_shown(known)} -> {_shown(step)}")
    return lines


def _shown(step: Scheduled) -> str:
    options = changed_options(step.declaration, step.options)
    written = ",".join(f"{name}={value}" for name, value in options.items())
    return f"{step.name}{{{written}}} ({step.place})" if written else f"{step.name} ({step.place})"


def _options(base: Schedule, other: Schedule) -> list[str]:
    old, new = base.options.as_dict(), other.options.as_dict()
    lines = []
    for name in sorted({*old, *new}):
        if old.get(name) == new.get(name):
            continue
        if name not in new:
            lines.append(f"- {name}={old[name]}")
        elif name not in old:
            lines.append(f"+ {name}={new[name]}")
        else:
            lines.append(f"~ {name}={old[name]} -> {new[name]}")
    return lines
