"""Typed options: declared with a default per level, a checker and help; the values in force.

Values are texts, as GE's are; the declaration's type says which texts are values. Passes' own
options (`owner.Pass.field=value`) are fields of their dataclasses and are read in `pass_options`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ge_core.digits import whole_number
from ge_core.errors import OptionError, PassError, PluginError
from ge_core.foreign import brief, located, shortened
from ge_core.passes.levels import ALWAYS, Level, WorkingLevel
from ge_core.passes.visibility import (
    EVERYWHERE,
    EntryPoint,
    Visibility,
    offered,
    read_category,
    read_entry_points,
)
from ge_core.registry import NOBODY, Entry, Owner, Registry

Checker = Callable[[str], str | None]
"""Says why a text is not a value, or None where it is one."""


@dataclass(frozen=True, slots=True)
class OptionDeclaration:
    """One option.

    Attributes:
        name: `ge.` names are GE's; third parties' are `owner.name`.
        type: `text`, `switch` (empty, true, false), `flag` (0, 1), `integer`, `choice` or `level`.
        default: a text, or text by level; a level that isn't named takes the next lower one's.
        levels: at which it has its default; at others it is absent unless somebody sets it. GE
            gives an option without a default the empty text there; write `default=""` for that.
        choices: the texts of a `choice`.
        checker: a further check.
        help: one sentence.
        category: its section in listings: GE's (`general`, `model_tuning`, ...) or another.
        visibility: how deep a listing must go to show it.
        entry_points: where it is offered; all of them by default.
        show_names: what it is called at an entry point where that is not its name, such as ATC's
            `oo_constant_folding`.
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
    entry_points: tuple[EntryPoint, ...] = EVERYWHERE
    show_names: Mapping[EntryPoint, str] = field(default_factory=dict)
    owner: Owner = NOBODY

    def visible_at(self, entry: EntryPoint) -> bool:
        """Whether an entry point offers it; ATC offers only what has a name there, as in GE."""
        named = entry is not EntryPoint.ATC or entry in self.show_names
        return self.visibility is not Visibility.HIDDEN and named and self._offered_at(entry)

    def _offered_at(self, entry: EntryPoint) -> bool:
        return offered(entry, self.entry_points)

    def shown_at(self, entry: EntryPoint) -> str:
        """What it is called there."""
        return self.show_names.get(entry, self.name)

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
        """Why a text is not a value of this option, None where it is.

        Raises:
            PassError: its checker raised, or answered neither a reason nor None; names the owner.
        """
        wrong = _TYPE_CHECKS[self.type](self, value)
        if wrong is None and self.checker is not None:
            return self._ask_checker(self.checker, value)
        return wrong

    def _ask_checker(self, checker: Checker, value: str) -> str | None:
        try:
            answer: Any = checker(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may raise anything, SystemExit included
            failure = self._bad_checker(f"raised {brief(error)}", value)
            raise located(failure, error) from error
        if answer is not None and not isinstance(answer, str):
            raise self._bad_checker(f"answered {answer!r}, which is neither text nor None", value)
        # GE has words for a checker that refuses without a reason, and so have we.
        return "invalid option value" if answer == "" else answer

    def _bad_checker(self, what: str, value: str) -> PassError:
        return PassError(
            f"the checker of option {self.name!r} {what} (asked about {value!r})",
            owner=str(self.owner) if self.owner.name else None,
            hint="a checker answers why a text is no value, or None where it is one",
        )


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


def _show_names(names: Mapping[str, str], option: str) -> dict[EntryPoint, str]:
    entries = read_entry_points(names, option)
    return {entry: names[entry] for entry in entries}


MOST_LETTERS: Final = 10_000
"""In a default, a help text or a choice: all of them stand in listings and reports."""
MOST_CHOICES: Final = 1_000


def _check_sizes(name: str, default: object, help: object, choices: Sequence[str]) -> None:
    """Raises `PluginError` for what is no text, or too long for anybody to read."""
    defaults = list(default.values()) if isinstance(default, Mapping) else [default]
    texts = [("default", text) for text in defaults if text is not None]
    if isinstance(choices, str):
        raise PluginError(f"option {name!r}: choices={choices!r} is not a list")
    if len(choices) > MOST_CHOICES:
        raise PluginError(f"option {name!r} has {len(choices)} choices, at most {MOST_CHOICES}")
    for what, text in (*texts, ("help", help), *(("choice", choice) for choice in choices)):
        if not isinstance(text, str):
            raise PluginError(
                f"option {name!r}: its {what} {shortened(text)} is no text",
                hint="options are texts, as GE's are: write '5', not 5",
            )
        if len(text) > MOST_LETTERS:
            raise PluginError(
                f"option {name!r}: its {what} is {len(text)} letters long, at most {MOST_LETTERS}"
            )


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
        entry_points: Sequence[str] = EVERYWHERE,
        show_names: Mapping[str, str] | None = None,
    ) -> None:
        """Declare an option.

        Args:
            name: gets its owner's prefix, `acme.bank_bits`.
            type: `text`, `level`, `switch` (true, false, or empty, which is on), `flag` (0, 1),
                `integer`, or `choice`.
            default: a text, or texts by level; a level that isn't named takes the next lower one's,
                a level set that of the level it extends. None: absent until somebody sets it.
            levels: at which it has its default, all of them if left out.
            choices: the texts of a `choice`.
            checker: answers why a text is no value, or None where it is one.
            help: one sentence.
            category: its section in listings: GE's (`general`, `debug`, ...) or another.
            visibility: how deep a listing must go to show it.
            tolerant: whether a malformed value is no error where `ge.strictOptions` is false.
            entry_points: where it is offered (`session`, `ir_build`, `atc`, `python`, `command`).
            show_names: what it is called at an entry point, `{"atc": "acme_bank_bits"}`; ATC offers
                only what has a name there.

        Raises:
            PluginError: the name is taken, the type unknown, or the default is not a value.
        """
        if type not in _TYPE_CHECKS:
            raise PluginError(
                f"option {name!r}: type {type!r} is none of {', '.join(_TYPE_CHECKS)}"
            )
        if isinstance(levels, str):
            raise PluginError(f"option {name!r}: levels={levels!r} is not a list")
        if isinstance(entry_points, str):
            raise PluginError(f"option {name!r}: entry_points={entry_points!r} is not a list")
        if not name:
            raise PluginError("an option has an empty name")
        _check_sizes(name, default, help, choices)
        if checker is not None and not callable(checker):
            raise PluginError(f"option {name!r}: its checker {checker!r} can't be called")
        option = OptionDeclaration(
            name=name,
            type=type,
            default=default,
            levels=tuple(str(level) for level in levels),
            choices=tuple(choices),
            checker=checker,
            help=help,
            category=read_category(category),
            visibility=Visibility(visibility),
            tolerant=tolerant,
            entry_points=read_entry_points(entry_points, name),
            show_names=_show_names(show_names or {}, name),
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

    def called(self, shown: str) -> list[OptionDeclaration]:
        """Those that an entry point shows under a name which isn't theirs."""
        return [option for option in self if shown in option.show_names.values()]

    def check(self, name: str, value: str, given_by: str) -> OptionDeclaration:
        """The declaration of an option, its value checked.

        Raises:
            UnknownNameError: nobody declared it.
            OptionError: (E10001) the value is not one; says why and who gave it.
        """
        option = self.get(name)
        wrong = option.problem(value)
        if wrong is not None:
            raise OptionError.invalid(name, value, wrong, hint=f"given by: {given_by}")
        return option


NOBODY_SET = 99
"""The rank of a value that no source gives: the level does."""


@dataclass(frozen=True, slots=True)
class OptionValue:
    """A value in force.

    Attributes:
        source: who set it.
        rank: how strong that source is, 0 the strongest.
        given: how it was given, for errors.
    """

    value: str
    source: str
    rank: int = NOBODY_SET
    given: str = ""


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
        """The value of a declared option, None where it is absent; `UnknownNameError` otherwise.

        Code may ask by an old name, as long as it works.
        """
        name, _ = self.declared.current(name)
        self.asked.add(name)
        found = self.values.get(name)
        if found is not None:
            return found.value
        self.declared.entry(name)
        return None

    def source(self, name: str) -> str | None:
        """Who set the value."""
        found = self.values.get(name)
        return None if found is None else found.source

    def as_dict(self) -> dict[str, str]:
        """Values by name, sorted; hidden options only where somebody set them."""
        return {
            name: found.value
            for name, found in sorted(self.values.items())
            if found.rank < NOBODY_SET or not self._hidden(name)
        }

    def _hidden(self, name: str) -> bool:
        return name in self.declared and self.declared.get(name).visibility is Visibility.HIDDEN

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.values))
