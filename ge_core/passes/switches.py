"""Texts that switch passes: `ge.optimizationSwitch`, `ge.disableOptimizations`, a pass's own name.

GE reads them as it finds them: what it doesn't understand it leaves out, with a line in its log at
most. Here that is an error, or, where `ge.strictOptions` is false, GE's reading and a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.errors import GeError, UnknownNameError, near_matches
from ge_core.passes.options import OptionRegistry
from ge_core.passes.ordering import resolve
from ge_core.passes.pass_names import unknown_pass, without_prefix
from ge_core.passes.pass_options import describe_options
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.registry import Owner

GE_MARKER: Final = "forbidden_close_pass"
"""Not a pass: a marker that GE's own tools append to every switch text."""

GE_DISABLES: Final = (
    "RemoveSameConstPass",
    "ConstantFoldingPass",
    "TransOpWithoutReshapeFusionPass",
)
"""The passes that `ge.disableOptimizations` reaches in GE; here it reaches all."""


def is_marker(text: str) -> bool:
    """Whether a switch text is GE's marker and nothing else."""
    return text in (f"{GE_MARKER}:on", f"{GE_MARKER}:off")


def bound_passes(
    option: str, passes: PassRegistry, options: OptionRegistry
) -> list[PassDeclaration]:
    """The passes that an option switches."""
    return [d for d in passes if any(resolve(n, d.owner, options) == option for n in d.switch)]


@dataclass(frozen=True, slots=True)
class Switch:
    """One part of a text.

    Attributes:
        token: as written.
        name: of the pass, its present one; as written where there is a problem.
        on: what it says; None where that can't be told.
        problem: why it says nothing, None where it says something.
        hint: what to do about it.
        near: names that exist and look alike.
    """

    token: str
    name: str
    on: bool | None = None
    problem: str | None = None
    hint: str | None = None
    near: tuple[str, ...] = ()


class NameReader:
    """Resolves names that users write; collects what is to be said about old ones."""

    def __init__(self, options: OptionRegistry, passes: PassRegistry) -> None:
        self.options = options
        self.passes = passes
        self.warnings: list[str] = []

    def pass_name(self, name: str) -> str | None:
        """The present name of a pass, None where there is none of that name."""
        return self._name(self.passes, name)

    def option_name(self, name: str) -> str | None:
        """The present name of an option, None where there is none of that name."""
        return self._name(self.options, name)

    def _name(self, registry: OptionRegistry | PassRegistry, name: str) -> str | None:
        if name in registry:
            return name
        try:
            new, warning = registry.current(name)
        except UnknownNameError:
            return None
        if new not in registry:
            return None
        if warning is not None:
            self.warnings.append(warning)
        return new

    def no_pass(self, name: str) -> GeError:
        """The error for a name of a pass that nobody knows; spaces around it are told."""
        error = unknown_pass(self.passes, name)
        if name != name.strip():
            error.message += ": spaces count"
        return error

    def no_option(self, name: str) -> GeError:
        """The error for a name that is neither an option nor a pass."""
        of_pass = name.rpartition(".")[0]
        if any(rename.old == of_pass for rename in self.passes.renames()):
            # Its time is over, else it would have been found.
            return self.passes.unknown(of_pass)
        called = self.options.called(name)
        if called:
            owners = [f"{option.name} ({option.owner})" for option in called]
            hint = f"{name} is what ATC calls it"
            return UnknownNameError(f"no option {name!r}", near=owners, hint=hint)
        error = self.options.unknown(name)
        if isinstance(error, UnknownNameError):
            error.near = self.near(name) or error.near
            if error.near and error.hint == self.options.missing_hint:
                error.hint = None
        return error

    def near(self, name: str) -> tuple[str, ...]:
        """Options, passes and passes' own options whose names look alike, with their owners."""
        owners = {entry.name: entry.owner for entry in self.options.entries()}
        owners.update((entry.name, entry.owner) for entry in self.passes.entries())
        owners.update(self._fields_near(name))
        return tuple(
            f"{match} ({owners[match]})" if owners[match].name else match
            for match in near_matches(name, owners)
        )

    def _fields_near(self, name: str) -> Iterator[tuple[str, Owner]]:
        """The options of passes that the name's first part is near to; others aren't imported."""
        written = name.rpartition(".")[0]
        meant = [d.name for d in without_prefix(self.passes, written)]
        for match in dict.fromkeys([*meant, *near_matches(written, self.passes.names())]):
            declaration = self.passes.get(match)
            try:
                described = describe_options(declaration)
            except GeError:
                continue  # a pass that can't be loaded is told where it is needed
            for option in described:
                yield f"{match}.{option.name}", declaration.owner

    # ---- texts ---------------------------------------------------------------------------------

    def switches(self, text: str) -> Iterator[Switch]:
        """The parts of `Pass:on;Pass:off`; a last `;` ends the text and begins nothing."""
        tokens = text.split(";")
        if tokens[-1] == "":
            tokens.pop()
        for token in tokens:
            name, _, value = token.partition(":")
            if name != GE_MARKER or value not in ("on", "off"):
                yield self._switch(token, name, value)

    def _switch(self, token: str, name: str, value: str) -> Switch:
        if not name or value not in ("on", "off"):
            near = () if not name or name in self.passes else self.no_pass(name).near
            hint = "separate the passes with ';'" if "," in token else None
            return Switch(token, name, None, f"{token!r} is not Pass:on or Pass:off", hint, near)
        option = self.option_name(name)
        if option is not None:
            bound = [d.name for d in bound_passes(option, self.passes, self.options)]
            hint = f"it is set by its own name: {name}={'true' if value == 'on' else 'false'}"
            if bound:
                hint += f"; passes bound to it: {', '.join(bound)}"
            return Switch(token, name, None, f"{name!r} is an option, no pass", hint)
        return self._known(token, name, value == "on")

    def _known(self, token: str, name: str, on: bool) -> Switch:
        known = self.pass_name(name)
        if known is not None:
            return Switch(token, known, on)
        error = self.no_pass(name)
        return Switch(token, name, None, error.message, error.hint, error.near)

    def disabled(self, text: str) -> Iterator[Switch]:
        """The names of a comma list, each of which switches a pass off."""
        for name in text.split(",") if text else ():
            if name:
                yield self._known(name, name, False)
            else:
                yield Switch(name, name, None, "a name is empty")
