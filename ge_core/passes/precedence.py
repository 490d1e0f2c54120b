"""Who decides: what the sources set, and why a pass runs or doesn't.

Strongest first: arguments (command line or API), pipeline, project configuration, environment,
level defaults. Within one source explicit off beats explicit on, and both beat a fusion-switch
file. `ge.optimizationSwitch` is explicit on/off in the source that sets it; a bound switch option
decides before the level. GE differs in that its options are one merged table without sources.
`RULES` lists all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ge_core.errors import PluginError, UsageError
from ge_core.passes.fusion_switch import SwitchFile
from ge_core.passes.levels import Level, LevelRegistry, WorkingLevel
from ge_core.passes.options import OptionRegistry, OptionValue, OptionValues
from ge_core.passes.ordering import resolve
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.passes.sources import ARGUMENTS as ARGUMENTS
from ge_core.passes.sources import DISABLE as DISABLE
from ge_core.passes.sources import ENVIRONMENT as ENVIRONMENT
from ge_core.passes.sources import LEVEL as LEVEL
from ge_core.passes.sources import PIPELINE as PIPELINE
from ge_core.passes.sources import PROJECT as PROJECT
from ge_core.passes.sources import STRENGTH as STRENGTH
from ge_core.passes.sources import STRICT as STRICT
from ge_core.passes.sources import SWITCH as SWITCH
from ge_core.passes.sources import SWITCH_FILE as SWITCH_FILE
from ge_core.passes.sources import Source as Source

RULES: Final[Mapping[str, str]] = {
    "explicit off": "The source switches the pass off by name.",
    "explicit on": "It switches it on by name.",
    "switch file": "The fusion-switch file that it sets keeps the pass on at O1 "
    "(`ExceptionalPassOfO1Level`), or switches it by name.",
    "switch file ALL": "The file switches all passes of third parties.",
    "switch option": "The pass is bound to options, and the first that has a value says so: the "
    "secondary one, else the primary one. Empty and `true` are on, all else is off; the pass is "
    "off where none has a value at the level.",
    "level": "Of a pass that is bound to no option: it is on at the level, or at one that the "
    "level extends.",
}
"""The rules by the names that `ge passes why` prints, strongest first."""

ON_VALUES: Final = ("", "true")
"""Values of a switch option that switch a pass on."""

SOURCE_RULES: Final = tuple(RULES)[:4]
"""The rules that each source goes through before the next source is asked."""


@dataclass(frozen=True, slots=True)
class Because:
    """One step of a decision: which source, which rule, and the value that it looked at."""

    source: str
    rule: str
    value: str

    def to_json(self) -> dict[str, str]:
        """The record that `ge passes why` prints."""
        return {"source": self.source, "rule": self.rule, "value": self.value}


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a pass runs, and why: the rule that decided first, then what it overruled.

    Attributes:
        rank: of the source that switched it on or off (0 the strongest), else None.
        blanket: whether that source switched all passes and didn't name this one.
    """

    name: str
    runs: bool
    because: tuple[Because, ...]
    rank: int | None = None
    blanket: bool = False

    @property
    def explicit(self) -> bool:
        """Whether somebody named the pass."""
        return self.rank is not None and not self.blanket


@dataclass(frozen=True, slots=True)
class _Answer:
    runs: bool
    because: Because
    blanket: bool = False


@dataclass(frozen=True, slots=True)
class Switches:
    """What one source says of passes.

    Attributes:
        on, off: the text that said so, by name of the pass.
        file: the fusion-switch file in force, where this source sets it.
        file_first: whether the file is stronger than `on` and `off`.
    """

    source: Source
    on: Mapping[str, str]
    off: Mapping[str, str]
    file: SwitchFile | None = None
    file_first: bool = False

    def answers(self, declaration: PassDeclaration, level: WorkingLevel) -> Iterator[_Answer]:
        """All that it says of a pass, strongest first."""
        if self.file_first:
            yield from self._of_file(declaration, level)
        name, shown = declaration.name, self.source.shown
        if name in self.off:
            yield _Answer(False, Because(shown, "explicit off", self.off[name]))
        if name in self.on:
            yield _Answer(True, Because(shown, "explicit on", self.on[name]))
        if not self.file_first:
            yield from self._of_file(declaration, level)

    def _of_file(self, declaration: PassDeclaration, level: WorkingLevel) -> Iterator[_Answer]:
        file, name, shown = self.file, declaration.name, self.source.shown
        if file is None:
            return
        if name in file.exceptions and level.base is Level.O1:
            value = f"{file.path}: ExceptionalPassOfO1Level has {name}"
            yield _Answer(True, Because(shown, "switch file", value))
        if name in file.switches:
            on = file.switches[name]
            value = f"{file.path}: {name}:{_on_off(on)}"
            yield _Answer(on, Because(shown, "switch file", value))
        if file.all is not None and reached_by_all(file, declaration):
            value = f"{file.path}: ALL:{_on_off(file.all)}"
            yield _Answer(file.all, Because(shown, "switch file ALL", value), blanket=True)


def reached_by_all(file: SwitchFile, declaration: PassDeclaration) -> bool:
    """Whether a file's `ALL` concerns a pass: GE's own are named there, or left alone."""
    return not declaration.owner.builtin and (file.all is True or not declaration.required)


def _on_off(on: bool) -> str:
    return "on" if on else "off"


@dataclass(frozen=True)
class Settings:
    """What all sources together say.

    Attributes:
        level: the working level.
        values: options in force.
        pass_options: texts by pass and field, each with its source.
        warnings: what was ignored because `ge.strictOptions` is false, old names, and what stands
            in a fusion-switch file without meaning anything here.
        switches: what each source says of passes, strongest first.
    """

    level: WorkingLevel
    values: OptionValues
    pass_options: Mapping[str, Mapping[str, OptionValue]]
    warnings: tuple[str, ...]
    switches: tuple[Switches, ...] = ()

    def decide(self, declaration: PassDeclaration) -> Decision:
        """Whether a pass runs by sources, switch options and level.

        Raises:
            UsageError: a required pass is switched off.
            PluginError: nobody declares a switch option that it is bound to, and nobody names it.
        """
        because: list[Because] = []
        decisive: _Answer | None = None
        rank: int | None = None
        for switches in self.switches:
            for answer in switches.answers(declaration, self.level):
                because.append(answer.because)
                if decisive is None:
                    decisive, rank = answer, switches.source.rank
        if decisive is not None and not decisive.runs and declaration.required:
            by = decisive.because
            raise UsageError(
                f"pass {declaration.name!r} is required and can't be switched off",
                owner=str(declaration.owner),
                hint=f"switched off by: {by.source} ({by.value})",
            )
        if declaration.switch:
            default = self._by_switch_option(declaration, because, decisive is not None)
        else:
            default = self._by_level(declaration, because)
        runs = default if decisive is None else decisive.runs
        blanket = decisive is not None and decisive.blanket
        return Decision(declaration.name, runs, tuple(because), rank, blanket)

    def _by_switch_option(
        self, declaration: PassDeclaration, because: list[Because], decided: bool
    ) -> bool:
        """GE's rule: the secondary option first; the first that is present decides."""
        for written in reversed(declaration.switch):
            name = bound_option(written, declaration, self.values.declared)
            if name is None:
                if not decided and self.values.strict:
                    raise _undeclared(written, declaration, self.values.declared)
                continue
            value = self.values.get(name)
            if value is not None:
                source = self.values.source(name) or ""
                because.append(Because(source, "switch option", f"{name}={value}"))
                return value in ON_VALUES
        absent = " and ".join(declaration.switch)
        are = "is" if len(declaration.switch) == 1 else "are"
        because.append(Because("level", "switch option", f"{absent} {are} absent"))
        return False

    def _by_level(self, declaration: PassDeclaration, because: list[Because]) -> bool:
        through = self.level.among(declaration.levels)
        levels = ", ".join(declaration.levels) or "no level"
        if through is None or through == self.level.name:
            value = f"{self.level.name}; on at {levels}"
        else:
            value = f"{self.level.name} extends {through}; on at {levels}"
        because.append(Because("level", "level", value))
        return through is not None


def bound_option(name: str, declaration: PassDeclaration, options: OptionRegistry) -> str | None:
    """The option that a pass is bound to: as written, else with its author's prefix."""
    return resolve(name, declaration.owner, options)


def undeclared_switches(
    declaration: PassDeclaration, options: OptionRegistry
) -> Iterator[PluginError]:
    """One error for each option that a pass is bound to and nobody declares."""
    for name in declaration.switch:
        if bound_option(name, declaration, options) is None:
            yield _undeclared(name, declaration, options)


def _undeclared(name: str, declaration: PassDeclaration, options: OptionRegistry) -> PluginError:
    error = options.unknown(name)
    hint = f"`--enable {declaration.name}` or `--disable {declaration.name}` decides without it"
    return PluginError(
        f"pass {declaration.name!r} is bound to option {name!r}, which nobody declares",
        near=error.near,
        owner=str(declaration.owner),
        hint=hint if error.hint is None else f"{error.hint}\n  {hint}",
    )


def settle(
    sources: Sequence[Source],
    options: OptionRegistry,
    passes: PassRegistry,
    levels: LevelRegistry,
    other_levels: Sequence[str] = (),
) -> Settings:
    """Read all sources; several of one name count in the order given.

    Args:
        other_levels: what else may be given as the level, for the error's list.

    Raises:
        OptionError: (E10001) a value is not one, or a level does not exist; says who gave it.
        UnknownNameError: nobody declared an option or pass of that name.
        InputFileError: a fusion-switch file is malformed, or names a pass that nobody knows.
    """
    from ge_core.passes.settling import Settling

    ranked = sorted(sources, key=lambda source: source.rank)
    return Settling(ranked, options, passes, levels, other_levels).settle()
