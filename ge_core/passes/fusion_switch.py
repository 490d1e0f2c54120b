"""Fusion-switch files (`ge.fusionSwitchFile`): GE's JSON form, and its older form of lines.

    {"Switch": {"GraphFusion": {"ALL": "off", "acme.DropNoOpCast": "on"}},
     "ExceptionalPassOfO1Level": ["acme.DropNoOpCast"]}

    acme.DropNoOpCast:on
    TensorMoveDeletePass:off

What a file says is weaker than what its source says of a pass by name, unless that source's
`ge.optimizationSwitch` is exactly GE's marker. `ALL` reaches the passes of third parties only: GE's
own graph passes are switched by name there too. `UBFusion` and `Priority` steer GE's engines and
say nothing here: they are checked, and reported. A text that begins with a brace is JSON; GE takes
whatever is no JSON for lines, so that a missing comma is reported as a bad switch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ge_core.digits import whole_number
from ge_core.errors import InputFileError, near_matches

ALL: Final = "ALL"
_TOP: Final = ("Switch", "Priority", "ExceptionalPassOfO1Level")
_KINDS: Final = ("GraphFusion", "UBFusion")
_RANKS: Final = ("Top", "Main", "Down")


@dataclass(frozen=True, slots=True)
class SwitchFile:
    """What a file says.

    Attributes:
        path: as it was given.
        switches: on or off by name of a pass, without `ALL`.
        all: on or off for every pass of third parties that it doesn't name.
        exceptions: passes that stay on at level O1.
        fields: where each name stands, for errors: a field, or a line.
        unread: what stands in it and means nothing here.
    """

    path: str
    switches: Mapping[str, bool] = field(default_factory=dict)
    all: bool | None = None
    exceptions: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def error(self, name: str, problem: str, near: tuple[str, ...], hint: str) -> InputFileError:
        """The error for a name in it."""
        place = self.fields[name]
        if place.isdigit():
            return InputFileError(problem, file=f"{self.path}:{place}", near=near, hint=hint)
        return InputFileError(problem, file=self.path, field=place, near=near, hint=hint)


def read_switch_file(path: Path, shown: str, *, strict: bool = True) -> SwitchFile:
    """Read a file of either form.

    Args:
        shown: the path as the user gave it.
        strict: whether a key that nobody knows is an error, rather than listed as unread.

    Raises:
        InputFileError: it can't be read, or is malformed; names file, and line or field.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputFileError(f"can't be read: {error.strerror}", file=shown) from error
    except UnicodeDecodeError as error:
        raise InputFileError(f"is no text: {error}", file=shown) from error
    except ValueError as error:  # a name that no file can have
        raise InputFileError(f"can't be read: {error}", file=repr(shown)) from error
    if text.lstrip().startswith(("{", "[")):
        return _Json(shown, strict).read(text)
    return _read_lines(text, shown)


# ---- the form of lines ---------------------------------------------------------------------------


def _read_lines(text: str, shown: str) -> SwitchFile:
    switches: dict[str, bool] = {}
    places: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{shown}:{number}"
        name, _, value = line.partition(":")
        if not name or value not in ("on", "off"):
            raise InputFileError(
                f"{line!r} is not Pass:on or Pass:off",
                file=where,
                hint="one switch in each line, without spaces; or JSON, which begins with a brace",
            )
        if name in switches:
            raise InputFileError(f"{name!r} is switched in line {places[name]} too", file=where)
        switches[name], places[name] = value == "on", str(number)
    every = switches.pop(ALL, None)
    return SwitchFile(shown, switches, every, fields=places, unread=_nothing(places))


def _nothing(places: Mapping[str, str]) -> tuple[str, ...]:
    return () if places else ("it says nothing",)


# ---- the JSON form -------------------------------------------------------------------------------


class _Twice(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(key)
        found[key] = value
    return found


class _Json:
    """Reads one document; its errors name file and field."""

    def __init__(self, shown: str, strict: bool) -> None:
        self.shown = shown
        self.strict = strict
        self.fields: dict[str, str] = {}
        self.unread: list[str] = []

    def read(self, text: str) -> SwitchFile:
        try:
            document = json.loads(text, object_pairs_hook=_once)
        except _Twice as error:
            raise self.error("stands there twice", error.key) from error
        except json.JSONDecodeError as error:
            raise InputFileError(
                f"is not JSON: {error.msg} in column {error.colno}",
                file=f"{self.shown}:{error.lineno}",
            ) from error
        except (RecursionError, ValueError) as error:  # a number of thousands of digits
            raise InputFileError(f"is not JSON: {error}", file=self.shown) from error
        top = self.table(document, "")
        self.known(top, _TOP, "")
        switch = self.table(top.get("Switch", {}), "Switch")
        self.known(switch, _KINDS, "Switch")
        switches = self.switches(switch.get("GraphFusion", {}), "Switch.GraphFusion")
        self.fields.update({name: f"Switch.GraphFusion.{name}" for name in switches})
        self.engine_switches(switch)
        self.priorities(top)
        exceptions = self.exceptions(top.get("ExceptionalPassOfO1Level", []))
        every = switches.pop(ALL, None)
        if not self.fields and not self.unread:
            self.unread.append("it says nothing")
        return SwitchFile(self.shown, switches, every, exceptions, self.fields, tuple(self.unread))

    def error(self, problem: str, field: str, **about: Any) -> InputFileError:
        return InputFileError(problem, file=self.shown, field=field or None, **about)

    def table(self, value: Any, field: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(f"{_shown(value)} is no object", field)
        return value

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...], field: str) -> None:
        for key in table:
            if key in keys:
                continue
            path = f"{field}.{key}" if field else key
            if self.strict:
                raise self.error("is no key of such files", path, near=near_matches(key, keys))
            self.unread.append(f"{path} is no key of such files")

    def switches(self, value: Any, field: str) -> dict[str, bool]:
        found = {}
        for name, state in self.table(value, field).items():
            if not name:
                raise self.error("a pass has an empty name", field)
            if state not in ("on", "off"):
                raise self.error(f"{_shown(state)} is neither 'on' nor 'off'", f"{field}.{name}")
            found[name] = state == "on"
        return found

    def engine_switches(self, switch: Mapping[str, Any]) -> None:
        count = len(self.switches(switch.get("UBFusion", {}), "Switch.UBFusion"))
        if count:
            self.unread.append(f"Switch.UBFusion steers GE's engines ({_counted(count, 'switch')})")

    def priorities(self, top: Mapping[str, Any]) -> None:
        priority = self.table(top.get("Priority", {}), "Priority")
        self.known(priority, _KINDS, "Priority")
        count = 0
        for kind in filter(priority.__contains__, _KINDS):
            ranks = self.table(priority[kind], f"Priority.{kind}")
            self.known(ranks, _RANKS, f"Priority.{kind}")
            for rank in filter(ranks.__contains__, _RANKS):
                path = f"Priority.{kind}.{rank}"
                for name, number in self.table(ranks[rank], path).items():
                    if whole_number(str(number)) is None or isinstance(number, (bool, float)):
                        raise self.error(f"{_shown(number)} is no number", f"{path}.{name}")
                    count += 1
        if count:
            self.unread.append(
                f"Priority orders GE's fusion passes ({_counted(count, 'entry', 'entries')}); here"
                " stages and constraints do"
            )

    def exceptions(self, value: Any) -> tuple[str, ...]:
        field = "ExceptionalPassOfO1Level"
        if not isinstance(value, list):
            raise self.error(f"{_shown(value)} is no list", field)
        for at, name in enumerate(value):
            if not isinstance(name, str) or not name:
                raise self.error(f"{_shown(name)} is no name of a pass", f"{field}[{at}]")
            if name in value[:at]:
                raise self.error(f"{name!r} stands there twice", f"{field}[{at}]")
            self.fields.setdefault(name, f"{field}[{at}]")
        return tuple(value)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 'es'}"
