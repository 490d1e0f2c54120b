"""From the accesses to some bytes to the times at which they are in use.

Bytes are in use from their first write to their last access. Two things make that more than one
interval: what is handed to an If or Case and read last in some arms is not in use behind that in
the others, and what the arms write for a reader behind them is not in use in an arm before its own
write. Whatever a loop touches of what lies outside it is in use until the loop ends, because the
next turn may read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ge_core.memory.access import Access, Accesses
from ge_core.memory.clocks import WorldClocks, Worlds
from ge_core.memory.expand import Expansion
from ge_core.memory.order import Clock


class Span(NamedTuple):
    """One time at which bytes are in use; both ends included.

    Positions count through all worlds, one behind the other.

    Attributes:
        first, last: the time; of several streams one outside which nothing interferes.
        clock: the exact order of several streams.
        seen: the last position at which something is listed that touches the bytes.
    """

    first: int
    last: int
    clock: Clock | None = None
    seen: int = -1


class _Block(NamedTuple):
    """Accesses inside one node with subgraphs, by the scope right inside it."""

    caller: int
    parts: dict[int, list[Access]]

    @property
    def writes(self) -> bool:
        return any(access.write for part in self.parts.values() for access in part)


class _Solid(NamedTuple):
    """Bytes in use without a break in one scope: from the first of these facts to the last.

    Attributes:
        direct: accesses of the scope itself.
        blocks: nodes with subgraphs that touch the bytes inside.
        entered, left: whether the bytes are in use when the scope begins, and when it ends.
        behind: the node whose arms have written the bytes before.
        into: the node whose arms are the last to use the bytes.
    """

    scope: int
    direct: list[Access]
    blocks: list[_Block]
    entered: bool
    left: bool
    behind: int | None
    into: int | None


class Lives:
    """Computes when bytes are in use.

    Args:
        work, accesses: the expanded graph.
        worlds: its gears, and the order of its streams.
    """

    def __init__(self, work: Expansion, accesses: Accesses, worlds: Worlds) -> None:
        self.work = work
        self.accesses = accesses
        self.worlds = worlds
        self._plain = len(work.scopes) == 1 and worlds.order is None and not worlds.geared
        self._length = work.end + 1

    @property
    def plain(self) -> bool:
        """Whether one stream runs without arms, loops or gears: one interval says all."""
        return self._plain

    def whole_run(self) -> list[Span]:
        """In use from the start to the end."""
        if not self.worlds.clocks:
            return [Span(0, len(self.worlds.labels) * self._length - 1)]
        spans: list[Span] = []
        for number, clocks in enumerate(self.worlds.clocks):
            streams = len(clocks.streams)
            last = (self.work.end, *([0] * (streams - 1)))
            clock = Clock(clocks.offset, last, (-1,) * streams)
            first = number * self._length
            spans.append(Span(first, first + self._length - 1, clock))
        return spans

    def spans(self, accesses: Sequence[Access]) -> list[Span]:
        """When bytes with these accesses are in use, in rising order.

        Of several streams: intervals outside which nothing interferes, with exact clocks.
        """
        if self._plain:
            position = self.accesses.position
            places = [position(access.site) for access in accesses]
            return [Span(min(places), max(places))]
        spans: list[Span] = []
        for number, label in enumerate(self.worlds.labels):
            mine: Sequence[Access] = accesses
            if self.worlds.geared:
                mine = [access for access in accesses if self.worlds.runs(access.site, label)]
            if mine:
                spans.extend(self._in_world(number, mine))
        return spans

    # ---- scopes --------------------------------------------------------------------------------

    def _in_world(self, number: int, accesses: Sequence[Access]) -> list[Span]:
        clocks = self.worlds.clocks[number] if self.worlds.clocks else None
        shift = number * self._length
        solids = self._solids(self._home(accesses), accesses, False, False, clocks)
        found = [self._span(solid, clocks, shift) for solid in solids]
        found.sort(key=lambda span: (span.first, span.last))
        return found if clocks is not None else _merged(found)

    def _home(self, accesses: Iterable[Access]) -> int:
        """The innermost scope with all of them."""
        home: int | None = None
        for access in accesses:
            scope = self.accesses.region(access.site).scope
            home = scope if home is None else self._common(home, scope)
            if home == 0:
                break
        return home or 0

    def _common(self, a: int, b: int) -> int:
        # Outer scopes have smaller numbers than those inside them.
        while a != b:
            if a > b:
                a = self._parent(a)
            else:
                b = self._parent(b)
        return a

    def _parent(self, scope: int) -> int:
        outer = self.work.scopes[scope].outer
        assert outer is not None
        return outer.scope

    def _solids(
        self,
        scope: int,
        accesses: Sequence[Access],
        entered: bool,
        left: bool,
        clocks: WorldClocks | None,
    ) -> list[_Solid]:
        direct, blocks = self._sort(scope, accesses)
        if not blocks:
            return [_Solid(scope, direct, blocks, entered, left, None, None)]
        alone = len(blocks) == 1 and not direct
        if alone and not entered and not left and self._has_arms(blocks[0]):
            # Nobody outside the arms cares.
            parts = blocks[0].parts.items()
            return [
                solid
                for inner, part in parts
                for solid in self._solids(inner, part, False, False, clocks)
            ]
        head = tail = None
        if not entered and (left or not alone):
            head = next((b for b in blocks if self._is_head(b, direct, blocks, clocks)), None)
        if not left and (entered or not alone):
            tail = next((b for b in blocks if self._is_tail(b, direct, blocks, clocks)), None)
        found: list[_Solid] = []
        for block, into, behind in ((head, False, True), (tail, True, False)):
            for inner, part in () if block is None else block.parts.items():
                found.extend(self._solids(inner, part, into, behind, clocks))
        middle = [block for block in blocks if block is not head and block is not tail]
        found.append(
            _Solid(
                scope,
                direct,
                middle,
                entered,
                left,
                None if head is None else head.caller,
                None if tail is None else tail.caller,
            )
        )
        return found

    def _has_arms(self, block: _Block) -> bool:
        return self.work.inner[block.caller][0].role == "arm"

    def _sort(self, scope: int, accesses: Sequence[Access]) -> tuple[list[Access], list[_Block]]:
        direct: list[Access] = []
        blocks: dict[int, _Block] = {}
        for access in accesses:
            inner = self.accesses.region(access.site).scope
            if inner == scope:
                direct.append(access)
                continue
            while self._parent(inner) != scope:
                inner = self._parent(inner)
            caller = self.work.scopes[inner].caller
            block = blocks.setdefault(caller, _Block(caller, {}))
            block.parts.setdefault(inner, []).append(access)
        return direct, [blocks[caller] for caller in sorted(blocks)]

    def _is_head(
        self,
        block: _Block,
        direct: list[Access],
        blocks: list[_Block],
        clocks: WorldClocks | None,
    ) -> bool:
        """Whether every arm writes the bytes, and all else happens behind the arms."""
        arms = self.work.inner[block.caller]
        if not self._has_arms(block) or len(block.parts) != len(arms):
            return False
        if not all(any(access.write for access in part) for part in block.parts.values()):
            return False
        end = self.work.last_inside(block.caller)
        sites = [access.site for access in direct]
        sites += [other.caller for other in blocks if other is not block]
        if clocks is None:
            return all(self.accesses.position(site) > end for site in sites)
        at, left = self._exit(block.caller, clocks)
        return all(clocks.before(site)[at] >= left for site in sites)

    def _is_tail(
        self,
        block: _Block,
        direct: list[Access],
        blocks: list[_Block],
        clocks: WorldClocks | None,
    ) -> bool:
        """Whether all else happens before the arms begin."""
        if not self._has_arms(block):
            return False
        others = [other for other in blocks if other is not block]
        if clocks is None:
            start = block.caller + 1
            return all(self.accesses.position(access.site) <= start for access in direct) and all(
                self.work.last_inside(other.caller) < start for other in others
            )
        part = clocks.part(self.work.regions[block.caller])
        known = clocks.before(block.caller)
        for access in direct:
            stream, position = clocks.place(access.site)
            if access.site != block.caller and known[part + stream] < position:
                return False
        for other in others:
            at, left = self._exit(other.caller, clocks)
            if known[at] < left:
                return False
        return True

    def _exit(self, caller: int, clocks: WorldClocks) -> tuple[int, int]:
        """Where clocks say that a node with subgraphs has ended, and the position then."""
        part = clocks.part(self.work.regions[caller])
        return part + clocks.stream(caller), self.work.last_inside(caller)

    # ---- one solid -----------------------------------------------------------------------------

    def _span(self, solid: _Solid, clocks: WorldClocks | None, shift: int) -> Span:
        region = self.work.scopes[solid.scope]
        places = [self.accesses.position(access.site) for access in solid.direct]
        firsts = places + [block.caller + 1 for block in solid.blocks]
        lasts = places + [self.work.last_inside(block.caller) for block in solid.blocks]
        if solid.entered:
            firsts.append(region.start)
        if solid.left:
            lasts.append(region.end)
        if solid.behind is not None:
            firsts.append(self.work.last_inside(solid.behind))
            lasts.append(firsts[-1])
        if solid.into is not None:
            lasts.append(solid.into + 1)
            firsts.append(solid.into + 1)
        first, last = min(firsts), max([*lasts, min(firsts)])
        if clocks is None:
            return Span(first + shift, last + shift)
        clock = self._clock(solid, clocks)
        until = clocks.until(solid.scope, clock.last)
        if solid.left or clock.scope != clocks.offset:
            until = max(until, last)
        return Span(first + shift, max(first, until) + shift, clock, last + shift)

    def _clock(self, solid: _Solid, clocks: WorldClocks) -> Clock:
        region = self.work.scopes[solid.scope]
        last = [0] * len(clocks.streams)

        def touch(stream: int, position: int) -> None:
            last[stream] = max(last[stream], position)

        for access in solid.direct:
            touch(*clocks.place(access.site))
        for block in solid.blocks:
            touch(clocks.stream(block.caller), self.work.last_inside(block.caller))
        if solid.into is not None:
            touch(clocks.stream(solid.into), solid.into + 1)
        if solid.left:
            # Behind everything inside: no writer of the scope comes after it.
            touch(clocks.stream(region.caller), region.end + 1)
        starts = [clocks.before(access.site) for access in solid.direct if access.write]
        starts += [clocks.before(block.caller) for block in solid.blocks if block.writes]
        if solid.entered:
            starts = [clocks.head[region.index]]
        elif solid.behind is not None:
            starts.append(clocks.leave[solid.behind])
        if not starts:
            starts = [(-1,) * (clocks.part(region) + len(last))]
        start = tuple(map(min, *starts)) if len(starts) > 1 else starts[0]
        return Clock(solid.scope + clocks.offset, tuple(last), start, self._sure(solid, clocks))

    def _sure(self, solid: _Solid, clocks: WorldClocks) -> tuple[tuple[int, int], ...]:
        """Where on each stream the bytes are in use for certain, judged by direct accesses."""
        writers = [access.site for access in solid.direct if access.write]
        if solid.scope != 0 or not writers:
            return ()
        since = [clocks.knows_since(site) for site in writers]
        until: list[list[int]] = []
        for access in solid.direct:
            stream, position = clocks.place(access.site)
            known = list(clocks.before(access.site))
            known[stream] = max(known[stream], position)
            until.append(known)
        return tuple(
            (min(column), max(others))
            for column, others in zip(
                zip(*since, strict=True), zip(*until, strict=True), strict=True
            )
        )


def _merged(spans: list[Span]) -> list[Span]:
    """Join intervals that touch: together they say the same."""
    found: list[Span] = []
    for span in spans:
        if found and span.first <= found[-1].last + 1:
            found[-1] = Span(found[-1].first, max(found[-1].last, span.last))
        else:
            found.append(span)
    return found
