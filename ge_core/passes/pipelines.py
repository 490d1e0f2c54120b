"""The registered pipelines: overlays and texts by name, and level sets.

A level may be given as a pipeline and an overlay as a level, so all names are one space. A name
that two plugins claim is nobody's: who asks for it is told both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ge_core.errors import GeError, PluginError, UnknownNameError, UsageError, near_matches
from ge_core.passes.levels import Level, LevelRegistry
from ge_core.passes.overlay_conflicts import check_overlay
from ge_core.passes.overlay_files import (
    TomlText,
    package_text,
    parse_overlay,
    read_overlay_file,
)
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipeline_parser import parse_pipeline
from ge_core.passes.pipeline_text import BARE, PipelineText
from ge_core.registry import Entry, Owner, Registry, contested_error

Pipeline = Overlay | PipelineText


@dataclass(frozen=True, slots=True)
class NamedPipeline:
    """A pipeline as a user asked for it.

    Attributes:
        origin: whose it is, or where it was given.
        chosen: by what, where the user didn't name it: `target 'npu'`.
    """

    name: str
    value: Pipeline
    origin: str
    chosen: str = ""

    @property
    def shown(self) -> str:
        """What a decision calls it."""
        name = "pipeline" if self.name == TEXT else f"pipeline {self.name}"
        return f"{name} (of {self.chosen})" if self.chosen else name


TEXT: Final = "text"
"""What a pipeline is called that was given as a text."""

GIVEN: Final = "--pipeline"
"""Where a text comes from that is given as an argument."""

_RESERVED: Final = (TEXT, "repeat", "default")


@dataclass(frozen=True)
class PackagedOverlay:
    """An overlay in a package, read when it is asked for: checking the form is dear.

    Attributes:
        peek: its keys as they stand in the file, unchecked.
    """

    name: str
    source: TomlText
    peek: dict[str, Any] = field(repr=False)

    def text(self, key: str) -> str | None:
        """A key for listings, None where it is missing or no text."""
        value = self.peek.get(key)
        return value if isinstance(value, str) else None

    def load(self, owner: Owner) -> Overlay:
        """The overlay; `PluginError` naming the owner where the file can't be read as one."""
        try:
            return _owned(parse_overlay(self.source, self.name), owner)
        except GeError as error:
            raise PluginError(
                f"pipeline {self.name!r} can't be read: {error.message}",
                near=error.near,
                owner=str(owner),
                hint=error.hint,
            ) from error


def _owned(overlay: Overlay, owner: Owner) -> Overlay:
    """The overlay, and those that it holds, as somebody's."""
    include = tuple(
        _owned(what, owner) if isinstance(what, Overlay) else what for what in overlay.include
    )
    return replace(overlay, owner=owner, include=include)


class PipelineRegistry(Registry[Pipeline | PackagedOverlay]):
    """Pipelines by name; they keep the names that their authors gave them, which users type.

    Attributes:
        levels: the level sets. An overlay may also be given as the level: it then is the pipeline.
        contested: the owners of names that several claim, level sets included.
    """

    kind = "pipeline"

    def __init__(self) -> None:
        super().__init__()
        self.contested: dict[str, tuple[Owner, ...]] = {}
        self.levels = LevelRegistry()
        self.levels.contested = self.contested

    # ---- declaring -----------------------------------------------------------------------------

    def add(self, pipeline: Overlay) -> None:
        """Declare an overlay under its own name.

        Raises:
            PluginError: it is none, or the name is taken or can't be one.
            GeError: it contradicts itself.
        """
        if not isinstance(pipeline, Overlay):
            raise PluginError(f"{pipeline!r} is not an Overlay")
        check_overlay(pipeline)
        self._put(Entry(pipeline.name, pipeline))

    def add_toml(self, package: str, resource: str) -> None:
        """Declare the overlay in a TOML file that lies in a package.

        Its form is checked when it is used. What it includes lies in the package too.

        Raises:
            InputFileError: the file is not TOML.
            PluginError: there is no such file, or the name is taken or can't be one.
        """
        source = package_text(package, resource)
        table = source.table()
        name = table.get("name", Path(resource).stem)
        if not isinstance(name, str):
            raise PluginError(f"{source.origin}: name {name!r} is not a text")
        self._put(Entry(name, PackagedOverlay(name, source, table)))

    def add_text(self, name: str, text: str | PipelineText) -> None:
        """Declare a pipeline that says exactly what runs.

        Raises:
            UsageError: the text is malformed.
            PluginError: the name is taken or can't be one.
        """
        value = text if isinstance(text, PipelineText) else parse_pipeline(text)
        self._put(Entry(name, value))

    def add_level(self, name: str, *, extends: str) -> None:
        """Declare a level set: passes that are on at the level it extends are on in it too."""
        _check_name("level", name)
        if name in self._entries:
            raise PluginError(f"level {name!r} is called like a pipeline")
        self.levels.add(name, extends=extends)

    def _put(self, entry: Entry[Pipeline | PackagedOverlay]) -> None:
        _check_name(self.kind, entry.name)
        if entry.name in self.levels:
            raise PluginError(f"pipeline {entry.name!r} is called like a level")
        super()._put(entry)

    # ---- merging -------------------------------------------------------------------------------

    def _full(self, name: str, owner: Owner) -> str:
        return name

    def _stamped(
        self, entry: Entry[Pipeline | PackagedOverlay], owner: Owner
    ) -> Entry[Pipeline | PackagedOverlay]:
        value = entry.value
        if isinstance(value, Overlay):
            value = _owned(value, owner)
        return Entry(entry.name, value, owner)

    def fork(self) -> PipelineRegistry:
        """A copy that can be changed without changing this one."""
        copy = super().fork()
        copy.contested = dict(self.contested)
        copy.levels = self.levels.fork()
        copy.levels.contested = copy.contested
        return copy

    def absorb(self, staged: PipelineRegistry, owner: Owner) -> None:
        """Take over what one plugin registered.

        A name that another plugin has registered becomes contested: it is nobody's from then on.

        Raises:
            PluginError: an old name leads to nothing that the plugin registers.
        """
        mine = staged.fork()
        for name in [*staged.names(), *staged.levels.names()]:
            others = self.contested.get(name) or self._withdraw(name)
            if others:
                self.contested[name] = tuple(sorted({*others, owner}))
                mine._withdraw(name)
        super().absorb(mine, owner)
        self.levels.absorb(mine.levels, owner)

    def _withdraw(self, name: str) -> tuple[Owner, ...]:
        """Take a name out, and say whose it was."""
        found = [self._entries.pop(name, None), self.levels.withdraw(name)]
        return tuple(entry.owner for entry in found if entry is not None)

    # ---- looking up ----------------------------------------------------------------------------

    def entry(self, name: str) -> Entry[Any]:
        """The entry of that name; its value is a `Pipeline`.

        Raises:
            UnknownNameError: no such pipeline; near names and their owners.
            PluginError: several packages claim the name, or its file can't be read.
        """
        found = super().entry(name)
        if isinstance(found.value, PackagedOverlay):
            found = Entry(name, found.value.load(found.owner), found.owner)
            self._entries[name] = found
        return found

    def get(self, name: str) -> Pipeline:
        """The pipeline of that name; raises what `entry` raises."""
        value: Pipeline = self.entry(name).value
        return value

    def unknown(self, name: str) -> GeError:
        """The error for a name that nobody has; a contested one names all who claim it."""
        return contested_error(self.kind, name, self.contested) or super().unknown(name)

    def overlays(self) -> Iterator[Entry[Any]]:
        """The entries that may be given as a level, unread ones included."""
        return (e for e in self.entries() if not isinstance(e.value, PipelineText))

    def select(self, wanted: str | Path | Pipeline, warn: list[str] | None = None) -> NamedPipeline:
        """The pipeline of that name, in that `.toml` file, or that text; values are themselves.

        Args:
            warn: where a warning about an old name goes.

        Raises:
            InputFileError: the file is malformed.
            UnknownNameError: no such pipeline.
            UsageError: the text is malformed, or a value contradicts itself.
            PluginError: several packages claim the name, or its file can't be read.
        """
        if isinstance(wanted, PipelineText):
            return NamedPipeline(TEXT, wanted, GIVEN)
        if isinstance(wanted, Overlay):
            called: object = wanted.name
            if not isinstance(called, str) or not called:
                raise UsageError(f"pipeline {wanted.name!r} has no name; give a text")
            check_overlay(wanted)
            return NamedPipeline(wanted.name, self._free(wanted), wanted.origin or GIVEN)
        if isinstance(wanted, Path):
            return self._file(wanted)
        name, warning = self.current(wanted)
        if warning is not None and warn is not None:
            warn.append(warning)
        if name in self:
            entry = self.entry(name)
            return NamedPipeline(name, entry.value, str(entry.owner))
        if name in self.contested:
            raise self.unknown(name)
        if wanted.endswith(".toml"):
            return self._file(Path(wanted))
        near = near_matches(wanted, self.names(), count=1)
        if near and wanted.casefold() == near[0].casefold():
            raise UnknownNameError(f"no pipeline {wanted!r}", near=near)
        return NamedPipeline(TEXT, parse_pipeline(wanted), GIVEN)

    def _file(self, path: Path) -> NamedPipeline:
        overlay = self._free(read_overlay_file(path))
        return NamedPipeline(overlay.name, overlay, str(path))

    def _free(self, overlay: Overlay) -> Overlay:
        """The overlay, unless it is called like a level."""
        if overlay.name in set(Level) or overlay.name in self.levels:
            raise UsageError(
                f"{overlay.shown}: {overlay.name!r} is a level's name, which no pipeline can have",
                hint="give it another name; base says which level it stands on",
            )
        return overlay


def _check_name(kind: str, name: object) -> None:
    """Names are told from texts and files by how they look."""
    problem = None
    if not isinstance(name, str) or not BARE.fullmatch(name) or name.endswith(".toml"):
        problem = "can't be told from a text or a file; leave out blanks, `,{}()=\"` and .toml"
    elif name in set(Level):
        problem = "is called like a level of the kernel"
    elif name in _RESERVED:
        problem = "is reserved"
    if problem is not None:
        raise PluginError(f"{kind} {name!r} {problem}")
