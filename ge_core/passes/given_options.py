"""Options of passes that users give (`Pass.field`): checked whether or not the pass runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ge_core.errors import GeError
from ge_core.passes.pass_options import read_options
from ge_core.passes.precedence import Decision, Settings
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.sources import PIPELINE, STRENGTH


def unread_options(
    settings: Settings,
    declarations: Mapping[str, PassDeclaration],
    decisions: Mapping[str, Decision],
) -> Iterator[str]:
    """Warnings about options of passes that don't run.

    A pipeline may give options to passes that others switch off: nobody wrote those in vain.

    Raises:
        OptionError, UnknownNameError: a bad value, or no such option; says who gave it.
    """
    for name in sorted(settings.pass_options):
        for option, given in sorted(settings.pass_options[name].items()):
            try:
                read_options(declarations[name], {option: given.value})
            except GeError as error:
                error.hint = "\n  ".join(filter(None, [f"given by: {given.given}", error.hint]))
                raise
            if not decisions[name].runs and given.rank != STRENGTH.index(PIPELINE):
                yield f"option {name}.{option} is set ({given.source}), and {name} does not run"
