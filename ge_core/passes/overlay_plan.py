"""What an overlay changes: places and constraints of declarations, units, switches and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ge_core.errors import GeError, UnknownNameError, UsageError, hint_lines, near_matches
from ge_core.passes.levels import Level
from ge_core.passes.ordering import Item, resolve
from ge_core.passes.overlay_layers import layers_of
from ge_core.passes.overlays import Change, Overlay, RepeatChange, StageChange
from ge_core.passes.pass_names import GIVEN_TEXT, PassNames
from ge_core.passes.pipeline_parser import parse_pipeline
from ge_core.passes.pipeline_text import BARE, PassUse, PipelineText, Repeat
from ge_core.passes.pipelines import GIVEN, TEXT, NamedPipeline, PipelineRegistry
from ge_core.passes.precedence import LEVEL, PIPELINE, Source
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.passes.stages import Place
from ge_core.passes.units import Unit, Units


@dataclass(frozen=True)
class Adjusted:
    """The declarations as a pipeline has them.

    Attributes:
        by_name: declarations, places and constraints changed.
        replaced: what stands in for a pass that was replaced.
        said: where a pipeline says a constraint, by pass and the name that it names.
        placed: where it says that a pass stands in another place, by pass.
        stood_in: where it says that a pass is replaced, by pass.
        arranged: what it says of passes besides switching them, by pass: moved, repeated.
        units: passes that are written to run together or again.
        text: the pipeline where it is a text, with the present names of its passes.
        sources: what overlays switch and set, the strongest first.
        target: the device that the pipeline asks for.
        warnings: old names that it uses.
    """

    by_name: Mapping[str, PassDeclaration]
    replaced: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    placed: Mapping[str, str] = field(default_factory=dict)
    stood_in: Mapping[str, str] = field(default_factory=dict)
    arranged: Mapping[str, str] = field(default_factory=dict)
    units: Units = field(default_factory=Units)
    text: PipelineText | None = None
    sources: tuple[Source, ...] = ()
    target: str | None = None
    warnings: tuple[str, ...] = ()

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
        single = {declaration.name: self._item(declaration) for declaration in self.declarations}
        groups = [
            Item.group([single.pop(name) for name in unit.members])
            for unit in self.units.leading()
            if len(unit.members) > 1
        ]
        return [*single.values(), *groups]

    def _item(self, declaration: PassDeclaration) -> Item:
        return Item(
            declaration.name,
            self._standing_in_all(declaration, declaration.before),
            self._standing_in_all(declaration, declaration.after),
            self._standing_in_all(declaration, declaration.needs),
            declaration.owner,
            declaration.place.rank,
            str(declaration.place),
            self.said.get(declaration.name, {}),
            self._instead(declaration),
            self.placed.get(declaration.name, ""),
        )

    def _instead(self, declaration: PassDeclaration) -> dict[str, tuple[str, str]]:
        """What is named by a constraint, and where it was replaced, by what stands in for it."""
        found: dict[str, tuple[str, str]] = {}
        for name in (*declaration.before, *declaration.after, *declaration.needs):
            known = resolve(name, declaration.owner, self.by_name)
            if known is not None:
                chain = self.standing_in(known)
                for old, new in pairwise(chain):
                    found.setdefault(new, (known, self.stood_in.get(old, "")))
        return found

    def _standing_in_all(
        self, declaration: PassDeclaration, names: Iterable[str]
    ) -> tuple[str, ...]:
        found: list[str] = []
        for name in names:
            known = resolve(name, declaration.owner, self.by_name)
            meant = [name] if known is None else self.standing_in(known)
            # A replacement has its original's constraints, which may name the replacement.
            own = declaration.name
            found += [n for n in meant if n != own] if len(meant) > 1 else meant
        return tuple(dict.fromkeys(found))


def adjust(
    passes: PassRegistry, pipelines: PipelineRegistry, named: NamedPipeline | None
) -> Adjusted:
    """The declarations as a pipeline has them; every name in it must be known.

    Raises:
        UnknownNameError: it names a pass or pipeline that nobody registered.
        UsageError: see `layers_of`; a stage or a repeat can't be made as it says.
    """
    by_name = {declaration.name: declaration for declaration in passes}
    if named is None:
        return Adjusted(by_name)
    names = PassNames(passes)
    if isinstance(named.value, PipelineText):
        text = _with_known_names(named, named.value, names, pipelines)
        return Adjusted(by_name, text=text, warnings=tuple(names.warnings))
    layers = layers_of(pipelines, named.value)
    adjusting = _Adjusting(names, pipelines, by_name)
    sources = []
    for at, overlay in enumerate(layers.overlays):
        source = adjusting.apply(overlay)
        shown = f"pipeline {overlay.name}"
        if named.chosen and overlay is layers.overlays[-1]:
            shown = named.shown
        if at == 0 and LEVEL not in source.options:
            source = replace(source, options={**source.options, LEVEL: layers.level})
        sources.append(replace(source, origin=shown))
    return Adjusted(
        by_name,
        adjusting.replaced,
        adjusting.said,
        adjusting.placed,
        adjusting.stood_in,
        adjusting.arranged,
        adjusting.units,
        sources=tuple(reversed(sources)),
        target=layers.target,
        warnings=(*layers.warnings, *names.warnings),
    )


def _with_known_names(
    named: NamedPipeline, text: PipelineText, names: PassNames, pipelines: PipelineRegistry
) -> PipelineText:
    where = GIVEN_TEXT
    if named.name != TEXT:
        where = f"pipeline {named.name!r} ({named.origin})"
    elif named.origin != GIVEN:
        where = named.origin
    try:
        return names.in_text(text, where)
    except UnknownNameError as error:
        wanted = text.source.strip()
        if not BARE.fullmatch(wanted):
            raise
        # One word may as well be meant as the name of a pipeline.
        levels = [*map(str, Level), *pipelines.levels.names()]
        near = [f"{n} (pipeline)" for n in near_matches(wanted, pipelines.names())]
        near += [f"{n} (level)" for n in near_matches(wanted, levels)]
        help_ = "see `ge pipelines` and `ge passes`"
        if wanted in levels:
            near, help_ = [], f"{wanted} is a level: give it as -O {wanted}"
        missing = None if near or wanted in levels else pipelines.missing_hint
        raise UnknownNameError(
            f"no pipeline or pass {wanted!r}",
            near=(*near, *error.near),
            hint=hint_lines(f"given by: {named.origin}", missing, help_),
        ) from None


class _Adjusting:
    """Applies overlays, the weakest first, to the declarations in `by_name`."""

    def __init__(
        self, names: PassNames, pipelines: PipelineRegistry, by_name: dict[str, PassDeclaration]
    ) -> None:
        self.names = names
        self.pipelines = pipelines
        self.by_name = by_name
        self.replaced: dict[str, str] = {}
        self.said: dict[str, dict[str, str]] = {}
        self.placed: dict[str, str] = {}
        self.stood_in: dict[str, str] = {}
        self.arranged: dict[str, str] = {}
        self.units = Units()

    def apply(self, overlay: Overlay) -> Source:
        """Apply one; what it switches and sets."""
        switching = _Switching(overlay)
        for stage in overlay.stages:
            self._replace_stage(stage, overlay, switching)
        for change in overlay.replace:
            self._replace(change, overlay, switching)
        for change in overlay.add:
            name = self._move(change, overlay)
            switching.on(name, change.line, f"add {name}")
            switching.set_options(name, change)
        for change in overlay.reorder:
            name = self._move(change, overlay)
            self.arranged[name] = f"{overlay.where(change.line)}: {name} is moved"
        for change in overlay.remove:
            name = self._known(change.name, overlay, change.line)
            switching.off(name, change.line, f"remove {name}")
        for repeat in overlay.repeat:
            self._repeat(repeat, overlay)
        return switching.source()

    def _known(self, name: str, overlay: Overlay, line: int) -> str:
        return self.names.known(name, overlay.where(line))

    def _move(self, change: Change, overlay: Overlay) -> str:
        where = overlay.where(change.line)
        name = self._known(change.name, overlay, change.line)
        before = tuple(self._known(n, overlay, change.line) for n in change.before)
        after = tuple(self._known(n, overlay, change.line) for n in change.after)
        if before or after or change.place is not None:
            self.units.detach(name)
        if change.place is not None:
            self._place(name, change.place, where)
        for other in before:
            self._order(name, other, where, name)
        for other in after:
            self._order(other, name, where, name)
        return name

    def _place(self, name: str, place: Place, where: str) -> None:
        if self.by_name[name].place != place:
            self.placed[name] = where
        self.by_name[name] = replace(self.by_name[name], place=place)

    def _order(self, first: str, second: str, where: str, says: str) -> None:
        """One pass before another; soft constraints that say the contrary give way."""
        a, b = self.by_name[first], self.by_name[second]
        a = replace(a, after=self._without(a, a.after, second))
        b = replace(b, before=self._without(b, b.before, first))
        if says == first:
            a = replace(a, before=(*a.before, second))
        else:
            b = replace(b, after=(*b.after, first))
        self.by_name[first], self.by_name[second] = a, b
        self.said.setdefault(says, {})[second if says == first else first] = where

    def _without(
        self, declaration: PassDeclaration, names: tuple[str, ...], unwanted: str
    ) -> tuple[str, ...]:
        owner = declaration.owner
        return tuple(n for n in names if resolve(n, owner, self.by_name) != unwanted)

    def _replace(self, change: Change, overlay: Overlay, switching: _Switching) -> None:
        assert change.replacement is not None
        old = self.by_name[self._known(change.name, overlay, change.line)]
        new = self.by_name[self._known(change.replacement, overlay, change.line)]
        where = overlay.where(change.line)
        said = self.said.setdefault(new.name, {})
        for other in (*old.before, *old.after):
            full = resolve(other, old.owner, self.by_name)
            by = self.said.get(old.name, {}).get(other) or f"{old.name} of {old.owner}"
            if full is not None and full not in said:
                said[full] = f"{by}, whose place it takes by {where}"
        self.by_name[new.name] = replace(
            new,
            place=old.place,
            before=(*new.before, *self._full(old, old.before)),
            after=(*new.after, *self._full(old, old.after)),
        )
        if new.place != old.place:
            self.placed[new.name] = self.placed.get(old.name, where)
        self.replaced[old.name] = new.name
        self.stood_in[old.name] = where
        self.units.rename(old.name, new.name)
        switching.off(old.name, change.line, f"replace {old.name}")
        switching.on(new.name, change.line, f"replace {old.name}")
        switching.set_options(new.name, change)

    def _full(self, owner: PassDeclaration, names: tuple[str, ...]) -> tuple[str, ...]:
        """Constraints as another pass may take them over: with full names."""
        return tuple(resolve(name, owner.owner, self.by_name) or name for name in names)

    # ---- units ---------------------------------------------------------------------------------

    def _repeat(self, change: RepeatChange, overlay: Overlay) -> None:
        where = overlay.where(change.line)
        names = [self._known(name, overlay, change.line) for name in change.passes]
        for name in names:
            self.units.detach(name)
            if change.place is not None:
                self._place(name, change.place, where)
            self.arranged[name] = f"{where}: {name} is repeated"
        places = {str(self.by_name[n].place): n for n in names}
        if len(places) > 1:
            shown = ", ".join(f"{name} in {place}" for place, name in places.items())
            raise UsageError(
                f"{where}: a repeat runs passes of one stage, and these stand apart: {shown}",
                hint="stage = ... moves all of them to one",
            )
        repeat = Repeat(self.units.next_id(), change.limit)
        uses = tuple(PassUse(name, repeat=repeat) for name in names)
        self.units.lead(Unit(uses, tuple(names)))

    def _replace_stage(self, change: StageChange, overlay: Overlay, switching: _Switching) -> None:
        where = overlay.where(change.line)
        text = self._stage_text(change, where)
        written = [
            use for use in text.uses if (use.place or self.by_name[use.name].place) == change.place
        ]
        if not written:
            there = dict.fromkeys(str(u.place or self.by_name[u.name].place) for u in text.uses)
            raise UsageError(
                f"{where}: pipeline {change.pipeline!r} has nothing in {change.place}",
                hint=f"it has passes in: {', '.join(there) or 'no stage'}",
            )
        names = list(dict.fromkeys(use.name for use in written))
        for name in sorted(self.by_name):
            if self.by_name[name].place == change.place and name not in names:
                switching.off(name, change.line, f"replace stage {change.place}")
        for name in names:
            self.units.detach(name)
            self._place(name, change.place, where)
            switching.on(name, change.line, f"replace stage {change.place}")
        for at, name in enumerate(names):
            # Soft constraints among them say nothing: their order is written.
            for later in names[at + 1 :]:
                self._order(name, later, where, name)
        for at, use in enumerate(written):
            if sum(other.name == use.name for other in written) == 1:
                switching.weakly(use)
                written[at] = replace(use, options=())
        self.units.lay(written)

    def _stage_text(self, change: StageChange, where: str) -> PipelineText:
        name, warning = self.pipelines.current(change.pipeline)
        if warning is not None:
            self.names.warn(f"{where}: {warning}")
        if name not in self.pipelines:
            if not BARE.fullmatch(name) or self.names.is_known(name):
                return self._written_text(name, where)
            error = self.pipelines.unknown(name)
            raise _named_by(error, where)
        value = self.pipelines.get(name)
        if not isinstance(value, PipelineText):
            raise UsageError(
                f"{where}: pipeline {name!r} is an overlay, and a stage is replaced by what a"
                " pipeline text has in it",
                owner=str(value.owner) if value.owner.name else None,
                hint="register it with pipelines.add_text(name, text)",
            )
        return self.names.in_text(value, f"pipeline {name!r}, taken by {where}")

    def _written_text(self, text: str, where: str) -> PipelineText:
        """A text that stands in the overlay itself."""
        try:
            return self.names.in_text(parse_pipeline(text), where)
        except GeError as error:
            if where not in str(error):
                _named_by(error, where)
            raise


class _Switching:
    """What one overlay switches and sets; a pass that it names beats a stage that it empties."""

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self.switched: dict[str, bool] = {}
        self.options: dict[str, str] = {}
        self.origins: dict[str, str] = {}
        self.changes: dict[str, str] = {}
        for name, value in overlay.settings.items():
            line = overlay.lines.get(f"set.{name}", 0)
            self.origins[name] = f"{overlay.where(line)}: {name}={value}"

    def on(self, name: str, line: int, change: str) -> None:
        self._switch(name, True, line, change)

    def off(self, name: str, line: int, change: str) -> None:
        self._switch(name, False, line, change)

    def _switch(self, name: str, runs: bool, line: int, change: str) -> None:
        self.switched[name] = runs
        switch = f"{'enable' if runs else 'disable'} {name}"
        self.origins[switch] = self.overlay.where(line)
        in_file = self.overlay.origin and line
        self.changes[switch] = f"{self.overlay.where(line)}: {change}" if in_file else change

    def set_options(self, name: str, change: Change) -> None:
        for field_name, value in change.options.items():
            full = f"{name}.{field_name}"
            self.options[full] = value
            self.origins[full] = f"{self.overlay.where(change.line)}: {full}={value}"

    def weakly(self, use: PassUse) -> None:
        """Options in a stage's text, which what the overlay sets itself beats."""
        for field_name, value in use.options:
            self.options.setdefault(f"{use.name}.{field_name}", value)

    def source(self) -> Source:
        return Source(
            PIPELINE,
            {**self.options, **self.overlay.settings},
            enable=tuple(sorted(name for name, runs in self.switched.items() if runs)),
            disable=tuple(sorted(name for name, runs in self.switched.items() if not runs)),
            origins=self.origins,
            changes=self.changes,
        )


def _named_by(error: GeError, where: str) -> GeError:
    error.hint = hint_lines(f"named by: {where}", error.hint)
    return error
