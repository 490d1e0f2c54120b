"""Whether one access comes before another whenever both happen, arms and turns included."""

from __future__ import annotations

from collections.abc import Iterable

from ge_core.memory.access import RUN_END, RUN_START, Accesses
from ge_core.memory.clocks import Worlds
from ge_core.memory.expand import Expansion


class Precedence:
    """Answers for one expanded graph."""

    def __init__(self, work: Expansion, accesses: Accesses, worlds: Worlds) -> None:
        self.work = work
        self.accesses = accesses
        self.worlds = worlds

    def scope(self, site: int) -> int:
        """The innermost arm, loop or root that a site lies in."""
        return self.accesses.region(site).scope

    def parent(self, scope: int) -> int:
        """The scope around a scope other than the root."""
        outer = self.work.scopes[scope].outer
        assert outer is not None
        return outer.scope

    def inside(self, scope: int, outer: int) -> bool:
        """Whether a scope is another one or lies in it."""
        while scope > outer:
            scope = self.parent(scope)
        return scope == outer

    def within(self, site: int, caller: int) -> bool:
        """Whether a site lies in a subgraph of a node instance."""
        if site < 0:
            return False
        region = self.accesses.region(site)
        while region.outer is not None:
            if region.caller == caller:
                return True
            region = region.outer
        return False

    def all_before(self, earlier: Iterable[int], later: Iterable[int], scope: int) -> bool:
        """Whether each of the first sites comes before each of the others, in one turn of a scope.

        All sites lie inside the scope.
        """
        ends = list(later)
        return all(self.before(a, b, scope) for a in earlier for b in ends)

    def before(self, a: int, b: int, scope: int) -> bool:
        """Whether `a` comes before `b` in every turn of a scope around both, or never with it."""
        if a == RUN_START or b == RUN_END:
            return a != b
        if b == RUN_START or a == RUN_END:
            return False
        inner_a, inner_b = self.scope(a), self.scope(b)
        common, left, right = self._meet(inner_a, inner_b)
        if self._turns_between(common, scope):
            return False
        if left is not None and right is not None:
            one, other = self.work.scopes[left], self.work.scopes[right]
            if one.caller == other.caller:
                # Other arms never run together; the other region of a loop runs in other turns.
                return one.role == "arm"
        if not self.worlds.clocks:
            return self._end(a, left) < self._start(b, right)
        return all(
            self._known(a, left, b, right, number) for number in range(len(self.worlds.clocks))
        )

    def _meet(self, a: int, b: int) -> tuple[int, int | None, int | None]:
        """The common scope, and the scopes right inside it that lead to each."""
        left: int | None = None
        right: int | None = None
        while a != b:
            if a > b:
                left, a = a, self.parent(a)
            else:
                right, b = b, self.parent(b)
        return a, left, right

    def _turns_between(self, scope: int, outer: int) -> bool:
        """Whether a loop lies between two scopes, so that what is later may be earlier again."""
        while scope != outer:
            if self.work.scopes[scope].role == "loop":
                return True
            scope = self.parent(scope)
        return False

    def _end(self, site: int, inner: int | None) -> int:
        if inner is None:
            return self.accesses.position(site)
        return self.work.last_inside(self.work.scopes[inner].caller)

    def _start(self, site: int, inner: int | None) -> int:
        if inner is None:
            return self.accesses.position(site)
        return self.work.scopes[inner].caller + 1

    def _known(self, a: int, left: int | None, b: int, right: int | None, number: int) -> bool:
        clocks = self.worlds.clocks[number]
        if left is None:
            region = self.accesses.region(a)
            stream, position = clocks.place(a)
        else:
            caller = self.work.scopes[left].caller
            region = self.work.regions[caller]
            stream, position = clocks.stream(caller), self.work.last_inside(caller)
        known = clocks.before(b if right is None else self.work.scopes[right].caller)
        return known[clocks.part(region) + stream] >= position
