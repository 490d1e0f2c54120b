"""What an overlay may not say: two changes that contradict each other, or say the same twice.

Changes of different overlays never contradict: what is included comes first, and the outer one
wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from ge_core.errors import GeError, InputFileError, UsageError
from ge_core.passes.overlays import Change, Overlay, RepeatChange, StageChange
from ge_core.passes.sources import LEVEL, SWITCH

_VALUES = {"on": "on", "true": "on", "off": "off", "false": "off"}


@dataclass(frozen=True)
class _Said:
    """One thing that is said of a pass: where, in which words, and whether it runs then."""

    what: str
    line: int
    runs: bool | None


def check_overlay(overlay: Overlay) -> None:
    """Whether an overlay contradicts itself.

    Raises:
        InputFileError: it does, and was read from a file; names file and both lines.
        UsageError: it does, and was made in Python.
    """
    _check_types(overlay)
    for inner in overlay.include:
        if isinstance(inner, Overlay):
            check_overlay(inner)
    for change in (*overlay.add, *overlay.reorder, *overlay.replace):
        _check_change(overlay, change)
    said: dict[str, list[_Said]] = {}
    for name, one in _all_said(overlay):
        said.setdefault(name, []).append(one)
    for name, all_of_it in said.items():
        for old, new in combinations(sorted(all_of_it, key=lambda one: one.line), 2):
            if new.what == old.what:
                raise _error(overlay, new.line, f"pass {name!r} is {new.what} twice", old)
            if _contradict(old, new):
                problem = f"pass {name!r} is {old.what} and {new.what}"
                raise _error(overlay, new.line, problem, old)
    _check_order(overlay)
    _check_places(overlay)
    _check_settings(overlay)


_PARTS = {
    "add": Change,
    "remove": Change,
    "replace": Change,
    "reorder": Change,
    "stages": StageChange,
    "repeat": RepeatChange,
}


def _check_types(overlay: Overlay) -> None:
    """What only an overlay made in Python can have wrong."""
    for key in ("base", "target", "summary", "origin"):
        text: object = getattr(overlay, key)
        if not (isinstance(text, str) or (text is None and key in ("base", "target"))):
            raise _wrong(overlay, f"{key} is {text!r}, which is no text")
    for part, kind in _PARTS.items():
        members: object = getattr(overlay, part)
        if not isinstance(members, (tuple, list)):
            raise _error(overlay, 0, f"{part} is {members!r}, not a tuple")
        for member in members:
            if not isinstance(member, kind):
                raise _error(overlay, 0, f"{part} has {member!r}, which is no {kind.__name__}")
    for change in overlay.replace:
        if not change.replacement:
            raise _error(overlay, change.line, f"{change.name!r} is replaced with nothing")
    if not isinstance(overlay.include, (tuple, list)):
        raise _wrong(overlay, f"include is {overlay.include!r}, not a tuple")
    included: tuple[object, ...] = tuple(overlay.include)
    for what in included:
        if not isinstance(what, (str, Overlay)):
            raise _wrong(overlay, f"include has {what!r}, which is no text or Overlay")
    for name, value in overlay.settings.items():
        if not isinstance(value, str):
            raise _error(overlay, 0, f"option {name!r} is set to {value!r}, which is no text")


def _wrong(overlay: Overlay, problem: str) -> GeError:
    return UsageError(f"pipeline {overlay.name!r}: {problem}")


def _contradict(old: _Said, new: _Said) -> bool:
    if old.runs is None or new.runs is None:
        # Moved, repeated: that needs it to run, and one place.
        moved = {"added", "reordered"} == {old.what, new.what}
        return moved or False in (old.runs, new.runs)
    return old.runs != new.runs or {"removed", "replaced"} == {old.what, new.what}


def _all_said(overlay: Overlay) -> Iterator[tuple[str, _Said]]:
    for what, changes, runs in (
        ("added", overlay.add, True),
        ("removed", overlay.remove, False),
        ("replaced", overlay.replace, False),
        ("reordered", overlay.reorder, None),
    ):
        for change in changes:
            yield change.name, _Said(what, change.line, runs)
            if change.replacement is not None:
                what_for = f"put in the place of {change.name!r}"
                yield change.replacement, _Said(what_for, change.line, True)
    for repeat in overlay.repeat:
        for name in repeat.passes:
            yield name, _Said("repeated", repeat.line, None)
    for name, value in overlay.settings.items():
        line = overlay.lines.get(f"set.{name}", 0)
        if value in _VALUES:
            # A name that is none of a pass meets no change below.
            yield name, _Said(f"set {_VALUES[value]}", line, _VALUES[value] == "on")
        if name == SWITCH:
            for token in value.split(";"):
                switched, _, text = token.partition(":")
                if switched and text in ("on", "off"):
                    yield switched, _Said(f"switched {text} by {SWITCH}", line, text == "on")


def _check_change(overlay: Overlay, change: Change) -> None:
    both = sorted(set(change.before) & set(change.after))
    if both:
        raise _error(overlay, change.line, f"pass {change.name!r} is before and after {both[0]!r}")
    if change.name in (*change.before, *change.after, change.replacement):
        problem = f"pass {change.name!r} has its place by itself"
        if change.replacement is not None:
            problem = f"pass {change.name!r} is replaced with itself"
        raise _error(overlay, change.line, problem)


def _check_order(overlay: Overlay) -> None:
    """Two changes about the same two passes; longer circles are found when passes are ordered."""
    lines: dict[tuple[str, str], int] = {}
    for change in sorted((*overlay.add, *overlay.reorder), key=lambda change: change.line):
        pairs = [(change.name, other) for other in change.before]
        pairs += [(other, change.name) for other in change.after]
        for first, second in pairs:
            if (second, first) in lines:
                old = _Said("", lines[second, first], None)
                problem = f"pass {first!r} is before {second!r}, and the other way round"
                raise _error(overlay, change.line, problem, old)
            lines[first, second] = change.line


def _check_places(overlay: Overlay) -> None:
    stages: dict[str, int] = {}
    for change in overlay.stages:
        name = str(change.place)
        if name in stages:
            old = _Said("", stages[name], None)
            raise _error(overlay, change.line, f"stage {name} is replaced twice", old)
        stages[name] = change.line
    replaced: dict[str, Change] = {}
    for pair in overlay.replace:
        back = replaced.get(pair.replacement or "")
        if back is not None and back.replacement == pair.name:
            old = _Said("", back.line, None)
            problem = f"{pair.name!r} and {pair.replacement!r} replace each other"
            raise _error(overlay, pair.line, problem, old)
        replaced[pair.name] = pair


def _check_settings(overlay: Overlay) -> None:
    for change in (*overlay.add, *overlay.replace):
        name = change.replacement or change.name
        for field, value in change.options.items():
            full = f"{name}.{field}"
            other = overlay.settings.get(full)
            if other is not None and other != value:
                old = _Said("", overlay.lines.get(f"set.{full}", 0), None)
                problem = f"option {full} is {value!r} here and {other!r} in [set]"
                raise _error(overlay, change.line, problem, old)
    level = overlay.settings.get(LEVEL)
    if level is not None and overlay.base is not None and level != overlay.base:
        old = _Said("", overlay.lines.get("base", 0), None)
        line = overlay.lines.get(f"set.{LEVEL}", 0)
        raise _error(overlay, line, f"{LEVEL} is {level!r} and the base {overlay.base!r}", old)


def _error(overlay: Overlay, line: int, problem: str, old: _Said | None = None) -> GeError:
    hint = None
    if old is not None and old.line and overlay.origin:
        hint = f"also: {overlay.where(old.line)}"
    if overlay.origin:
        return InputFileError(problem, file=overlay.where(line), hint=hint)
    return UsageError(f"pipeline {overlay.name!r}: {problem}", hint=hint)
