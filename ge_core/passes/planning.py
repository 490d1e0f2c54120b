"""From registries and sources to a schedule: which passes run, in which order, with what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ge_core.errors import PluginError, UsageError
from ge_core.passes.base import Pass
from ge_core.passes.claim_plan import ClaimPlan, ClaimPlanner
from ge_core.passes.levels import WorkingLevel
from ge_core.passes.options import OptionRegistry, OptionValues
from ge_core.passes.ordering import arrange, resolve
from ge_core.passes.overlay_plan import Adjusted, adjust, overlay_sources
from ge_core.passes.overlays import Overlay
from ge_core.passes.pass_options import changed_options, read_options
from ge_core.passes.pipeline_text import PassUse, PipelineText
from ge_core.passes.pipelines import NamedPipeline, PipelineRegistry
from ge_core.passes.precedence import (
    LEVEL,
    PIPELINE,
    STRENGTH,
    Because,
    Decision,
    Settings,
    Source,
    settle,
)
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.passes.stages import PLACES, Place


@dataclass(frozen=True)
class Catalog:
    """What there is to plan with.

    Attributes:
        capabilities: what passes may require (`read_write`, ...) and is there.
    """

    passes: PassRegistry
    options: OptionRegistry
    pipelines: PipelineRegistry = field(default_factory=PipelineRegistry)
    capabilities: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One pass that runs: where, and with which option values."""

    declaration: PassDeclaration
    place: Place
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The pass's name."""
        return self.declaration.name

    def make(self) -> Pass:
        """The pass, ready to run."""
        return self.declaration.make(**self.options)


@dataclass(frozen=True)
class Schedule:
    """What runs, in order, and why.

    Attributes:
        decisions: of every registered pass, by name.
        declarations: every registered pass, as the pipeline has it, by name.
        target: the target that the pipeline asks for.
        pipeline: the name of the pipeline in force; the level's where none was given.
        claims: what the passes rely on, establish, invalidate and preserve.
    """

    level: WorkingLevel
    options: OptionValues
    passes: tuple[Scheduled, ...]
    decisions: Mapping[str, Decision]
    declarations: tuple[PassDeclaration, ...]
    pipeline: str
    target: str | None = None
    warnings: tuple[str, ...] = ()
    claims: ClaimPlan = field(default_factory=ClaimPlan)

    def text(self) -> PipelineText:
        """The schedule as a pipeline: it runs the same passes in the same order."""
        return PipelineText(
            tuple(
                PassUse(
                    step.name,
                    tuple(changed_options(step.declaration, step.options).items()),
                    step.place,
                )
                for step in self.passes
            )
        )


def plan_passes(
    catalog: Catalog,
    sources: Sequence[Source] = (),
    pipeline: str | NamedPipeline | None = None,
    *,
    exact: bool = False,
) -> Schedule:
    """Decide what runs.

    Args:
        pipeline: a pipeline's name, file or text; also found where the level names an overlay.
        exact: run what a pipeline text says and nothing else, required passes included.

    Raises:
        OptionError, UnknownNameError, UsageError: what a user gave can't be understood or met.
        PluginError: constraints of passes contradict each other, or a needed one is missing.
    """
    named = _by_name(catalog, pipeline)
    if named is None:
        named = _by_level(catalog, sources)
        if named is not None:
            # The level is what the overlay stands on: it says so itself.
            sources = [_without_level(source, named.name) for source in sources]
    value = None if named is None else named.value
    adjusted = adjust(catalog.passes, catalog.pipelines, value)
    overlays = overlay_sources(catalog.pipelines, value)
    settings = settle(
        [*sources, *overlays],
        catalog.options,
        catalog.passes,
        catalog.pipelines.levels,
        [f"{e.name} ({e.owner})" for e in catalog.pipelines.entries() if is_overlay(e.value)],
    )
    planner = _Planner(catalog, settings, adjusted)
    text = value if isinstance(value, PipelineText) else None
    steps = planner.plan(text, exact)
    claims = planner.claims.plan(steps, planner.decisions, planner.standing_in)
    return Schedule(
        level=settings.level,
        options=settings.values,
        passes=steps,
        decisions=planner.decisions,
        declarations=tuple(adjusted.declarations),
        pipeline=settings.level.name if named is None else named.name,
        target=value.target if isinstance(value, Overlay) else None,
        warnings=(*settings.warnings, *planner.warnings, *claims.warnings),
        claims=claims,
    )


_PIPELINE_RANK = STRENGTH.index(PIPELINE)


def _by_name(catalog: Catalog, pipeline: str | NamedPipeline | None) -> NamedPipeline | None:
    return catalog.pipelines.select(pipeline) if isinstance(pipeline, str) else pipeline


def is_overlay(value: object) -> bool:
    """Whether a pipeline may be given as a level."""
    return isinstance(value, Overlay)


def _by_level(catalog: Catalog, sources: Sequence[Source]) -> NamedPipeline | None:
    """The overlay that the strongest level names, where it is not a level set."""
    ranked = sorted(sources, key=lambda source: source.rank)
    level = next((s.options[LEVEL] for s in ranked if LEVEL in s.options), None)
    pipelines = catalog.pipelines
    if level is None or level not in pipelines or level in pipelines.levels:
        return None
    return pipelines.select(level) if is_overlay(pipelines.get(level)) else None


def _without_level(source: Source, level: str) -> Source:
    if source.options.get(LEVEL) != level:
        return source
    return replace(source, options={n: v for n, v in source.options.items() if n != LEVEL})


class _Planner:
    def __init__(self, catalog: Catalog, settings: Settings, adjusted: Adjusted) -> None:
        self.catalog = catalog
        self.settings = settings
        self.adjusted = adjusted
        self.decisions: dict[str, Decision] = {}
        self.warnings: list[str] = []
        self.claims = ClaimPlanner(catalog.passes, catalog.capabilities)

    def plan(self, text: PipelineText | None, exact: bool) -> tuple[Scheduled, ...]:
        order = arrange(self.adjusted.items())
        for declaration in self.adjusted.declarations:
            decision = self.settings.decide(declaration)
            if text is not None:
                decision = _by_text(declaration, decision, text, exact)
            self.decisions[declaration.name] = decision
        self._drop_what_lacks_something(order)
        steps = self._steps(order, text)
        self._check_needs(steps)
        self.decisions = {name: self.decisions[name] for name in sorted(self.decisions)}
        return steps

    # ---- needs ---------------------------------------------------------------------------------

    def _drop_what_lacks_something(self, order: Sequence[str]) -> None:
        # In running order: what is needed stands earlier, so one turn sees all consequences.
        for name in order:
            declaration = self.adjusted.get(name)
            if self.decisions[name].runs:
                lack = self._lack_of_ability(declaration) or self._lack_of_pass(declaration)
                if lack is not None:
                    self._switch_off(declaration, lack)

    def _lack_of_ability(self, declaration: PassDeclaration) -> Because | None:
        return self.claims.lack_of_ability(declaration)

    def _lack_of_pass(self, declaration: PassDeclaration) -> Because | None:
        for need in declaration.needs:
            found = resolve(need, declaration.owner, self.adjusted.by_name)
            if found is None:
                error = self.catalog.passes.unknown(need)
                raise PluginError(
                    f"pass {declaration.name!r} needs {need!r}, which is not there",
                    near=error.near,
                    owner=str(declaration.owner),
                    hint=error.hint,
                )
            if not any(self.decisions[n].runs for n in self.adjusted.standing_in(found)):
                return Because("passes", "needs", f"{found} is off")
        return None

    def standing_in(self, declaration: PassDeclaration, need: str) -> list[str]:
        """All passes that satisfy a need; none where it isn't there."""
        found = resolve(need, declaration.owner, self.adjusted.by_name)
        return [] if found is None else self.adjusted.standing_in(found)

    def _switch_off(self, declaration: PassDeclaration, lack: Because) -> None:
        decision = self.decisions[declaration.name]
        if decision.explicit or declaration.required:
            raise UsageError(
                f"pass {declaration.name!r} can't run: {lack.rule}: {lack.value}",
                owner=str(declaration.owner),
                hint=f"`ge passes why {declaration.name}` says more",
            )
        self.decisions[declaration.name] = replace(
            decision, runs=False, because=(lack, *decision.because)
        )
        if lack.rule == "requires":
            self.warnings.append(f"pass {declaration.name} is off: {lack.value}")

    def _check_needs(self, steps: Sequence[Scheduled]) -> None:
        ran: set[str] = set()
        for step in steps:
            for need in step.declaration.needs:
                found = resolve(need, step.declaration.owner, self.adjusted.by_name)
                if found is not None and not ran.intersection(self.adjusted.standing_in(found)):
                    raise UsageError(
                        f"pass {step.name!r} needs {found!r} to run before it",
                        owner=str(step.declaration.owner),
                        hint="write them in that order",
                    )
            ran.add(step.name)

    # ---- order and options ---------------------------------------------------------------------

    def _steps(self, order: Sequence[str], text: PipelineText | None) -> tuple[Scheduled, ...]:
        written: list[Scheduled] = []
        last = PLACES[0]
        for use in text.uses if text is not None else ():
            declaration = self.adjusted.get(use.name)
            place = use.place or declaration.place
            if place.rank < last.rank:
                if use.place is not None:
                    raise UsageError(f"the pipeline writes {place} after {last}, which is later")
                place = last
            last = place
            if self.decisions[use.name].runs:
                written.append(self._step(declaration, place, dict(use.options)))
        listed = {step.name for step in written}
        others = [
            self._step(self.adjusted.get(name), self.adjusted.get(name).place, {})
            for name in order
            if self.decisions[name].runs and name not in listed
        ]
        # Stable: what is written keeps its order, and the rest follows it inside each place.
        return tuple(sorted([*written, *others], key=lambda step: step.place.rank))

    def _step(
        self, declaration: PassDeclaration, place: Place, written: Mapping[str, str]
    ) -> Scheduled:
        given = self.settings.pass_options.get(declaration.name, {})
        overlaid = self.adjusted.options.get(declaration.name, {})
        texts = {name: value.value for name, value in given.items()}
        for name, value in {**overlaid, **written}.items():
            if name not in given or given[name].rank >= _PIPELINE_RANK:
                texts[name] = value
        return Scheduled(declaration, place, read_options(declaration, texts))


def _by_text(
    declaration: PassDeclaration, decision: Decision, text: PipelineText, exact: bool
) -> Decision:
    """A pipeline text's say: between the arguments and the rest."""
    name = declaration.name
    if decision.rank is not None and decision.rank < _PIPELINE_RANK and not exact:
        return decision
    listed = any(use.name == name for use in text.uses)
    if not listed and declaration.required and not exact:
        because = Because("pipeline", "required", "not written, and can't be left out")
        return replace(decision, runs=True, because=(because, *decision.because))
    rule = "written in the pipeline" if listed else "not written in the pipeline"
    because = Because("pipeline", rule, name)
    return Decision(name, listed, (because, *decision.because), _PIPELINE_RANK)
