"""Names of passes that users write in pipelines: old ones, unknown ones, ones without a prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ge_core.errors import GeError, hint_lines
from ge_core.passes.pipeline_text import PipelineText
from ge_core.passes.registry import PassDeclaration, PassRegistry

GIVEN_TEXT: Final = "the pipeline text"
"""Who writes the names in a text that a user gives: the mark in it says enough."""


class PassNames:
    """Resolves names, and keeps the warnings about old ones."""

    def __init__(self, passes: PassRegistry) -> None:
        self._passes = passes
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def is_known(self, name: str) -> bool:
        """Whether there is a pass of that name, or was."""
        try:
            return self._passes.current(name)[0] in self._passes
        except GeError:
            return True

    def known(self, name: str, where: str, mark: str | None = None) -> str:
        """The name that holds today.

        Args:
            where: who writes it; named in errors and warnings.
            mark: shown with an error.

        Raises:
            UnknownNameError: nobody registered it; near names and their owners, and what a short
                name may mean.
        """
        try:
            current, warning = self._passes.current(name)
        except GeError as error:
            raise _explained(error, where, mark) from None
        if warning is not None:
            self.warn(f"{where}: {warning}")
        if current not in self._passes:
            raise _explained(unknown_pass(self._passes, current), where, mark)
        return current

    def in_text(self, text: PipelineText, where: str = GIVEN_TEXT) -> PipelineText:
        """The pipeline with present names; raises what `known` raises."""
        uses = tuple(
            replace(use, name=self.known(use.name, where, text.pointer(use))) for use in text.uses
        )
        return PipelineText(uses, text.source)


def unknown_pass(passes: PassRegistry, name: str) -> GeError:
    """The error for a pass that nobody registered; explains a name without its owner's prefix."""
    error = passes.unknown(name)
    meant = without_prefix(passes, name)
    if meant:
        shown = [f"{declaration.name} ({declaration.owner})" for declaration in meant]
        if error.hint == passes.missing_hint:
            error.hint = None
        error.near = (*shown, *(near for near in error.near if near not in shown))
        said = "write it with its owner's prefix"
        if len(meant) > 1:
            said = f"{len(meant)} packages have a pass of that name: write the one meant in full"
        error.hint = hint_lines(said, error.hint)
    return error


def without_prefix(passes: PassRegistry, name: str) -> list[PassDeclaration]:
    """Third parties' passes whose name without the owner's prefix is this one."""
    return [d for d in passes if d.name != name and d.name == f"{d.owner.name}.{name}"]


def _explained(error: GeError, where: str, mark: str | None) -> GeError:
    named = None if mark is not None and where == GIVEN_TEXT else f"named by: {where}"
    error.hint = hint_lines(mark, named, error.hint)
    return error
