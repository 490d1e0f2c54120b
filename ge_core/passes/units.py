"""Passes that a pipeline writes to run together: repeats, and passes that a stage writes twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ge_core.passes.pipeline_text import PassUse, Repeat


@dataclass(frozen=True, slots=True)
class Unit:
    """Uses that run one right after the other.

    Attributes:
        members: the passes whose place in the order is that of the unit; the rest of its passes
            stand elsewhere too.
    """

    uses: tuple[PassUse, ...]
    members: tuple[str, ...]

    def without(self, name: str) -> Unit:
        """The unit with a pass left out."""
        return Unit(
            tuple(use for use in self.uses if use.name != name),
            tuple(member for member in self.members if member != name),
        )

    def renamed(self, old: str, new: str) -> Unit:
        """The unit with another pass in the place of one."""
        return Unit(
            tuple(
                replace(use, name=new, options=()) if use.name == old else use for use in self.uses
            ),
            tuple(new if member == old else member for member in self.members),
        )


class Units:
    """Units by the pass that stands for them in the order; behind it, those that follow it."""

    def __init__(self) -> None:
        self._chains: list[list[Unit]] = []
        self._ids = 0

    def next_id(self) -> int:
        """A number for a new repeat."""
        self._ids += 1
        return self._ids

    def leading(self) -> list[Unit]:
        """The units that stand in the order themselves."""
        return [chain[0] for chain in self._chains]

    def chain(self, name: str) -> Sequence[Unit]:
        """The unit that a pass is a member of and what follows it; empty where it is in none."""
        return next((chain for chain in self._chains if name in chain[0].members), ())

    def lead(self, unit: Unit) -> None:
        """Add a unit whose passes are in no other."""
        self._chains.append([unit])

    def lay(self, written: Iterable[PassUse]) -> None:
        """Add the units of a stage that is written out; its passes are in no other unit."""
        seen: set[str] = set()
        for repeat, group in groupby(written, key=lambda use: use.repeat):
            renumbered = None if repeat is None else Repeat(self.next_id(), repeat.limit)
            uses = [replace(use, repeat=renumbered, place=None) for use in group]
            for together in [uses] if repeat is not None else [[use] for use in uses]:
                names = dict.fromkeys(use.name for use in together)
                unit = Unit(tuple(together), tuple(name for name in names if name not in seen))
                seen.update(names)
                if unit.members:
                    self._chains.append([unit])
                else:
                    self._chains[-1].append(unit)

    def detach(self, name: str) -> None:
        """Take a pass out of every unit: it stands alone again."""
        chains: list[list[Unit]] = []
        for chain in self._chains:
            left = [unit for unit in (u.without(name) for u in chain) if unit.uses]
            if not left:
                continue
            if left[0].members:
                chains.append(left)
            else:
                # All of its passes stand in units before it, so there is one that it can follow.
                chains[-1] += left
        self._chains = chains

    def rename(self, old: str, new: str) -> None:
        """Put a pass in the place of another."""
        self.detach(new)
        self._chains = [[unit.renamed(old, new) for unit in chain] for chain in self._chains]
