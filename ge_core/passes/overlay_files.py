"""Reads overlays from TOML: a file, a resource of a package, or a text.

name = "acme-npu"
base = "O3"                    # a level, a level set, or another overlay
target = "acme-npu"
include = ["common.toml"]      # files relative to this one, and names of overlays

[[add]]
pass = "acme.DropNoOpCast"
before = "ConcatNotaskPass"

[[remove]]
pass = "ReorderForMemoryPass"

[[replace]]
pass = "GreedyPass"
with = "acme.GreedyPass"

[[replace]]
stage = "TENSOR_MOVE"
with = "acme-moves"            # a registered pipeline text, or one such as "TENSOR_MOVE(A,B)"

[[reorder]]
pass = "PackNotaskPass"
before = "ConcatNotaskPass"

[[repeat]]
pass = ["acme.Fold", "acme.DropNoOpCast"]
limit = 10

[set]
"ge.exec.inputReuseMemIndexes" = "0"
"acme.DropNoOpCast.limit" = 100

pydantic checks the form and is imported only when an overlay is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ge_core.errors import GeError, InputFileError, PluginError, hint_lines, near_matches
from ge_core.passes.overlay_conflicts import check_overlay
from ge_core.passes.overlays import Change, Overlay, RepeatChange, StageChange
from ge_core.passes.sources import SWITCH_FILE
from ge_core.toml_lines import Path as TomlPath
from ge_core.toml_lines import index_lines, joined_names, line_of, parse, read_text

if TYPE_CHECKING:
    from ge_core.passes.overlay_model import OverlayFile

MAX_DEPTH: Final = 16
"""How deep files may include each other."""


@dataclass(frozen=True)
class TomlText:
    """A TOML text and where it comes from.

    Attributes:
        origin: what errors name.
        beside: reads the file of a name relative to this one; None where it lies in no folder.
        folder: where it lies, if not in a package.
    """

    text: str
    origin: str
    beside: Callable[[str], TomlText] | None = None
    folder: Path | None = None

    def table(self) -> dict[str, Any]:
        """What it says; `InputFileError` where it is not TOML."""
        return parse(self.text, self.origin)


def read_overlay_file(path: Path) -> Overlay:
    """An overlay from a TOML file; it is called after the file where it has no name.

    Raises:
        InputFileError: the file, or one that it includes, can't be read as an overlay or
            contradicts itself; names file, line and field.
    """
    return parse_overlay(file_text(path), path.stem)


def read_overlay(text: str, origin: str, default_name: str | None = None) -> Overlay:
    """An overlay from a TOML text; `origin` is named in errors. It can't include files.

    Raises:
        InputFileError: malformed TOML, an unknown key, a value of the wrong type, a contradiction.
    """
    return parse_overlay(TomlText(text, origin), default_name)


def file_text(path: Path) -> TomlText:
    """The text of a file."""

    def beside(name: str) -> TomlText:
        return file_text(Path(os.path.normpath(path.parent / name)))

    return TomlText(read_text(path), str(path), beside, path.parent)


def package_text(package: str, resource: str) -> TomlText:
    """The text of a file in a package; what it includes lies in the package too.

    Raises:
        PluginError: there is no such package or file, or it lies outside.
    """
    from importlib.resources import files

    inside = os.path.normpath(resource)
    if os.path.isabs(resource) or inside.split(os.sep)[0] == os.pardir:
        raise PluginError(
            f"{package}/{resource} lies outside of the package",
            hint="a package's overlay includes files of the package, and pipelines by name",
        )

    def beside(name: str) -> TomlText:
        return package_text(package, os.path.join(os.path.dirname(inside), name))

    try:
        text = files(package).joinpath(inside).read_text(encoding="utf-8")
    except (OSError, ModuleNotFoundError, UnicodeDecodeError) as error:
        raise PluginError(f"{package}/{inside} can't be read: {error}") from error
    return TomlText(text, f"{package}/{inside}", beside)


def parse_overlay(source: TomlText, default_name: str | None = None) -> Overlay:
    """An overlay from its text, with the files that it includes."""
    return _Reading().read(source, default_name)


class _Reading:
    """Reads a file and what it includes, each file once."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.done: dict[str, Overlay] = {}

    def read(self, source: TomlText, default_name: str | None) -> Overlay:
        known = self.done.get(source.origin)
        if known is not None:
            return known
        self.open.append(source.origin)
        overlay = self._read(source, default_name)
        self.open.pop()
        self.done[source.origin] = overlay
        return overlay

    def _read(self, source: TomlText, default_name: str | None) -> Overlay:
        table = source.table()
        index = index_lines(source.text)
        checked = _checked(table, source.origin, index)
        name = checked.name or default_name
        if name is None:
            raise InputFileError("is missing", file=source.origin, field="name")

        def line(*path: str | int) -> int:
            return line_of(index, path)

        overlay = Overlay(
            name=name,
            base=checked.base,
            target=_target(checked.target, source, line("target")),
            add=tuple(
                Change(a.name, a.before, a.after, a.stage, a.options, line=line("add", at))
                for at, a in enumerate(checked.add)
            ),
            remove=tuple(
                Change(r.name, line=line("remove", at)) for at, r in enumerate(checked.remove)
            ),
            replace=tuple(
                Change(
                    r.name, options=r.options, replacement=r.replacement, line=line("replace", at)
                )
                for at, r in enumerate(checked.replace)
                if r.name is not None
            ),
            reorder=tuple(
                Change(r.name, r.before, r.after, r.stage, line=line("reorder", at))
                for at, r in enumerate(checked.reorder)
            ),
            settings=_settings(checked.set, source, line),
            origin=source.origin,
            include=tuple(
                self._included(source, what, line("include")) for what in checked.include
            ),
            stages=tuple(
                StageChange(r.stage, r.replacement, line("replace", at))
                for at, r in enumerate(checked.replace)
                if r.stage is not None
            ),
            repeat=tuple(
                RepeatChange(r.passes, r.limit, r.stage, line("repeat", at))
                for at, r in enumerate(checked.repeat)
            ),
            summary=checked.summary,
            lines={
                **{key: line(key) for key in ("base", "target", "include") if key in table},
                **{f"set.{key}": line("set", key) for key in checked.set},
            },
        )
        check_overlay(overlay)
        return overlay

    def _included(self, source: TomlText, what: str, line: int) -> str | Overlay:
        where = f"{source.origin}:{line}"
        if not what.endswith(".toml"):
            return what
        if source.beside is None:
            raise InputFileError(
                f"includes {what!r}, and is no file that lies beside it",
                file=where,
                field="include",
            )
        if len(self.open) > MAX_DEPTH:
            raise InputFileError(
                f"files include each other more than {MAX_DEPTH} deep: {self.open[0]} -> ... ->"
                f" {source.origin} -> {what}",
                file=where,
                field="include",
            )
        try:
            found = source.beside(what)
            if found.origin in self.open:
                turn = [*self.open[self.open.index(found.origin) :], found.origin]
                raise InputFileError(
                    "files include each other: " + " -> ".join(turn), file=where, field="include"
                )
            return self.read(found, Path(what).stem)
        except GeError as error:
            if not error.message.startswith(where):
                error.hint = hint_lines(error.hint, f"included by: {where}")
            raise


def _target(name: str | None, source: TomlText, line: int) -> str | None:
    """A target's name; that of its file is relative to the overlay's."""
    if name is None or not name.endswith(".toml"):
        return name
    if source.folder is None:
        raise InputFileError(
            f"{name!r} is a file, and the overlay lies in no folder",
            file=f"{source.origin}:{line}",
            field="target",
            hint="a plugin registers its targets in ge_register_targets",
        )
    return os.path.normpath(source.folder / name)


def _settings(
    settings: dict[str, str], source: TomlText, line: Callable[..., int]
) -> dict[str, str]:
    """The options; a fusion-switch file is relative to the overlay's."""
    path = settings.get(SWITCH_FILE)
    if not path or os.path.isabs(path):
        return settings
    if source.folder is None:
        raise InputFileError(
            f"{path!r} is a file, and the overlay lies in no folder",
            file=f"{source.origin}:{line('set', SWITCH_FILE)}",
            field=f"set.{SWITCH_FILE}",
            hint="switch the passes in [set] by their names",
        )
    return {**settings, SWITCH_FILE: os.path.normpath(source.folder / path)}


def _checked(table: dict[str, Any], origin: str, index: dict[TomlPath, int]) -> OverlayFile:
    from pydantic import ValidationError

    from ge_core.passes.overlay_model import OverlayFile

    if isinstance(table.get("set"), dict):
        table = {**table, "set": joined_names(table["set"], index, ("set",), origin)}
    try:
        return OverlayFile.model_validate(table)
    except ValidationError as error:
        found = error.errors(include_url=False)
        # The first in the file; in one table what is misspelled before what is missing for it.
        first = min(
            found,
            key=lambda e: (
                line_of(index, e["loc"][:2]),
                e["type"] == "missing",
                line_of(index, e["loc"]),
            ),
        )
        raise _as_error(first, origin, index) from error


def _as_error(first: Any, origin: str, index: dict[TomlPath, int]) -> InputFileError:
    from ge_core.passes.overlay_model import TABLES, OverlayFile, keys_of

    path: TomlPath = first["loc"]
    kind, value = first["type"], first["input"]
    near: tuple[str, ...] = ()
    if kind == "missing":
        text = "is missing"
    elif kind == "extra_forbidden":
        model = TABLES[str(path[0])] if len(path) > 1 else OverlayFile
        where = f"[[{path[0]}]]" if len(path) > 1 else "a pipeline"
        text, near = f"is no key of {where}", near_matches(str(path[-1]), keys_of(model))
    elif kind == "overlay":
        text, near = first["ctx"]["text"], tuple(first["ctx"]["near"])
    elif kind == "list_type":
        text = f"is not a list; write [[{path[0]}]]"
    elif kind in ("dict_type", "model_type"):
        text = f"{value!r} is not a table"
    elif kind == "string_type":
        text = f"{value!r} is not a text"
    else:
        text = f"{first['msg'][:1].lower()}{first['msg'][1:]} (got {value!r})"
    return InputFileError(
        text, file=f"{origin}:{line_of(index, path)}", field=_field(path), near=near
    )


def _field(path: TomlPath) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
