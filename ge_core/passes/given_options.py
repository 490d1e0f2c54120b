"""Options of passes that users give (`Pass.field`): checked whether or not the pass runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ge_core.errors import GeError, hint_lines
from ge_core.passes.pass_options import read_options
from ge_core.passes.precedence import Decision, Settings
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.sources import LEVEL, PIPELINE_RANK


def unread_options(
    settings: Settings,
    declarations: Mapping[str, PassDeclaration],
    decisions: Mapping[str, Decision],
) -> Iterator[str]:
    """Warnings about options of passes that don't run.

    A pipeline may give options to passes that others switch off, or that run at its own level and
    not at another that was asked for: nobody wrote those in vain.

    Raises:
        OptionError, UnknownNameError: a bad value, or no such option; says who gave it.
    """
    for name in sorted(settings.pass_options):
        for option, given in sorted(settings.pass_options[name].items()):
            try:
                read_options(declarations[name], {option: given.value})
            except GeError as error:
                error.hint = hint_lines(f"given by: {given.given}", error.hint)
                raise
            if given.rank == PIPELINE_RANK and not _in_vain(settings, decisions[name]):
                continue
            if not decisions[name].runs:
                source = (
                    given.given or given.source if given.rank == PIPELINE_RANK else given.source
                )
                yield f"option {name}.{option} is set ({source}), and {name} does not run"


def unused_changes(
    settings: Settings, changes: Mapping[str, str], decisions: Mapping[str, Decision]
) -> Iterator[str]:
    """Warnings about passes that a pipeline moves or repeats, and that don't run at its level."""
    for name in sorted(changes):
        if _in_vain(settings, decisions[name]):
            yield f"{changes[name]}, and does not run"


def _in_vain(settings: Settings, decision: Decision) -> bool:
    """Whether what a pipeline says of a pass says nothing at the pipeline's own level."""
    level = settings.values.values.get(LEVEL)
    own = level is not None and level.rank == PIPELINE_RANK
    return own and not decision.runs and decision.rank is None
