"""Owners whose bytes overlap: memories of their own that demands put on one another.

A split may cut a piece off whose bytes a join wants for something else, two joins may want two
operands at one place. That is right exactly where the rule of reuse holds for the bytes that both
have: every access to the one owner's, under any name, reaches every writer of the other's. The
writer itself may be the last to read the old bytes, where it can work in place on just that input.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ge_core.analysis import Piece, pieces_overlap
from ge_core.errors import LayoutConflict
from ge_core.ir import Node
from ge_core.memory.access import RUN_START, Access, Accesses
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import Expansion, Region
from ge_core.memory.intervals import Ranges
from ge_core.memory.lives import Lives
from ge_core.memory.plan import rows_at
from ge_core.memory.precedence import Precedence

OFFERS_MARK: Final = "_output_inplace_ability"
"""GE's own offers: a list of [output, input]."""


def offered(node: Node) -> Iterator[tuple[int, int]]:
    """The (output, input) pairs of which a mark says that the one may lie where the other does."""
    listed = node.attrs.get(OFFERS_MARK) if node.attrs else None
    for pair in listed if isinstance(listed, (list, tuple)) else ():
        if isinstance(pair, (list, tuple)) and len(pair) == 2:
            yield int(pair[0]), int(pair[1])


class Uses:
    """When bytes are in use, and who may put new ones in the place of what it reads.

    Args:
        work, demands, accesses, lives, precedence: of one expanded graph.
    """

    def __init__(
        self,
        work: Expansion,
        demands: Constraints,
        accesses: Accesses,
        lives: Lives,
        precedence: Precedence,
    ) -> None:
        self.work = work
        self.demands = demands
        self.accesses = accesses
        self.lives = lives
        self.precedence = precedence

    def real(self, tensor: int) -> list[Access]:
        """Accesses without the mark that keeps temporaries off a graph output before it is made."""
        accesses = self.accesses.of[tensor]
        if tensor not in self.accesses.outputs or tensor in self.accesses.inputs:
            return accesses
        return [access for access in accesses if access.site != RUN_START]

    def meet(self, a: Sequence[Access], b: Sequence[Access]) -> bool:
        """Whether what has some accesses may be in use together with what has others."""
        order = self.lives.worlds.order
        others = self.lives.spans(b) if a and b else []
        for one in self.lives.spans(a) if others else ():
            for other in others:
                if one.last < other.first or other.last < one.first:
                    continue
                if order is None or one.clock is None or other.clock is None:
                    return True
                if order.interferes(one.clock, other.clock):
                    return True
        return False

    # ---- in place ------------------------------------------------------------------------------

    def replaces(self, site: int, output: int, at: int) -> bool:
        """Whether a node declares that an output may lie where an input lies, on all its bytes.

        One of the two may be asked about before it lies there: they need the same size and no gaps.
        """
        work, demands = self.work, self.demands
        node = work.nodes[site]
        if (output, at) not in (*offered(node), *work.traits(node).inplace):
            return False
        source = work.source(site, at)
        if source is None or not 0 <= output < len(node.outputs):
            return False
        target = work.tensor(site, output)
        if target in demands.strided or source in demands.strided:
            return False
        return demands.data[target] == demands.data[source]

    def without_read(
        self, old: Sequence[Access], site: int, writers: Sequence[int]
    ) -> Sequence[Access] | None:
        """The accesses to old bytes but the read of the node that replaces them.

        None where it isn't the last to touch the old ones and the first to write the new ones.
        """
        read = Access(site, False)
        if read not in old or Access(site, True) in old:
            return None
        rest = [access for access in old if access != read]
        others = [writer for writer in writers if writer != site]
        scope = self.home([*(access.site for access in rest), *writers])
        before = self.precedence.before
        if all(before(access.site, site, scope) for access in rest) and all(
            before(site, other, scope) for other in others
        ):
            return rest
        return None

    def home(self, sites: Iterable[int]) -> int:
        """The innermost scope with all of some sites."""
        home: int | None = None
        for site in sites:
            scope = self.precedence.scope(site)
            while home is not None and home != scope:
                if home > scope:
                    home = self.precedence.parent(home)
                else:
                    scope = self.precedence.parent(scope)
            home = scope
        return home or 0


class Overlaps:
    """Judges the owners of all classes whose layout is final.

    Args:
        uses: of the expanded graph.

    Attributes:
        steps: members and windows looked at, for tests of the cost.
    """

    def __init__(self, uses: Uses) -> None:
        self.uses = uses
        self.work = uses.work
        self.demands = uses.demands
        self.steps = 0
        self._ways: dict[int, Ranges] | None = None
        self._ends: list[int] = []
        self._parts: list[int] = []
        self._handed: dict[int, list[int]] = {}

    def check(self, members: Sequence[int], low: int) -> None:
        """Check one class.

        Args:
            low: where its lowest member lies, for the message.

        Raises:
            LayoutConflict: two owners need common bytes at the same time; names both and the chain
                that puts them on one another.
        """
        alias, find = self.demands.alias, self.demands.layout.find
        owners = [tensor for tensor in members if self._is_owner(tensor)]
        if len({alias.find(tensor)[0] for tensor in owners}) < 2:
            return
        groups: dict[int, list[int]] = {}
        for a, b in self._touching(owners, members):
            if alias.same(a, b) or self._exclusive(a, b) or self._handed_on(a, b):
                continue
            if not groups:
                for tensor in members:
                    groups.setdefault(alias.find(tensor)[0], []).append(tensor)
            if self._clash(a, b, groups):
                place = max(find(a)[1], find(b)[1]) - low
                raise LayoutConflict(
                    f"{self.work.name(a)} and {self.work.name(b)} are needed at the same time and "
                    f"would both lie at byte {place} of one run: "
                    + "; ".join(self.demands.layout.chain(a, b))
                )

    def first(self, members: Sequence[int]) -> tuple[int, int] | None:
        """The first two owners of a class that have bytes in common; None where none have.

        What a join or split makes of another one, and updates where it lies, counts as that one's.
        """
        find = self.demands.alias.find
        owners = [tensor for tensor in members if self._is_owner(tensor)]
        if len({find(tensor)[0] for tensor in owners}) < 2:
            return None
        for a, b in self._touching(owners, members):
            same = self.demands.alias.same(a, b) or self._exclusive(a, b)
            if (
                not same
                and find(b)[0] not in self._flow(a, b)
                and find(a)[0] not in self._flow(b, a)
            ):
                return a, b
        return None

    # ---- which owners meet ---------------------------------------------------------------------

    def _is_owner(self, tensor: int) -> bool:
        return self.demands.data[tensor] > 0 and any(a.write for a in self.uses.real(tensor))

    def _touching(self, owners: list[int], members: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs with common bytes: all, or as many as speak for all.

        In one scope "comes before" is transitive, and goes with the first write: of the owners of a
        byte it is enough to compare those that follow one another. Owners with gaps may reach over
        a byte that is not theirs, so there all are compared.
        """
        scope = self.uses.precedence.scope
        sites = {access.site for tensor in members for access in self.uses.real(tensor)}
        one = len({scope(site) for site in sites}) == 1 and not any(
            tensor in self.demands.strided for tensor in owners
        )
        births = {tensor: self._birth(tensor) for tensor in owners} if one else {}
        events: list[tuple[int, int, int]] = []
        for tensor in owners:
            start, end = self._place(tensor)
            events += [(start, 1, tensor), (end, 0, tensor)]
        events.sort()
        here: list[tuple[int, int]] = []
        seen: set[tuple[int, int]] = set()
        for _, begins, tensor in events:
            key = births.get(tensor, 0), tensor
            at = bisect_left(here, key)
            if begins:
                here.insert(at, key)
            else:
                del here[at]
            if one:
                ends = ((at - 1, at), (at, at + 1)) if begins else ((at - 1, at),)
                pairs = [
                    (here[left][1], here[right][1])
                    for left, right in ends
                    if left >= 0 and right < len(here)
                ]
            else:
                pairs = [(other, tensor) for _, other in here if other != tensor] if begins else []
            for pair in pairs:
                if pair not in seen and self._share_rows(*pair):
                    seen.add(pair)
                    yield pair

    def _birth(self, tensor: int) -> int:
        position = self.uses.accesses.position
        return min(position(access.site) for access in self.uses.real(tensor) if access.write)

    def _place(self, tensor: int) -> tuple[int, int]:
        at = self.demands.layout.find(tensor)[1]
        return at, at + self.demands.extent(tensor)

    def _share_rows(self, a: int, b: int) -> bool:
        """Whether tensors that touch share bytes, looked at row by row."""
        if a not in self.demands.strided and b not in self.demands.strided:
            return True
        return pieces_overlap(self._rows(a), self._rows(b))

    def _rows(self, tensor: int) -> Piece:
        demands = self.demands
        at = demands.layout.find(tensor)[1]
        return rows_at(at, demands.data[tensor], demands.strided.get(tensor))

    def _exclusive(self, a: int, b: int) -> bool:
        """Whether two owners lie in different arms of one node: only one of them runs."""
        if len(self.work.scopes) == 1:
            return False
        arms = {region.caller: region for region in self._arms(a)}
        return any(arms.get(region.caller, region) is not region for region in self._arms(b))

    def _arms(self, tensor: int) -> Iterator[Region]:
        region: Region | None = self.work.regions[self.work.owner[tensor]]
        while region is not None:
            if region.role == "arm":
                yield region
            region = region.outer

    def _handed_on(self, a: int, b: int) -> bool:
        """Whether a subgraph delivers one out of the other.

        Their order was looked at when they were put in one place.
        """
        if not self.demands.handed:
            return False
        find = self.demands.alias.find
        return find(b)[0] in self._targets(a, b) or find(a)[0] in self._targets(b, a)

    def _targets(self, tensor: int, other: int) -> set[int]:
        """What subgraphs make of the bytes of a producer that another one has too."""
        reached = self._flow(tensor, other)
        return {target for group in reached for target in self._handed.get(group, ())}

    # ---- two owners ----------------------------------------------------------------------------

    def _clash(self, a: int, b: int, groups: dict[int, list[int]]) -> bool:
        """Whether one owner's bytes are still needed when the other one is written there.

        Where a join or split makes one of the other, what is read through the later name is the
        later one's own affair: in the original graph too it sees what was written by that name.
        """
        find, uses = self.demands.alias.find, self.uses
        for early, late in ((a, b), (b, a)):
            group = find(late)[0]
            if group in self._flow(early, late):
                old = self._needed(early, late, groups, group)
                return uses.meet(old, self._from_write(self._needed(late, early, groups)))
        one, other = self._needed(a, b, groups), self._needed(b, a, groups)
        for early, late, old, new in ((a, b, one, other), (b, a, other, one)):
            site = self._replacing(early, late)
            if site is not None:
                writers = sorted({access.site for access in new if access.write})
                rest = uses.without_read(old, site, writers)
                if rest is not None:
                    return uses.meet(rest, new)
        return uses.meet(one, other)

    def _needed(
        self, tensor: int, other: int, groups: dict[int, list[int]], without: int | None = None
    ) -> list[Access]:
        """The accesses to those bytes of an owner that another one has too, by any name.

        Args:
            without: an alias group through which accesses don't count.
        """
        (low, high), (start, end) = self._place(tensor), self._place(other)
        low, high = max(low, start), min(high, end)
        found: dict[Access, None] = {}
        for group in sorted(self._flow(tensor, other, without)):
            for member in groups.get(group, ()):
                self.steps += 1
                first, last = self._place(member)
                if first < high and low < last and self._share_rows(member, other):
                    found.update(dict.fromkeys(self.uses.real(member)))
        return list(found)

    def _from_write(self, accesses: list[Access]) -> list[Access]:
        position = self.uses.accesses.position
        begin = min(position(access.site) for access in accesses if access.write)
        return [access for access in accesses if position(access.site) >= begin]

    def _replacing(self, old: int, new: int) -> int | None:
        """The node that writes an owner element by element over what it reads of another one."""
        work, find, alias = self.work, self.demands.layout.find, self.demands.alias
        site = work.owner[new]
        node = work.nodes[site]
        if Access(site, True) not in self.uses.accesses.of[new]:
            return None
        place = find(new)
        reached: set[int] | None = None
        for at in range(len(node.inputs)):
            source = work.source(site, at)
            if source is None or find(source) != place:
                continue
            if not self.uses.replaces(site, new - work.base[site], at):
                continue
            others = [work.source(site, n) for n in range(len(node.inputs)) if n != at]
            if any(tensor is not None and self._touches(tensor, new) for tensor in others):
                continue
            reached = self._flow(old, new) if reached is None else reached
            if alias.find(source)[0] in reached:
                return site
        return None

    def _touches(self, a: int, b: int) -> bool:
        if not self.demands.layout.same(a, b):
            return False
        (low, high), (start, end) = self._place(a), self._place(b)
        return low < end and start < high

    # ---- where bytes go ------------------------------------------------------------------------

    def _flow(self, tensor: int, other: int, without: int | None = None) -> set[int]:
        """The alias groups that bytes which another tensor has too reach by joins and splits."""
        if self._ways is None:
            self._ways = self._read_ways()
        (low, high), (start, end) = self._place(tensor), self._place(other)
        low, high = max(low, start), min(high, end)
        first = self.demands.alias.find(tensor)[0]
        reached, waiting = {first}, [first]
        while waiting:
            group = waiting.pop()
            ways = self._ways.get(group)
            found = [] if ways is None else list(ways.over(low, high))
            ends = [
                self._ends[way]
                for way in found
                if self._share_rows(self._parts[way], other)
                and self._share_rows(self._parts[way], tensor)
            ]
            self.steps += 1 + len(found)
            for following in (*ends, *self._handed.get(group, ())):
                if following not in reached and following != without:
                    reached.add(following)
                    waiting.append(following)
        return reached

    def _read_ways(self) -> dict[int, Ranges]:
        """By alias group, the windows through which its bytes go on, at their places."""
        find = self.demands.alias.find
        found: dict[int, list[tuple[int, int, int]]] = {}
        self._parts = [window.part for window in self.demands.windows]
        for number, window in enumerate(self.demands.windows):
            whole, part = find(window.whole)[0], find(window.part)[0]
            start, end = (part, whole) if window.join else (whole, part)
            self._ends.append(end)
            found.setdefault(start, []).append((*self._place(window.part), number))
        for result, target in self.demands.handed:
            self._handed.setdefault(find(result)[0], []).append(find(target)[0])
        return {group: Ranges(items) for group, items in found.items()}
