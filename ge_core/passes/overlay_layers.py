"""What an overlay stands on: its includes, its base and theirs, down to a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_core.errors import (
    GeError,
    PluginError,
    UnknownNameError,
    UsageError,
    hint_lines,
    near_matches,
)
from ge_core.passes.levels import Level
from ge_core.passes.overlays import DEFAULT_BASE, Overlay
from ge_core.passes.pipeline_text import PipelineText
from ge_core.passes.pipelines import PipelineRegistry


@dataclass(frozen=True)
class Layers:
    """An overlay, taken apart.

    Attributes:
        level: the level at the bottom.
        overlays: the weakest first; the last is the overlay itself. Each stands here once.
        target: the device that the strongest of them names.
        warnings: old names that were used.
    """

    level: str
    overlays: tuple[Overlay, ...]
    target: str | None
    warnings: tuple[str, ...] = ()


def layers_of(pipelines: PipelineRegistry, overlay: Overlay) -> Layers:
    """Everything that an overlay stands on.

    Raises:
        UnknownNameError: a base or an include is no level or pipeline; names file and line.
        UsageError: one is a pipeline text, overlays stand on each other, or includes stand on
            different bases.
        PluginError: several packages claim a name that is used.
    """
    walk = _Walk(pipelines)
    level = walk.base_and_all(overlay, ())
    target = next((o.target for o in reversed(walk.found) if o.target is not None), None)
    return Layers(level, tuple(walk.found), target, tuple(walk.warnings))


class _Walk:
    def __init__(self, pipelines: PipelineRegistry) -> None:
        self.pipelines = pipelines
        self.found: list[Overlay] = []
        self.warnings: list[str] = []

    def base_and_all(self, overlay: Overlay, path: tuple[Overlay, ...]) -> str:
        """Add the base's layers, then the overlay's; the level at the bottom."""
        base, by = self._base(overlay, path)
        if self._is_level(base):
            level = base
        else:
            name, found = self._named(base, by, "base", f"stands on {base!r}")
            beneath = (*path, overlay) if by is overlay else (*path, overlay, by)
            level = self.base_and_all(found, self._open(name, found, beneath))
        self._changes(overlay, path)
        return level

    def _changes(self, overlay: Overlay, path: tuple[Overlay, ...]) -> None:
        """Add what an overlay includes, then itself."""
        for found in self._included(overlay, path):
            self._changes(found, (*path, overlay))
        if not any(_same(overlay, known) for known in self.found):
            self.found.append(overlay)

    def _included(self, overlay: Overlay, path: tuple[Overlay, ...]) -> list[Overlay]:
        included = []
        for what in overlay.include:
            if isinstance(what, Overlay):
                name, found = what.name, what
            else:
                name, found = self._named(what, overlay, "include", f"includes {what!r}")
            self._open(name, found, (*path, overlay))
            included.append(found)
        return included

    def _base(self, overlay: Overlay, path: tuple[Overlay, ...]) -> tuple[str, Overlay]:
        """The base in force, and the overlay that names it: its own, or that of its includes."""
        if overlay.base is not None:
            current, warning = self._current(overlay.base)
            self._warn(warning, overlay.where(overlay.lines.get("base", 0)))
            return current, overlay
        bases: dict[str, Overlay] = {}
        for found in self._included(overlay, path):
            base, by = self._base(found, (*path, overlay))
            if by.base is not None:
                bases.setdefault(base, by)
        if len(bases) > 1:
            shown = [f"{n} ({by.where(by.lines.get('base', 0))})" for n, by in bases.items()]
            raise UsageError(
                f"{overlay.shown} includes pipelines on different bases: {', '.join(shown)}",
                hint="say which one with base",
            )
        return next(iter(bases.items()), (DEFAULT_BASE, overlay))

    # ---- names ---------------------------------------------------------------------------------

    def _is_level(self, name: str) -> bool:
        return name in set(Level) or name in self.pipelines.levels

    def _current(self, name: str) -> tuple[str, str | None]:
        new, warning = self.pipelines.levels.current(name)
        return (new, warning) if warning else self.pipelines.current(name)

    def _named(self, name: str, by: Overlay, key: str, says: str) -> tuple[str, Overlay]:
        where = by.where(by.lines.get(key, 0))
        name, warning = self._current(name)
        self._warn(warning, where)
        if name not in self.pipelines:
            raise self._unknown(name, by, where, key)
        value = self.pipelines.get(name)
        if isinstance(value, PipelineText):
            raise UsageError(
                f"{where}: pipeline {by.name!r} {says}, which is a text and no overlay",
                owner=str(self.pipelines.entry(name).owner),
                hint="a stage of a text can be taken with [[replace]] stage",
            )
        return name, value

    def _unknown(self, name: str, by: Overlay, where: str, key: str) -> GeError:
        error = self.pipelines.unknown(name)
        if isinstance(error, PluginError):
            error.hint = hint_lines(f"named by: {where}", error.hint)
            return error
        pipelines = self.pipelines
        known = [*pipelines.names(), *pipelines.levels.names()]
        known += [] if key == "include" else map(str, Level)
        what = "pipeline" if key == "include" else "level or pipeline"
        verb = "includes" if key == "include" else "stands on"
        if key == "include" and self._is_level(name):
            return UsageError(
                f"{where}: pipeline {by.name!r} includes {name!r}, which is a level",
                owner=str(by.owner) if by.owner.name else None,
                hint=f'write base = "{name}"; include takes overlays',
            )
        near = near_matches(name, known)
        hint = None if near else pipelines.missing_hint
        if name.endswith(".toml"):
            hint = "a file goes into include; in Python, what read_overlay_file gives for it"
        return UnknownNameError(
            f"{where}: pipeline {by.name!r} {verb} {name!r}, which is no {what}",
            near=near,
            owner=str(by.owner) if by.owner.name else None,
            hint=hint,
        )

    def _open(self, name: str, found: Overlay, path: Sequence[Overlay]) -> tuple[Overlay, ...]:
        """The path again, where the overlay doesn't lie on it already."""
        at = next((at for at, open_ in enumerate(path) if _same(open_, found)), None)
        if at is not None:
            turn = " -> ".join([*(o.name for o in path[at:]), name])
            raise UsageError(
                f"pipelines stand on each other: {turn}",
                hint="; ".join(dict.fromkeys(o.shown for o in path[at:])),
            )
        return tuple(path)

    def _warn(self, warning: str | None, where: str) -> None:
        text = None if warning is None else f"{where}: {warning}"
        if text is not None and text not in self.warnings:
            self.warnings.append(text)


def _same(one: Overlay, other: Overlay) -> bool:
    """Whether two are the same overlay: by where they come from, for files may share a name."""
    return (one.name, one.origin, one.owner) == (other.name, other.origin, other.owner)
