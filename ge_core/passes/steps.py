"""The steps of a schedule: in which order, place and repeat the passes that run stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ge_core.errors import GeError, UsageError, hint_lines
from ge_core.passes.overlay_plan import Adjusted
from ge_core.passes.pass_options import read_options
from ge_core.passes.pipeline_text import PassUse, PipelineText, Repeat, number_groups
from ge_core.passes.precedence import Decision, Settings
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.schedule import Scheduled
from ge_core.passes.sources import PIPELINE_RANK
from ge_core.passes.stages import PLACES, Place


def lay_out(
    order: Sequence[str],
    adjusted: Adjusted,
    decisions: Mapping[str, Decision],
    settings: Settings,
) -> tuple[Scheduled, ...]:
    """The passes that run, in order.

    Args:
        order: of all passes, solved from their constraints; a text's own order comes first.

    Raises:
        UsageError: a text goes back to an earlier stage, or repeats over two.
        OptionError, UnknownNameError: a pass's option has a bad value, or there is none.
    """
    return _Steps(adjusted, decisions, settings).all(order)


class _Steps:
    def __init__(
        self, adjusted: Adjusted, decisions: Mapping[str, Decision], settings: Settings
    ) -> None:
        self.adjusted = adjusted
        self.decisions = decisions
        self.settings = settings
        self.repeats = 0

    def all(self, order: Sequence[str]) -> tuple[Scheduled, ...]:
        text = self.adjusted.text
        written = [] if text is None else self._written(text)
        listed = {step.name for step in written}
        others = self._others([name for name in order if name not in listed])
        # Stable: what is written keeps its order, and the rest follows it inside each place.
        steps = sorted([*written, *others], key=lambda step: step.place.rank)
        numbers = number_groups([(step.repeat, step.place) for step in steps])
        return tuple(replace(step, repeat=new) for step, new in zip(steps, numbers, strict=True))

    def _written(self, text: PipelineText) -> list[Scheduled]:
        steps: list[Scheduled] = []
        last = PLACES[0]
        before: PassUse | None = None
        for use in text.uses:
            declaration = self.adjusted.get(use.name)
            place = use.place or declaration.place
            if place.rank < last.rank:
                if use.place is not None:
                    raise UsageError(
                        f"the pipeline writes {place} after {last}, which is later",
                        hint=text.pointer(use),
                    )
                place = last
            if before is not None and use.repeat is not None and use.repeat == before.repeat:
                _check_one_place(text, use, place, before, last)
            last, before = place, use
            if self.decisions[use.name].runs:
                steps.append(self._step(declaration, place, use, text.pointer(use)))
        return steps

    def _others(self, order: Sequence[str]) -> list[Scheduled]:
        steps: list[Scheduled] = []
        done: set[str] = set()
        for name in order:
            if name in done:
                continue
            units = self.adjusted.units.chain(name)
            done.update(units[0].members if units else ())
            for use in (use for unit in units for use in unit.uses) if units else [PassUse(name)]:
                if self.decisions[use.name].runs:
                    declaration = self.adjusted.get(use.name)
                    steps.append(self._step(declaration, declaration.place, use))
        return steps

    def _step(
        self, declaration: PassDeclaration, place: Place, use: PassUse, mark: str | None = None
    ) -> Scheduled:
        given = self.settings.pass_options.get(declaration.name, {})
        texts = {name: value.value for name, value in given.items()}
        for name, value in use.options:
            if name not in given or given[name].rank >= PIPELINE_RANK:
                texts[name] = value
        try:
            values = read_options(declaration, texts)
        except GeError as error:
            if use.options and mark is not None:
                error.hint = hint_lines(mark, error.hint)
            raise
        return Scheduled(declaration, place, values, use.repeat or self._declared(declaration))

    def _declared(self, declaration: PassDeclaration) -> Repeat | None:
        """The repeat of a pass that declares one; its number is none that is written."""
        if declaration.repeat == 1:
            return None
        self.repeats -= 1
        return Repeat(self.repeats, declaration.repeat)


def _check_one_place(
    text: PipelineText, use: PassUse, place: Place, before: PassUse, last: Place
) -> None:
    if place != last:
        raise UsageError(
            f"the pipeline repeats over two stages: {before.name!r} stands in {last},"
            f" {use.name!r} in {place}",
            hint=hint_lines(text.pointer(use), f"write the stage: {place}(repeat...)"),
        )
