"""Typed options: declared with a default per level, a checker and help; the values in force.

Values are texts, as GE's are; the declaration's type says which texts are values. Passes' own
options (`owner.Pass.field=value`) are fields of their dataclasses and are read in `pass_options`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ge_core.digits import whole_number
from ge_core.errors import OptionError, PluginError
from ge_core.passes.levels import ALWAYS, Level, WorkingLevel
from ge_core.registry import NOBODY, Entry, Owner, Registry


class Visibility(StrEnum):
    """Where an option is offered."""

    USER = "user"
    EXPERT = "expert"
    HIDDEN = "hidden"


Checker = Callable[[str], str | None]
"""Says why a text is not a value, or None where it is one."""


@dataclass(frozen=True, slots=True)
class OptionDeclaration:
    """One option.

    Attributes:
        name: `ge.` names are GE's; third parties' are `owner.name`.
        type: `text`, `switch` (empty, true, false), `flag` (0, 1), `integer`, `choice` or `level`.
        default: a text, or text by level; a level that isn't named takes the next lower one's.
        levels: at which it has its default; at others it is absent unless somebody sets it.
        choices: the texts of a `choice`.
        checker: a further check.
        help: one sentence.
        category: its section in listings.
        visibility: who is offered it.
        tolerant: whether a malformed value is no error where `ge.strictOptions` is false, because
            GE reads it somehow.
    """

    name: str
    type: str = "text"
    default: str | Mapping[str, str] | None = None
    levels: tuple[str, ...] = ALWAYS
    choices: tuple[str, ...] = ()
    checker: Checker | None = None
    help: str = ""
    category: str = "general"
    visibility: Visibility = Visibility.USER
    tolerant: bool = False
    owner: Owner = NOBODY

    def default_at(self, level: WorkingLevel) -> str | None:
        """The value where nobody sets it, None where it is absent at that level."""
        if self.default is None or level.among(self.levels) is None:
            return None
        if isinstance(self.default, str):
            return self.default
        for name in level.chain:
            if name in self.default:
                return self.default[name]
        ladder = list(Level)
        for lower in reversed(ladder[: ladder.index(level.base)]):
            if lower in self.default:
                return self.default[lower]
        return None

    def problem(self, value: str) -> str | None:
        """Why a text is not a value of this option, None where it is."""
        wrong = _TYPE_CHECKS[self.type](self, value)
        if wrong is None and self.checker is not None:
            return self.checker(value)
        return wrong


def _check_choice(option: OptionDeclaration, value: str) -> str | None:
    if value in option.choices:
        return None
    return "the value must be one of " + ", ".join(repr(choice) for choice in option.choices)


def _check_integer(_: OptionDeclaration, value: str) -> str | None:
    number = whole_number(value.removeprefix("-"))
    return None if number is not None else "the value must be a whole number"


def _check_switch(_: OptionDeclaration, value: str) -> str | None:
    return None if value in ("", "true", "false") else "the value must be true, false or empty"


def _check_flag(_: OptionDeclaration, value: str) -> str | None:
    return None if value in ("0", "1") else "the value must be 0 or 1"


def _check_nothing(_: OptionDeclaration, value: str) -> str | None:
    return None


_TYPE_CHECKS: dict[str, Callable[[OptionDeclaration, str], str | None]] = {
    "text": _check_nothing,
    # Levels are checked where they are resolved, against the level sets of plugins too.
    "level": _check_nothing,
    "switch": _check_switch,
    "flag": _check_flag,
    "integer": _check_integer,
    "choice": _check_choice,
}


class OptionRegistry(Registry[OptionDeclaration]):
    """The declared options."""

    kind = "option"

    def add(
        self,
        name: str,
        *,
        type: str = "text",
        default: str | Mapping[str, str] | None = None,
        levels: Sequence[str] = ALWAYS,
        choices: Sequence[str] = (),
        checker: Checker | None = None,
        help: str,
        category: str = "general",
        visibility: Visibility = Visibility.USER,
        tolerant: bool = False,
    ) -> None:
        """Declare an option; the arguments are the attributes of `OptionDeclaration`.

        Raises:
            PluginError: the name is taken, the type unknown, or the default is not a value.
        """
        if type not in _TYPE_CHECKS:
            raise PluginError(
                f"option {name!r}: type {type!r} is none of {', '.join(_TYPE_CHECKS)}"
            )
        if isinstance(levels, str):
            raise PluginError(f"option {name!r}: levels={levels!r} is not a list")
        option = OptionDeclaration(
            name=name,
            type=type,
            default=default,
            levels=tuple(str(level) for level in levels),
            choices=tuple(choices),
            checker=checker,
            help=help,
            category=category,
            visibility=Visibility(visibility),
            tolerant=tolerant,
        )
        defaults = [default] if isinstance(default, str) else list((default or {}).values())
        for value in defaults:
            wrong = option.problem(value)
            if wrong is not None:
                raise PluginError(f"option {name!r}: its default {value!r} is no value: {wrong}")
        self._put(Entry(name, option))

    def _stamped(self, entry: Entry[OptionDeclaration], owner: Owner) -> Entry[OptionDeclaration]:
        name = owner.full(entry.name)
        return Entry(name, replace(entry.value, name=name, owner=owner), owner)

    def check(self, name: str, value: str, given_by: str) -> OptionDeclaration:
        """The declaration of an option, its value checked.

        Raises:
            UnknownNameError: nobody declared it.
            OptionError: (E10001) the value is not one; says why and who gave it.
        """
        option = self.get(name)
        wrong = option.problem(value)
        if wrong is not None:
            raise OptionError(
                f"value {value!r} for option {name} is invalid: {wrong}",
                hint=f"given by: {given_by}",
            )
        return option


@dataclass(frozen=True, slots=True)
class OptionValue:
    """A value in force, the source it comes from, and how strong that is (0 the strongest)."""

    value: str
    source: str
    rank: int = 99


@dataclass(frozen=True)
class OptionValues:
    """The values in force in one compile.

    Attributes:
        declared: what may be asked for.
        values: by name; an option that is absent has none.
        strict: whether malformed values are errors, rather than read as tolerantly as GE does.
    """

    declared: OptionRegistry
    values: Mapping[str, OptionValue] = field(default_factory=dict)
    strict: bool = True
    asked: set[str] = field(default_factory=set, compare=False, repr=False)
    """Names that somebody has looked at: a value that nobody reads is worth a warning."""

    def get(self, name: str) -> str | None:
        """The value of a declared option, None where it is absent; `UnknownNameError` otherwise."""
        self.asked.add(name)
        found = self.values.get(name)
        if found is not None:
            return found.value
        self.declared.entry(name)
        return None

    def is_on(self, name: str) -> bool:
        """Whether a switch or flag is on: "true", "1", or present and empty, as in GE."""
        return self.get(name) in ("true", "1", "")

    def source(self, name: str) -> str | None:
        """Who set the value."""
        found = self.values.get(name)
        return None if found is None else found.source

    def as_dict(self) -> dict[str, str]:
        """Values by name, sorted."""
        return {name: self.values[name].value for name in sorted(self.values)}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.values))
