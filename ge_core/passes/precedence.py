"""Who decides: sources, strongest first, what they set, and why a pass runs or doesn't.

Strongest first: arguments (command line or API), pipeline, project configuration, environment,
level defaults. Within one source explicit off beats explicit on. `ge.optimizationSwitch` is
explicit on/off in the source that sets it; a bound switch option decides before the level. GE
differs in that its options are one merged table without sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ge_core.errors import OptionError, UnknownNameError, UsageError, near_matches
from ge_core.passes.levels import DEFAULT_LEVEL, LevelRegistry, WorkingLevel
from ge_core.passes.options import OptionRegistry, OptionValue, OptionValues
from ge_core.passes.registry import PassDeclaration, PassRegistry

LEVEL = "ge.oo.level"
STRICT = "ge.strictOptions"
SWITCH = "ge.optimizationSwitch"
DISABLE = "ge.disableOptimizations"

ARGUMENTS, PIPELINE, PROJECT, ENVIRONMENT = STRENGTH = (
    "arguments",
    "pipeline",
    "project",
    "environment",
)
"""Names of sources, strongest first; what nobody sets, the level decides."""

GE_MARKER = "forbidden_close_pass"
"""Not a pass: a marker that GE's own tools append to every switch text."""


@dataclass(frozen=True, slots=True)
class Source:
    """What one source says.

    Attributes:
        name: one of `STRENGTH`.
        options: texts by the name of an option, of a pass (on, off) or `Pass.field`.
        enable, disable: names of passes.
        origin: what a user reads of it: a flag, a file.
        origins: how single options were given, by name (`--set ge.oo.level=O5`).
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    origin: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in STRENGTH:
            raise ValueError(f"source {self.name!r} is none of {', '.join(STRENGTH)}")

    @property
    def shown(self) -> str:
        """What a user reads of it."""
        return self.origin or self.name

    def given(self, name: str) -> str:
        """How an option was given, for errors."""
        return self.origins.get(name) or f"{self.shown}: {name}={self.options[name]}"

    @property
    def rank(self) -> int:
        """Its strength, 0 the strongest."""
        return STRENGTH.index(self.name)


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
        rank: of the source that switched it on or off by name (0 the strongest), else None.
    """

    name: str
    runs: bool
    because: tuple[Because, ...]
    rank: int | None = None

    @property
    def explicit(self) -> bool:
        """Whether somebody named the pass."""
        return self.rank is not None


@dataclass(frozen=True, slots=True)
class _Switches:
    """Explicit on and off of one source: the text that said so by pass name."""

    source: Source
    on: Mapping[str, str]
    off: Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """What all sources together say.

    Attributes:
        level: the working level.
        values: options in force.
        pass_options: texts by pass and field, each with its source.
        warnings: what was ignored because `ge.strictOptions` is false.
    """

    level: WorkingLevel
    values: OptionValues
    pass_options: Mapping[str, Mapping[str, OptionValue]]
    warnings: tuple[str, ...]
    _switches: tuple[_Switches, ...] = ()

    def decide(self, declaration: PassDeclaration) -> Decision:
        """Whether a pass runs by sources, switch options and level.

        Raises:
            UsageError: a required pass is switched off.
        """
        because: list[Because] = []
        runs: bool | None = None
        rank: int | None = None
        for switches in self._switches:
            answer = _explicit(switches, declaration.name, because)
            if runs is None and answer is not None:
                runs, rank = answer, switches.source.rank
                if not runs and declaration.required:
                    raise UsageError(
                        f"pass {declaration.name!r} is required and can't be switched off",
                        owner=str(declaration.owner),
                        hint=f"switched off by: {because[-1].source} ({because[-1].value})",
                    )
        by_default = self._by_switch_option(declaration, because)
        if by_default is None:
            by_default = self._by_level(declaration, because)
        return Decision(
            declaration.name, by_default if runs is None else runs, tuple(because), rank
        )

    def _by_switch_option(
        self, declaration: PassDeclaration, because: list[Because]
    ) -> bool | None:
        """GE's rule: the secondary option first; the first that is present decides."""
        if not declaration.switch:
            return None
        for name in reversed(declaration.switch):
            value = self.values.get(name)
            if value is not None:
                source = self.values.source(name) or ""
                because.append(Because(source, "switch option", f"{name}={value}"))
                return value in ("", "true")
        because.append(Because("level", "switch option", f"{declaration.switch[0]} is absent"))
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


def _explicit(switches: _Switches, name: str, because: list[Because]) -> bool | None:
    if name in switches.off:
        because.append(Because(switches.source.shown, "explicit off", switches.off[name]))
        return False
    if name in switches.on:
        because.append(Because(switches.source.shown, "explicit on", switches.on[name]))
        return True
    return None


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
    """
    ranked = sorted(sources, key=lambda source: source.rank)
    return _Settling(ranked, options, passes, levels, other_levels).settle()


class _Settling:
    def __init__(
        self,
        sources: Sequence[Source],
        options: OptionRegistry,
        passes: PassRegistry,
        levels: LevelRegistry,
        other_levels: Sequence[str],
    ) -> None:
        self.sources = sources
        self.options = options
        self.passes = passes
        self.levels = levels
        self.warnings: list[str] = []
        self.values: dict[str, OptionValue] = {}
        self.pass_options: dict[str, dict[str, OptionValue]] = {}
        self.other_levels = tuple(other_levels)
        strict = self._first(STRICT)
        if strict is not None:
            options.check(STRICT, *strict)
        self.strict = strict is None or strict[0] != "false"

    def settle(self) -> Settings:
        level = self._level()
        switches = tuple(self._read(source) for source in self.sources)
        for option in self.options:
            if option.name in self.values:
                continue
            default = option.default_at(level)
            if default is not None:
                self.values[option.name] = OptionValue(default, f"level {level.name}")
        values = OptionValues(self.options, self.values, self.strict)
        return Settings(level, values, self.pass_options, tuple(self.warnings), switches)

    def _first(self, name: str) -> tuple[str, str] | None:
        return next(
            ((s.options[name], s.given(name)) for s in self.sources if name in s.options),
            None,
        )

    def _level(self) -> WorkingLevel:
        given = self._first(LEVEL)
        if given is None:
            return self.levels.working(DEFAULT_LEVEL)
        try:
            return self.levels.working(given[0], self.other_levels)
        except OptionError as error:
            hint = _joined(f"given by: {given[1]}", error.hint)
            raise OptionError(error.message, near=error.near, hint=hint) from None

    def _read(self, source: Source) -> _Switches:
        on = {self._pass(name, source): f"enable {name}" for name in source.enable}
        off = {self._pass(name, source): f"disable {name}" for name in source.disable}
        for name, value in source.options.items():
            if name in self.options:
                self._read_option(name, value, source, on, off)
            elif name in self.passes:
                target = on if self._on_off(name, value, source) else off
                target[name] = f"{name}={value}"
            else:
                self._read_pass_option(name, value, source)
        return _Switches(source, on, off)

    def _read_option(
        self, name: str, value: str, source: Source, on: dict[str, str], off: dict[str, str]
    ) -> None:
        option = self.options.get(name)
        if self.strict or not option.tolerant:
            self.options.check(name, value, source.given(name))
        self.values.setdefault(name, OptionValue(value, source.shown, source.rank))
        if name == SWITCH:
            self._read_switches(value, source, on, off)
        elif name == DISABLE:
            self._read_disabled(value, source, off)

    def _read_switches(
        self, text: str, source: Source, on: dict[str, str], off: dict[str, str]
    ) -> None:
        """`Pass:on;Pass:off`. Bad tokens and unknown names are errors, or as in GE ignored."""
        for token in filter(None, text.split(";")):
            name, _, value = token.partition(":")
            if name == GE_MARKER:
                continue
            problem = None
            if not name or value not in ("on", "off"):
                problem = f"{token!r} is not Pass:on or Pass:off"
            elif name not in self.passes:
                problem = f"no pass {name!r}"
            if problem is None:
                (on if value == "on" else off)[name] = f"{SWITCH}={token}"
            elif self.strict:
                raise OptionError(
                    f"value {text!r} for option {SWITCH} is invalid: {problem}",
                    near=near_matches(name, self.passes.names()),
                    hint=f"given by: {source.given(SWITCH)}",
                )
            else:
                self.warnings.append(f"{SWITCH}: {problem}; ignored")

    def _read_disabled(self, text: str, source: Source, off: dict[str, str]) -> None:
        """A comma list. GE lets three passes be disabled so, none of which exists here."""
        for name in filter(None, (part.strip() for part in text.split(","))):
            if not self.strict:
                self.warnings.append(f"{DISABLE}: {name!r} can't be disabled this way; ignored")
                continue
            off[self._pass(name, source)] = f"{DISABLE}={name}"

    def _read_pass_option(self, name: str, value: str, source: Source) -> None:
        owner, _, field_name = name.rpartition(".")
        if owner not in self.passes:
            known = [*self.options.names(), *self.passes.names()]
            raise UnknownNameError(
                f"no option {name!r}",
                near=near_matches(name, known),
                hint=_joined(f"given by: {source.given(name)}", self.options.missing_hint),
            )
        given = OptionValue(value, source.shown, source.rank)
        self.pass_options.setdefault(owner, {}).setdefault(field_name, given)

    def _on_off(self, name: str, value: str, source: Source) -> bool:
        if value in ("on", "true", "off", "false"):
            return value in ("on", "true")
        raise OptionError(
            f"value {value!r} for pass {name} is invalid: the value must be on or off",
            hint=f"given by: {source.given(name)}",
        )

    def _pass(self, name: str, source: Source) -> str:
        if name not in self.passes:
            error = self.passes.unknown(name)
            error.hint = _joined(f"given by: {source.shown}", error.hint)
            raise error
        return name


def _joined(first: str, second: str | None) -> str:
    return first if second is None else f"{first}\n  {second}"
