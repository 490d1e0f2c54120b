"""The registered targets, and targets from TOML files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ge_core.errors import GeError, InputFileError, PluginError, hint_lines, near_matches
from ge_core.registry import Entry, Owner, Registry, contested_error, kernel_owner
from ge_core.targets.model import GENERIC, Target
from ge_core.toml_lines import parse, read_text


def _say_nothing(_: str) -> None:
    pass


class TargetRegistry(Registry[Target]):
    """Targets by name."""

    kind = "target"

    def __init__(self) -> None:
        super().__init__()
        self.contested: dict[str, tuple[Owner, ...]] = {}
        """The owners of names that several claim: such a name is nobody's."""

    def add(self, target: Target) -> None:
        """Declare a target; it keeps the name its author gave it, which users type."""
        if not isinstance(target, Target):
            raise PluginError(f"{target!r} is not a Target")
        if (target.pipeline or "").endswith(".toml"):
            raise PluginError(
                f"target {target.name!r} names the file {target.pipeline!r} as its pipeline",
                hint="register it with pipelines.add_toml, and name it",
            )
        self._put(Entry(target.name, target))

    def _full(self, name: str, owner: Owner) -> str:
        return name

    def fork(self) -> TargetRegistry:
        """A copy that can be changed without changing this one."""
        copy = super().fork()
        copy.contested = dict(self.contested)
        return copy

    def absorb(self, staged: TargetRegistry, owner: Owner) -> None:
        """Take over what one plugin registered.

        A name that another plugin has registered becomes contested: it is nobody's from then on.

        Raises:
            PluginError: a name is the kernel's, or an old name leads to nothing of the plugin's.
        """
        mine = staged.fork()
        for name in staged.names():
            taken = self._entries.get(name)
            others = self.contested.get(name) or (() if taken is None else (taken.owner,))
            if not others or kernel_owner() in others:
                continue
            self.contested[name] = tuple(sorted({*others, owner}))
            self._entries.pop(name, None)
            mine._entries.pop(name)
        super().absorb(mine, owner)

    def unknown(self, name: str) -> GeError:
        """The error for a name that nobody has; a contested one names all who claim it."""
        return contested_error(self.kind, name, self.contested) or super().unknown(name)

    def select(self, name_or_file: str, warn: Callable[[str], None] = _say_nothing) -> Target:
        """The target of that name, or the one that a `.toml` file describes.

        Args:
            warn: is told when the name is an old one.

        Raises:
            UnknownNameError: no such target; near names and their owners.
            PluginError: several packages claim the name.
            InputFileError: the file can't be read as a target.
        """
        if name_or_file not in self and name_or_file.endswith(".toml"):
            return self.read_file(Path(name_or_file), warn)
        return self._present(name_or_file, warn)

    def _present(self, name: str, warn: Callable[[str], None]) -> Target:
        present, warning = self.current(name)
        if warning is not None:
            warn(warning)
        return self.get(present)

    def read_file(self, path: Path, warn: Callable[[str], None] = _say_nothing) -> Target:
        """A target from a TOML file: keys are the fields of `Target`; `base` is where it starts."""
        return self._from_table(parse(read_text(path), str(path)), path, warn)

    def _from_table(
        self, table: Mapping[str, Any], path: Path, warn: Callable[[str], None]
    ) -> Target:
        values = dict(table)
        try:
            base = self._present(str(values.pop("base", GENERIC.name)), warn)
        except GeError as error:
            error.hint = hint_lines(f"named by: {path}: base", error.hint)
            raise
        known = [field.name for field in fields(Target)]
        for key, value in values.items():
            if key not in known:
                raise InputFileError(
                    "is no property of a target",
                    file=str(path),
                    field=key,
                    near=near_matches(key, [*known, "base"]),
                )
            if not _fits(key, value):
                raise InputFileError(
                    f"{value!r} is not {_EXPECTED[key]}", file=str(path), field=key
                )
        values.setdefault("name", path.stem)
        if values.get("run_align") == 0:
            values["run_align"] = None
        pipeline = str(values.get("pipeline", ""))
        if pipeline.endswith(".toml"):
            # A file beside this one.
            values["pipeline"] = str(path.parent / pipeline)
        try:
            return replace(base, **values)
        except ValueError as error:
            raise InputFileError(str(error), file=str(path)) from error


_EXPECTED = {
    "name": "a text",
    "about": "a text",
    "align_bytes": "a whole number of bytes",
    "run_align": "a whole number of bytes (0 = the size of an element)",
    "pools": "a table of pool = bytes",
    "block_widths": "a table of dtype = bytes",
    "strided": "true or false",
    "address_refresh": "true or false",
    "pipeline": "a text",
}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _fits(key: str, value: object) -> bool:
    if key in ("name", "about", "pipeline"):
        return isinstance(value, str)
    if key in ("align_bytes", "run_align"):
        return _is_count(value)
    if key in ("strided", "address_refresh"):
        return isinstance(value, bool)
    return isinstance(value, dict) and all(_is_count(count) for count in value.values())


def builtin_targets() -> TargetRegistry:
    """A registry with the kernel's own target; plugins add those of vendors."""
    targets = TargetRegistry()
    targets.add(GENERIC)
    return targets
