"""Delete rules and checkers that are never asked, because what they name isn't there.

A pass or anchor type of a package that isn't installed may be named by anybody: nothing is said
then. A name that looks like one that is there is said to be none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ge_core.errors import near_matches
from ge_core.memory.anchor_types import AnchorTypeRegistry
from ge_core.memory.checkers import PairRule
from ge_core.passes.misspelled import SAME_WORD, Oddity
from ge_core.registry import Entry, Owner

if TYPE_CHECKING:
    from ge_core.plugin.registries import Registries


def odd_rules(registries: Registries) -> Iterator[Oddity]:
    """What delete rules and checkers name in vain, in a fixed order."""
    passes, types = registries.passes, registries.anchor_types
    for rule in registries.delete_rules:
        for name in rule.passes:
            near = _near(name, rule.owner, passes.entries())
            if near is not None:
                words = f"speaks for pass {name!r}, and there is none; near: {near}"
                yield Oddity(f"delete rule {rule.name}", rule.owner, words)
    for checker in registries.checkers:
        for name in unknown_types(checker, types):
            near = _near(name, checker.owner, types.entries())
            if near is not None:
                words = f"is never asked: there is no anchor type {name!r}; near: {near}"
                yield Oddity(f"checker for {' and '.join(checker.types)}", checker.owner, words)


def unknown_types(rule: PairRule, types: AnchorTypeRegistry) -> list[str]:
    """The types of a rule that nobody registered: it is never asked."""
    known = frozenset(types.names())
    return [name for name in dict.fromkeys(rule.types) if name not in known]


def _near(name: str, owner: Owner, entries: Sequence[Entry[Any]]) -> str | None:
    """What a name that nobody has looks like, with owners; None where it looks like nothing."""
    owners = {entry.name: entry.owner for entry in entries}
    if name in owners or owner.full(name) in owners:
        return None
    # The author may have left out the prefix of what is his own.
    near = [
        one
        for form in (name, owner.full(name))
        for one in near_matches(form, owners, cutoff=SAME_WORD)
    ]
    return ", ".join(f"{one} ({owners[one]})" for one in dict.fromkeys(near)) or None
