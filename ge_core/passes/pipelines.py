"""The registered pipelines: overlays and texts by name, and level sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ge_core.errors import PluginError, UnknownNameError, near_matches
from ge_core.passes.levels import LevelRegistry
from ge_core.passes.overlays import Overlay, read_overlay, read_overlay_file
from ge_core.passes.pipeline_text import PipelineText, parse_pipeline
from ge_core.registry import Entry, Owner, Registry

Pipeline = Overlay | PipelineText


@dataclass(frozen=True, slots=True)
class NamedPipeline:
    """A pipeline as a user asked for it."""

    name: str
    value: Pipeline
    origin: str


class PipelineRegistry(Registry[Pipeline]):
    """Pipelines by name; they keep the names that their authors gave them, which users type.

    Attributes:
        levels: the level sets. An overlay may also be given as the level: it then is the pipeline.
    """

    kind = "pipeline"

    def __init__(self) -> None:
        super().__init__()
        self.levels = LevelRegistry()

    def add(self, pipeline: Overlay) -> None:
        """Declare an overlay under its own name."""
        self._put(Entry(pipeline.name, pipeline))

    def add_toml(self, package: str, resource: str) -> None:
        """Declare the overlay in a TOML file that lies in a package.

        Raises:
            InputFileError: the file is malformed.
            PluginError: there is no such file, or the name is taken.
        """
        from importlib.resources import files

        try:
            text = files(package).joinpath(resource).read_text(encoding="utf-8")
        except (OSError, ModuleNotFoundError) as error:
            raise PluginError(f"{package}/{resource} can't be read: {error}") from error
        self.add(read_overlay(text, f"{package}/{resource}", Path(resource).stem))

    def add_text(self, name: str, text: str) -> None:
        """Declare a pipeline that says exactly what runs."""
        self._put(Entry(name, parse_pipeline(text)))

    def add_level(self, name: str, *, extends: str) -> None:
        """Declare a level set: passes that are on at the level it extends are on in it too."""
        self.levels.add(name, extends=extends)

    def _full(self, name: str, owner: Owner) -> str:
        return name

    def _stamped(self, entry: Entry[Pipeline], owner: Owner) -> Entry[Pipeline]:
        value = entry.value
        if isinstance(value, Overlay):
            value = replace(value, owner=owner)
        return Entry(entry.name, value, owner)

    def fork(self) -> PipelineRegistry:
        """A copy that can be changed without changing this one."""
        copy = super().fork()
        copy.levels = self.levels.fork()
        return copy

    def absorb(self, staged: PipelineRegistry, owner: Owner) -> None:
        """Take over what one plugin registered; raises `PluginError` for a taken name."""
        super().absorb(staged, owner)
        self.levels.absorb(staged.levels, owner)

    def select(self, wanted: str) -> NamedPipeline:
        """The pipeline of that name, in that `.toml` file, or that text.

        Raises:
            InputFileError: the file is malformed.
            UnknownNameError: no such pipeline.
            UsageError: the text is malformed.
        """
        if wanted in self:
            return NamedPipeline(wanted, self.get(wanted), str(self.entry(wanted).owner))
        if wanted.endswith(".toml"):
            overlay = read_overlay_file(Path(wanted))
            return NamedPipeline(overlay.name, overlay, wanted)
        near = near_matches(wanted, self.names(), count=1)
        if near and wanted.casefold() == near[0].casefold():
            raise UnknownNameError(f"no pipeline {wanted!r}", near=near)
        return NamedPipeline("text", parse_pipeline(wanted), "--pipeline")
