"""What an overlay changes: places and constraints of declarations, switches and option values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ge_core.errors import GeError, PluginError, UnknownNameError, UsageError, near_matches
from ge_core.passes.levels import Level
from ge_core.passes.ordering import Item, resolve
from ge_core.passes.overlays import Change, Overlay
from ge_core.passes.pipeline_text import PipelineText
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.precedence import LEVEL, PIPELINE, Source
from ge_core.passes.registry import PassDeclaration, PassRegistry


@dataclass(frozen=True)
class Adjusted:
    """The declarations as a pipeline has them.

    Attributes:
        by_name: declarations, places and constraints changed.
        replaced: what stands in for a pass that was replaced.
        options: texts by pass and field that overlays give with a pass.
    """

    by_name: Mapping[str, PassDeclaration]
    replaced: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def declarations(self) -> list[PassDeclaration]:
        """By name."""
        return [self.by_name[name] for name in sorted(self.by_name)]

    def get(self, name: str) -> PassDeclaration:
        """The declaration of a pass that was checked to be there."""
        return self.by_name[name]

    def standing_in(self, name: str) -> list[str]:
        """The pass and what replaces it, in turn."""
        names = [name]
        while names[-1] in self.replaced and self.replaced[names[-1]] not in names:
            names.append(self.replaced[names[-1]])
        return names

    def items(self) -> list[Item]:
        """All passes with their constraints, which hold for replacements too."""
        return [
            Item(
                declaration.name,
                self._standing_in_all(declaration, declaration.before),
                self._standing_in_all(declaration, declaration.after),
                self._standing_in_all(declaration, declaration.needs),
                declaration.owner,
                declaration.place.rank,
                str(declaration.place),
            )
            for declaration in self.declarations
        ]

    def _standing_in_all(
        self, declaration: PassDeclaration, names: Iterable[str]
    ) -> tuple[str, ...]:
        found: list[str] = []
        for name in names:
            known = resolve(name, declaration.owner, self.by_name)
            found += [name] if known is None else self.standing_in(known)
        # A replacement has its original's constraints, which may name the replacement.
        return tuple(dict.fromkeys(name for name in found if name != declaration.name))


def overlay_chain(pipelines: PipelineRegistry, overlay: Overlay) -> list[Overlay]:
    """An overlay and what it stands on, outermost first.

    Raises:
        UnknownNameError: a base is neither a level nor a pipeline.
        UsageError: a base is a pipeline text, or overlays stand on each other.
    """
    chain = [overlay]
    while not _is_level(pipelines, chain[-1].base):
        base = chain[-1].base
        if base not in pipelines:
            raise _no_base(pipelines, chain[-1])
        value = pipelines.get(base)
        if isinstance(value, PipelineText):
            raise UsageError(f"pipeline {base!r} is a text, and {chain[-1].name!r} changes levels")
        names = [link.name for link in chain]
        if value.name in names:
            raise UsageError("pipelines stand on each other: " + " -> ".join([*names, value.name]))
        chain.append(value)
    return chain


def _is_level(pipelines: PipelineRegistry, name: str) -> bool:
    return name in set(Level) or name in pipelines.levels


def _no_base(pipelines: PipelineRegistry, overlay: Overlay) -> GeError:
    known = [*map(str, Level), *pipelines.levels.names(), *pipelines.names()]
    return UnknownNameError(
        f"pipeline {overlay.name!r} stands on {overlay.base!r}, which is no level or pipeline",
        near=near_matches(overlay.base, known),
        owner=str(overlay.owner) if overlay.owner.name else overlay.origin or None,
    )


def overlay_sources(
    pipelines: PipelineRegistry, value: Overlay | PipelineText | None
) -> list[Source]:
    """What overlays switch and set, outermost (strongest) first."""
    if not isinstance(value, Overlay):
        return []
    sources = []
    for overlay in overlay_chain(pipelines, value):
        options = dict(overlay.settings)
        if _is_level(pipelines, overlay.base):
            options.setdefault(LEVEL, overlay.base)
        replacements = [change.replacement or "" for change in overlay.replace]
        sources.append(
            Source(
                PIPELINE,
                options,
                enable=(*(change.name for change in overlay.add), *replacements),
                disable=tuple(change.name for change in (*overlay.remove, *overlay.replace)),
                origin=f"pipeline {overlay.name}",
            )
        )
    return sources


def adjust(
    passes: PassRegistry, pipelines: PipelineRegistry, value: Overlay | PipelineText | None
) -> Adjusted:
    """The declarations as a pipeline has them; every name in it must be known.

    Raises:
        UnknownNameError: it names a pass that nobody registered.
    """
    by_name = {declaration.name: declaration for declaration in passes}
    if isinstance(value, PipelineText):
        for use in value.uses:
            passes.entry(use.name)
    if not isinstance(value, Overlay):
        return Adjusted(by_name)
    adjusting = _Adjusting(passes, by_name)
    for overlay in reversed(overlay_chain(pipelines, value)):
        adjusting.apply(overlay)
    return Adjusted(by_name, adjusting.replaced, adjusting.options)


class _Adjusting:
    def __init__(self, passes: PassRegistry, by_name: dict[str, PassDeclaration]) -> None:
        self.passes = passes
        self.by_name = by_name
        self.replaced: dict[str, str] = {}
        self.options: dict[str, dict[str, str]] = {}

    def apply(self, overlay: Overlay) -> None:
        for change in overlay.changes:
            for name in (change.name, *change.before, *change.after):
                self._known(name, overlay)
        for change in overlay.replace:
            self._replace(change, overlay)
        for change in (*overlay.add, *overlay.reorder):
            self._move(change)
        for change in (*overlay.add, *overlay.replace):
            name = change.replacement or change.name
            if change.options:
                self.options.setdefault(name, {}).update(change.options)

    def _known(self, name: str, overlay: Overlay) -> None:
        if name not in self.by_name:
            error = self.passes.unknown(name)
            error.hint = "\n  ".join(
                filter(None, [f"given by: {overlay.origin or overlay.name}", error.hint])
            )
            raise error

    def _move(self, change: Change) -> None:
        old = self.by_name[change.name]
        self.by_name[change.name] = replace(
            old,
            before=(*_without(old.before, change.after), *change.before),
            after=(*_without(old.after, change.before), *change.after),
            place=change.place or old.place,
        )

    def _replace(self, change: Change, overlay: Overlay) -> None:
        assert change.replacement is not None
        self._known(change.replacement, overlay)
        old, new = self.by_name[change.name], self.by_name[change.replacement]
        if new.name in self.replaced and self.replaced[new.name] == old.name:
            raise PluginError(f"{old.name!r} and {new.name!r} replace each other")
        self.by_name[new.name] = replace(
            new,
            place=old.place,
            before=(*new.before, *old.before),
            after=(*new.after, *old.after),
        )
        self.replaced[old.name] = new.name


def _without(names: tuple[str, ...], unwanted: tuple[str, ...]) -> tuple[str, ...]:
    """A reorder may turn a declared soft constraint round."""
    return tuple(name for name in names if name not in unwanted)
