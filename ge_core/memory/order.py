"""Which accesses come before which, where nodes run on several streams.

Time is the expanded listing order. A node that runs has a position on its stream, and a *clock*:
per stream the last position that is known to have passed before the node starts. What a conditional
arm or a loop body does has no place outside it, because it may not happen: each arm and each body
is a *scope* of its own, whose clock has one part for every scope around it. Seen from outside, what
happened in a scope ends with the node that owns it.

The rule of reuse asks for two facts of a buffer (`Clock`): per stream of its scope the last access,
and for every writer what has passed before it starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROOT: Final = -1
"""Parent of a scope that nothing encloses."""


@dataclass(frozen=True, slots=True)
class Scope:
    """An arm, a loop body, or a whole run.

    Attributes:
        parent: index of the scope around it, `ROOT` for none.
        depth: how many scopes are around it.
        owner: a number that tells conditionals and loops apart; scopes of one owner never run at
            the same time.
        stream: the owner's stream in the scope around it, as an index.
        leave: the owner's position when the scope has ended.
    """

    parent: int
    depth: int
    owner: int
    stream: int
    leave: int


@dataclass(frozen=True, slots=True)
class Clock:
    """What the rule of reuse needs to know of a buffer's accesses.

    Attributes:
        scope: the innermost scope with all accesses.
        last: per stream of that scope the position of the last access, 0 for none or the run's
            start.
        start: per scope from the outermost in, per stream, the last position that reaches every
            writer; -1 where one is the run's start, which nothing reaches.
        sure: per stream of an outermost scope, the positions between which the bytes are in use
            whatever the other streams have done; (1, 0) for none, empty where that is not known.
    """

    scope: int
    last: tuple[int, ...]
    start: tuple[int, ...]
    sure: tuple[tuple[int, int], ...] = ()


class StreamOrder:
    """The scopes of a run and the comparison of clocks.

    Args:
        streams: how many streams there are.
        scopes: parents come before their children.
    """

    __slots__ = ("scopes", "streams")

    def __init__(self, streams: int, scopes: list[Scope]) -> None:
        self.streams = streams
        self.scopes = scopes

    def before(self, a: Clock, b: Clock) -> bool:
        """Whether every access of `a` reaches every writer of `b`.

        Buffers of two worlds, or of two scopes with one owner, never meet: for them this is True.
        """
        return self._before(a, b, *self._meet(a.scope, b.scope))

    def interferes(self, a: Clock, b: Clock) -> bool:
        """Whether the two may be needed at the same time, so that they can't share bytes."""
        common, mine, other = self._meet(a.scope, b.scope)
        return not (
            self._before(a, b, common, mine, other) or self._before(b, a, common, other, mine)
        )

    def _before(self, a: Clock, b: Clock, common: int, mine: int, other: int) -> bool:
        if common == ROOT:
            return True
        scopes, streams = self.scopes, self.streams
        if mine != ROOT and other != ROOT and scopes[mine].owner == scopes[other].owner:
            return True
        at = scopes[common].depth * streams
        if mine != ROOT:
            owner = scopes[mine]
            return owner.leave <= b.start[at + owner.stream]
        start = b.start
        return all(last <= start[at + stream] for stream, last in enumerate(a.last))

    def _meet(self, a: int, b: int) -> tuple[int, int, int]:
        """The innermost scope around both, and the scopes right inside it that lead to each."""
        scopes = self.scopes
        mine = other = ROOT
        while a != b:
            if a != ROOT and (b == ROOT or scopes[a].depth >= scopes[b].depth):
                mine, a = a, scopes[a].parent
            else:
                other, b = b, scopes[b].parent
        return a, mine, other
