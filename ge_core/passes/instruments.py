"""Instruments: what watches a compile pass by pass. Plugins' hooks are one of them.

An instrument looks and changes nothing. Whatever it raises stops the compile as an error of its
own, not of the pass it was watching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ge_core.errors import GeError, PluginError
from ge_core.ir import Graph

if TYPE_CHECKING:
    from ge_core.passes.context import PassContext
    from ge_core.passes.environment import Environment
    from ge_core.passes.precedence import Because


@dataclass(frozen=True, slots=True)
class CompileStarted:
    """A compile begins: what runs, in order."""

    environment: Environment
    passes: tuple[str, ...]

    @property
    def graph(self) -> Graph:
        """The root graph."""
        return self.environment.root


@dataclass(frozen=True, slots=True)
class CompileEnded:
    """A compile has ended; `error` says why where it did not end well."""

    environment: Environment
    seconds: float
    error: GeError | None = None

    @property
    def graph(self) -> Graph:
        """The root graph, as it is now."""
        return self.environment.root


@dataclass(frozen=True, slots=True)
class Veto:
    """A pass must not run: why, and who says so (package and version)."""

    reason: str
    owner: str


class Instrument:
    """Base class: every method does nothing."""

    def compile_started(self, event: CompileStarted) -> None:
        """A compile begins."""

    def veto_pass(self, ctx: PassContext) -> Veto | str | None:
        """Asked before a pass begins: in words, why it must not run; None lets it."""
        return None

    def before_pass(self, ctx: PassContext) -> None:
        """A pass begins."""

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        """A pass has run on the root graph and all subgraphs."""

    def pass_failed(self, ctx: PassContext, error: GeError) -> None:
        """A pass raised; its edits are undone."""

    def pass_skipped(self, name: str, because: Sequence[Because]) -> None:
        """A registered pass does not run: told at the start, or where a veto is given."""

    def compile_finished(self, event: CompileEnded) -> None:
        """A compile has ended."""


def check_reason(reason: object, who: str, owner: str | None = None) -> None:
    """Raises `PluginError` for a veto that is not a text that says why."""
    if not isinstance(reason, str) or not reason.strip():
        raise PluginError(
            f"{who} answered {reason!r} when asked for a veto",
            owner=owner,
            hint="answer None, or in words why the pass must not run",
        )
