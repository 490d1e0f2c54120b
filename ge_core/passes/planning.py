"""From registries and sources to a schedule: which passes run, in which order, with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ge_core.errors import OptionError, PluginError, UsageError
from ge_core.passes.claim_plan import ClaimPlanner
from ge_core.passes.given_options import unread_options, unused_changes
from ge_core.passes.ordering import arrange, resolve
from ge_core.passes.overlay_layers import layers_of
from ge_core.passes.overlay_plan import Adjusted, adjust
from ge_core.passes.overlays import Overlay
from ge_core.passes.pass_names import unknown_pass, without_prefix
from ge_core.passes.pipeline_text import PipelineText
from ge_core.passes.pipelines import NamedPipeline, Pipeline
from ge_core.passes.precedence import ARGUMENTS, LEVEL, Because, Decision, Settings, Source, settle
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.schedule import Catalog as Catalog
from ge_core.passes.schedule import Schedule as Schedule
from ge_core.passes.schedule import Scheduled as Scheduled
from ge_core.passes.sources import PIPELINE_RANK
from ge_core.passes.steps import lay_out

NOT_WRITTEN: Final = "not written in the pipeline"
"""The rule that keeps a pass off which a pipeline text leaves out."""


def plan_passes(
    catalog: Catalog,
    sources: Sequence[Source] = (),
    pipeline: str | Path | Pipeline | NamedPipeline | None = None,
    *,
    exact: bool = False,
    fallback: NamedPipeline | None = None,
) -> Schedule:
    """Decide what runs.

    Args:
        pipeline: a pipeline's name, file or text, or its value; also found where the level names
            an overlay.
        exact: run what a pipeline text says and nothing else, required passes included.
        fallback: the pipeline where none is given, as a pipeline or as the level.

    Raises:
        OptionError, UnknownNameError, UsageError: what a user gave can't be understood or met.
        PluginError: constraints of passes contradict each other, or a needed one is missing.
    """
    warnings: list[str] = []
    named: NamedPipeline | None = None
    if isinstance(pipeline, NamedPipeline):
        named = pipeline
    elif pipeline is not None:
        named = catalog.pipelines.select(pipeline, warnings)
    if named is None:
        level, named = _by_level(catalog, sources, warnings)
        if named is not None:
            # The level is what the overlay stands on: it says so itself.
            sources = [_without_level(source, level) for source in sources]
        named = named or fallback
    else:
        sources = [_with_base_level(catalog, source, named) for source in sources]
    adjusted = adjust(catalog.passes, catalog.pipelines, named)
    settings = settle(
        [*sources, *adjusted.sources],
        catalog.options,
        catalog.passes,
        catalog.pipelines.levels,
        [f"{entry.name} ({entry.owner})" for entry in catalog.pipelines.overlays()],
    )
    planner = _Planner(catalog, settings, adjusted, "pipeline" if named is None else named.shown)
    steps = planner.plan(exact)
    claims = planner.claims.plan(steps, planner.decisions, planner.standing_in)
    return Schedule(
        level=settings.level,
        options=settings.values,
        passes=steps,
        decisions=planner.decisions,
        declarations=tuple(adjusted.declarations),
        pipeline=settings.level.name if named is None else named.name,
        target=adjusted.target,
        named=named,
        warnings=tuple(
            dict.fromkeys(
                [
                    *warnings,
                    *adjusted.warnings,
                    *settings.warnings,
                    *planner.warnings,
                    *claims.warnings,
                ]
            )
        ),
        claims=claims,
    )


def _by_level(
    catalog: Catalog, sources: Sequence[Source], warnings: list[str]
) -> tuple[str, NamedPipeline | None]:
    """The strongest level, and the overlay that it names where it is no level set."""
    ranked = sorted(sources, key=lambda source: source.rank)
    source = next((s for s in ranked if LEVEL in s.options), None)
    pipelines = catalog.pipelines
    level = "" if source is None else str(source.options[LEVEL])
    if source is None or level in pipelines.levels or pipelines.current(level)[0] not in pipelines:
        return level, None
    named = pipelines.select(level, warnings)
    if not isinstance(named.value, Overlay):
        raise OptionError(
            f"value {level!r} for option {LEVEL} is not a level",
            hint=f"given by: {source.given(LEVEL)}\n  {level} is a pipeline text ({named.origin}):"
            " give it as the pipeline",
        )
    return level, named


def _with_base_level(catalog: Catalog, source: Source, named: NamedPipeline) -> Source:
    """A source whose level is an overlay, under another pipeline: the level that it stands on.

    Raises:
        UsageError: the arguments name both.
    """
    pipelines = catalog.pipelines
    level = str(source.options.get(LEVEL, ""))
    if pipelines.levels.current(level)[0] in pipelines.levels:
        return source
    name = pipelines.current(level)[0]
    if name not in pipelines or not isinstance(pipelines.get(name), Overlay):
        return source
    overlay = pipelines.get(name)
    assert isinstance(overlay, Overlay)
    base = layers_of(pipelines, overlay).level
    if source.name == ARGUMENTS:
        raise UsageError(
            f"level {level!r} is a pipeline ({overlay.shown}), and so is {named.name!r}:"
            " one of them can run",
            hint=f"given by: {source.given(LEVEL)}\n  the level that {level} stands on: {base}",
        )
    return replace(source, options={**source.options, LEVEL: base})


def _without_level(source: Source, level: str) -> Source:
    if source.options.get(LEVEL) != level:
        return source
    return replace(source, options={n: v for n, v in source.options.items() if n != LEVEL})


class _Planner:
    def __init__(
        self, catalog: Catalog, settings: Settings, adjusted: Adjusted, shown: str
    ) -> None:
        self.catalog = catalog
        self.settings = settings
        self.adjusted = adjusted
        self.shown = shown
        self.decisions: dict[str, Decision] = {}
        self.warnings: list[str] = []
        self.claims = ClaimPlanner(catalog.passes, catalog.capabilities)

    def plan(self, exact: bool) -> tuple[Scheduled, ...]:
        order = arrange(self.adjusted.items())
        text = self.adjusted.text
        for declaration in self.adjusted.declarations:
            decision = self.settings.decide(declaration)
            if text is not None:
                decision = _by_text(declaration, decision, text, exact, self.shown)
            self.decisions[declaration.name] = decision
        self._drop_what_lacks_something(order)
        by_name = self.adjusted.by_name
        self.warnings += unread_options(self.settings, by_name, self.decisions)
        self.warnings += unused_changes(self.settings, self.adjusted.arranged, self.decisions)
        steps = lay_out(order, self.adjusted, self.decisions, self.settings)
        self._check_needs(steps)
        self._warn_of_short_names(steps)
        self.decisions = {name: self.decisions[name] for name in sorted(self.decisions)}
        return steps

    # ---- needs ---------------------------------------------------------------------------------

    def _drop_what_lacks_something(self, order: Sequence[str]) -> None:
        # In running order: what is needed stands earlier, so one turn sees all consequences.
        for name in order:
            declaration = self.adjusted.get(name)
            if self.decisions[name].runs:
                lack = self.claims.lack_of_ability(declaration) or self._lack_of_pass(declaration)
                if lack is not None:
                    self._switch_off(declaration, lack)

    def _lack_of_pass(self, declaration: PassDeclaration) -> Because | None:
        for need in declaration.needs:
            found = resolve(need, declaration.owner, self.adjusted.by_name)
            if found is None:
                error = unknown_pass(self.catalog.passes, need)
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

    def _warn_of_short_names(self, steps: Sequence[Scheduled]) -> None:
        """A soft constraint may name what isn't there; another's pass without its prefix is."""
        for step in steps:
            declaration = step.declaration
            for label, names in (("before", declaration.before), ("after", declaration.after)):
                for name in names:
                    if resolve(name, declaration.owner, self.adjusted.by_name) is not None:
                        continue
                    meant = without_prefix(self.catalog.passes, name)
                    if meant:
                        shown = " or ".join(f"{d.name} ({d.owner})" for d in meant)
                        self.warnings.append(
                            f"pass {declaration.name} ({declaration.owner}) says {label} {name},"
                            f" which is no pass: is {shown} meant?"
                        )


def _by_text(
    declaration: PassDeclaration, decision: Decision, text: PipelineText, exact: bool, shown: str
) -> Decision:
    """A pipeline text's say: between the arguments and the rest."""
    name = declaration.name
    if decision.rank is not None and decision.rank < PIPELINE_RANK and not exact:
        return decision
    listed = any(use.name == name for use in text.uses)
    if not listed and declaration.required and not exact:
        because = Because(shown, "required", "not written, and can't be left out")
        return replace(decision, runs=True, because=(because, *decision.because))
    rule = "written in the pipeline" if listed else NOT_WRITTEN
    because = Because(shown, rule, name)
    return Decision(name, listed, (because, *decision.because), PIPELINE_RANK)
