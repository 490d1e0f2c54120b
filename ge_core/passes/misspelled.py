"""Names in declarations that mean nothing, where it looks as if they were meant to.

A level set or an option of a package that isn't installed may be named by anybody: it means nothing
then, and nothing is said. A name that looks like one that is there is said to be none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.errors import near_matches
from ge_core.passes.levels import Level, LevelRegistry
from ge_core.passes.options import OptionDeclaration, OptionRegistry
from ge_core.passes.ordering import resolve
from ge_core.passes.pass_names import without_prefix
from ge_core.passes.precedence import ON_VALUES, bound_option
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.registry import Owner

_LIKE_A_LEVEL: Final = re.compile(r"[oO]\d+")
SAME_WORD: Final = 0.8
"""How like, from 0 to 1, two names are that are one with a slip of the pen.

Two letters exchanged in a short name; another package's name is less like ours.
"""

_SAME_PASS: Final = 0.85
"""A letter or two in a long name."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something in a declaration that has no effect.

    Attributes:
        what: whose it is: `pass acme.A`.
        words: what is odd, without the subject.
    """

    what: str
    owner: Owner
    words: str

    def __str__(self) -> str:
        return f"{self.what} ({self.owner}) {self.words}"


def odd_declarations(
    passes: PassRegistry, options: OptionRegistry, levels: LevelRegistry
) -> Iterator[Oddity]:
    """What passes and options declare without effect, in a fixed order."""
    for declaration in passes:
        what = f"pass {declaration.name}"
        for level in declaration.levels:
            words = _level_words(level, levels)
            if words is not None:
                yield Oddity(what, declaration.owner, f"names {words}")
        for words in _switch_words(declaration, options):
            yield Oddity(what, declaration.owner, words)
        for words in _order_words(declaration, passes):
            yield Oddity(what, declaration.owner, words)
    for option in options:
        what = f"option {option.name}"
        for level in option.levels:
            words = _level_words(level, levels)
            if words is not None:
                yield Oddity(what, option.owner, f"names {words}")
        for level in _levels_with_default(option):
            words = _level_words(level, levels)
            if words is not None:
                yield Oddity(what, option.owner, f"has a default for {words}")


def _levels_with_default(option: OptionDeclaration) -> Iterable[str]:
    return () if option.default is None or isinstance(option.default, str) else option.default


def _level_words(name: str, levels: LevelRegistry) -> str | None:
    """What to say of a level that there isn't, None where it is one or another package's."""
    known = [*map(str, Level), *levels.names()]
    if name in known or name in levels.contested:
        return None
    if _LIKE_A_LEVEL.fullmatch(name):
        return f"level {name!r}, and there is none; levels are {', '.join(Level)}"
    near = near_matches(name, known, cutoff=SAME_WORD)
    if near:
        shown = [
            f"{one} ({levels.entry(one).owner})" if one in levels.names() else one for one in near
        ]
        return f"level {name!r}, and there is none; near: {', '.join(shown)}"
    return None


def _switch_words(declaration: PassDeclaration, options: OptionRegistry) -> Iterator[str]:
    for written in declaration.switch:
        name = bound_option(written, declaration, options)
        if name is not None and not _can_switch(options.get(name)):
            yield (
                f"is bound to option {name}, whose type is {options.get(name).type}: it runs where"
                ' the value is true or empty, so declare it with type="switch"'
            )


def _order_words(declaration: PassDeclaration, passes: PassRegistry) -> Iterator[str]:
    """What to say of passes that aren't there and are nearly one; others may not be installed."""
    known = dict.fromkeys(passes.names())
    for label, names in (("before", declaration.before), ("after", declaration.after)):
        for name in names:
            if resolve(name, declaration.owner, known) is None and not without_prefix(passes, name):
                for near in near_matches(name, known, 1, _SAME_PASS):
                    owner = passes.entry(near).owner
                    yield f"says {label} {name}, which is no pass: is {near} ({owner}) meant?"


def _can_switch(option: OptionDeclaration) -> bool:
    """Whether the option has values that switch a pass on."""
    if option.type == "choice":
        return not frozenset(ON_VALUES).isdisjoint(option.choices)
    return option.type in ("switch", "text")
