"""Optimisation levels: the kernel's O0 to O4, and level sets that plugins add.

As in GE, a pass names the *set* of levels it is on at, and `Level.O1.and_above()` is the usual
set. O4 is ours: everything beyond GE's rules that the proof allows. GE itself accepts only O1 and
O3; we accept all. A plugin's level names the level it extends: passes that are on there are on in
it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ge_core.errors import GeError, OptionError, PluginError, near_matches
from ge_core.registry import Entry, Owner, Registry, contested_error


class Level(StrEnum):
    """The kernel's levels, from none to all."""

    O0 = "O0"
    O1 = "O1"
    O2 = "O2"
    O3 = "O3"
    O4 = "O4"

    def and_above(self) -> tuple[Level, ...]:
        """This level and every higher one."""
        ladder = list(Level)
        return tuple(ladder[ladder.index(self) :])


ALWAYS = Level.O0.and_above()
"""On at every level."""

DEFAULT_LEVEL = Level.O3


@dataclass(frozen=True, slots=True)
class WorkingLevel:
    """The level of one compile.

    Attributes:
        name: as the user gave it.
        chain: the name, then what it extends, down to a level of the kernel.
    """

    name: str
    chain: tuple[str, ...]

    @property
    def base(self) -> Level:
        """The level of the kernel that it stands on."""
        return Level(self.chain[-1])

    def among(self, levels: Iterable[str]) -> str | None:
        """The first of its chain that the set contains: why a pass is on, or None."""
        wanted = frozenset(levels)
        return next((name for name in self.chain if name in wanted), None)


class LevelRegistry(Registry[str]):
    """Level sets of plugins by name; the value is the level that each extends."""

    kind = "level"

    def __init__(self) -> None:
        super().__init__()
        self.contested: Mapping[str, tuple[Owner, ...]] = {}
        """The owners of names that several claim."""

    def add(self, name: str, *, extends: str) -> None:
        """Declare a level set; passes name it in `levels`, users give it as the level."""
        if name in set(Level):
            raise PluginError(f"level {name!r} is the kernel's")
        self._put(Entry(name, str(extends)))

    def _full(self, name: str, owner: Owner) -> str:
        # A level is what a user types after -O: it keeps the name that its author gave it.
        return name

    def withdraw(self, name: str) -> Entry[str] | None:
        """Take a name out, where it is registered."""
        return self._entries.pop(name, None)

    def working(self, name: str, others: Sequence[str] = ()) -> WorkingLevel:
        """The level of that name, resolved.

        Args:
            others: what else may be given as a level, for the error's list.

        Raises:
            OptionError: (E10001) no such level; lists those there are.
            PluginError: a level set extends one that is missing, or itself.
        """
        chain: list[str] = []
        at = str(name)
        while at not in set(Level):
            if at in chain:
                owners = dict.fromkeys(str(self.entry(link).owner) for link in chain)
                raise PluginError(
                    "level sets extend each other: " + " -> ".join([*chain, at]),
                    owner=", ".join(owners),
                )
            if at not in self:
                raise self._not_a_level(name, chain, others)
            chain.append(at)
            at = self.get(at)
        return WorkingLevel(str(name), (*chain, at))

    def _not_a_level(self, name: str, chain: Sequence[str], others: Sequence[str]) -> GeError:
        missing = self.get(chain[-1]) if chain else name
        contested = contested_error(self.kind, missing, self.contested)
        if contested is not None:
            return contested
        if chain:
            owner = self.entry(chain[-1]).owner
            return PluginError(
                f"level {chain[-1]!r} extends {missing!r}, which nobody registers",
                owner=str(owner),
            )
        sets = [f"{entry.name} ({entry.owner})" for entry in self.entries()]
        known = [*map(str, Level), *sorted({*sets, *others})]
        return OptionError(
            f"value {name!r} for option ge.oo.level is not a level",
            parameter="ge.oo.level",
            value=name,
            reason=f"the value must be one of {', '.join(known)}",
            near=near_matches(name, [*map(str, Level), *self.names()]),
            hint="levels here: " + ", ".join(known),
        )
