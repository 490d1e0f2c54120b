"""Overlays: a pipeline as changes to another one (add, remove, replace, reorder, set), in TOML.

name = "acme-npu"
base = "O3"            # a level, a level set, or another pipeline
target = "acme-npu"

[[add]]
pass = "acme.DropNoOpCast"
before = "ConcatNotaskPass"

[[remove]]
pass = "ReorderForMemoryPass"

[[replace]]
pass = "GreedyPass"
with = "acme.GreedyPass"

[[reorder]]
pass = "PackNotaskPass"
before = "ConcatNotaskPass"

[set]
"ge.exec.inputReuseMemIndexes" = "0"
"acme.DropNoOpCast.limit" = 100
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ge_core.errors import InputFileError, UnknownNameError, near_matches
from ge_core.passes.stages import Place
from ge_core.registry import NOBODY, Owner


@dataclass(frozen=True, slots=True)
class Change:
    """One pass that is added, removed, replaced or moved.

    Attributes:
        name: the pass; `replacement`: what takes its place, of a replace.
        before, after: its place among others, of an add or reorder.
        place: another stage than it declares, of an add or reorder.
        options: of the pass, of an add or replace.
    """

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    place: Place | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    replacement: str | None = None


@dataclass(frozen=True, slots=True)
class Overlay:
    """A pipeline as changes to its base."""

    name: str
    base: str = "O3"
    target: str | None = None
    add: tuple[Change, ...] = ()
    remove: tuple[Change, ...] = ()
    replace: tuple[Change, ...] = ()
    reorder: tuple[Change, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    owner: Owner = NOBODY

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes to passes."""
        return (*self.add, *self.remove, *self.replace, *self.reorder)


_KEYS = {
    "add": ("pass", "before", "after", "stage", "options"),
    "remove": ("pass",),
    "replace": ("pass", "with", "options"),
    "reorder": ("pass", "before", "after", "stage"),
}
_TOP = ("name", "base", "target", *_KEYS, "set")


def read_overlay_file(path: Path) -> Overlay:
    """An overlay from a TOML file; `InputFileError` names file and field."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"can't be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputFileError(f"is not TOML: {error}", file=str(path)) from error
    return read_overlay(text, str(path), default_name=path.stem)


def read_overlay(text: str, origin: str, default_name: str | None = None) -> Overlay:
    """An overlay from TOML; `origin` is named in errors.

    Raises:
        InputFileError: malformed TOML, an unknown key or a value of the wrong type.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputFileError(f"is not TOML: {error}", file=origin) from error
    reader = _Reader(origin)
    reader.known(table, _TOP, None)
    name = reader.text(table, "name", None) or default_name
    if name is None:
        raise InputFileError("is missing", file=origin, field="name")
    return Overlay(
        name=name,
        base=reader.text(table, "base", None) or "O3",
        target=reader.text(table, "target", None),
        add=reader.changes(table, "add"),
        remove=reader.changes(table, "remove"),
        replace=reader.changes(table, "replace"),
        reorder=reader.changes(table, "reorder"),
        settings=reader.texts(table, "set", "set"),
        origin=origin,
    )


class _Reader:
    """Reads parts of one file; its errors name the file and the field."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def error(self, problem: str, field: str, **about: Any) -> InputFileError:
        return InputFileError(problem, file=self.origin, field=field, **about)

    def known(self, table: Mapping[str, Any], keys: tuple[str, ...], where: str | None) -> None:
        for key in table:
            if key not in keys:
                name = key if where is None else f"{where}.{key}"
                raise self.error("is no key of a pipeline", name, near=near_matches(key, keys))

    def text(self, table: Mapping[str, Any], key: str, where: str | None) -> str | None:
        value = table.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(f"{value!r} is not a text", key if where is None else f"{where}.{key}")
        return value

    def names(self, table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = table.get(key, [])
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.error(f"{value!r} is neither a name nor a list of names", f"{where}.{key}")
        return tuple(names)

    def texts(self, table: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"{value!r} is not a table", where)
        return {name: self.option(member, f"{where}.{name}") for name, member in value.items()}

    def option(self, value: Any, where: str) -> str:
        # Options are texts; TOML's own numbers and truth values are easier to write.
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (str, int, float)):
            return str(value)
        raise self.error(f"{value!r} is neither text, number nor truth value", where)

    def changes(self, table: Mapping[str, Any], key: str) -> tuple[Change, ...]:
        entries = table.get(key, [])
        if not isinstance(entries, list):
            raise self.error(f"is not a list; write [[{key}]]", key)
        return tuple(self.change(entry, key, f"{key}[{at}]") for at, entry in enumerate(entries))

    def change(self, entry: Any, kind: str, where: str) -> Change:
        if not isinstance(entry, dict):
            raise self.error(f"{entry!r} is not a table", where)
        self.known(entry, _KEYS[kind], where)
        name = self.text(entry, "pass", where)
        if not name:
            raise self.error("is missing", f"{where}.pass")
        replacement = self.text(entry, "with", where)
        if kind == "replace" and not replacement:
            raise self.error("is missing", f"{where}.with")
        stage = self.text(entry, "stage", where)
        try:
            place = None if stage is None else Place.of(stage)
        except UnknownNameError as error:
            raise self.error(error.message, f"{where}.stage", near=error.near) from error
        return Change(
            name=name,
            before=self.names(entry, "before", where),
            after=self.names(entry, "after", where),
            place=place,
            options=self.texts(entry, "options", f"{where}.options"),
            replacement=replacement,
        )
