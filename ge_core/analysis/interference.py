"""Would anybody see another value if two memories were one?

A copy gives its readers memory of their own. Without it, what is written to either memory lands in
the other one too. `Interference.joined` plays the accesses of both through, in the listed order
(see `ge_core.analysis._play`), and says who would read something else.

Nothing is edited, and no question costs more than the accesses of the two memories, times the
depth at which they lie.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ge_core.analysis._play import Play
from ge_core.analysis.accesses import HEAD, TAIL, Access, Accesses
from ge_core.analysis.aliases import AliasClasses, Anchor
from ge_core.analysis.makers import MakerSearch, may_meet
from ge_core.analysis.timed import AccessConflict, TimedAccess, moment
from ge_core.analysis.timeline import Timeline
from ge_core.ir import Graph, InputAnchor, Node
from ge_core.ops import OpRegistry

_MOST_PAIRS: Final = 4096
"""Pairs of accesses asked, one by one, whether they are of one memory."""


@dataclass(slots=True)
class Joined:
    """What would come of making two memories one.

    Attributes:
        conflicts: who would read another value, in the order in which they run; empty for nobody.
        idle: writes that would put bytes where they are already.
        accesses: the accesses of both, in the listed order; of the copies that would be gone none.
        refused: why the question can't be answered: "places" (pieces with gaps, or of unknown size,
            on both sides), "runs" (calls of calls would have to be played too often), or None.
    """

    conflicts: list[AccessConflict] = field(default_factory=list)
    idle: list[Access] = field(default_factory=list)
    accesses: list[TimedAccess] = field(default_factory=list)
    refused: str | None = None

    @property
    def is_free(self) -> bool:
        """Whether nobody would notice."""
        return not self.conflicts and self.refused is None


class _Memory(NamedTuple):
    """The accesses of a class, by places relative to its root.

    Attributes:
        strided: some of it lies with gaps.
        spread: it is known inside and outside of a subgraph with several callers, each of which may
            give it another memory: the class may be several.
    """

    stamp: tuple[int, int, int]
    accesses: list[TimedAccess]
    strided: bool
    spread: bool


class Interference:
    """Questions about the memories of one graph.

    They are right while nodes are bypassed and control edges added, and `classes` and `timeline`
    are kept up.

    Args:
        classes: what is one memory, of `Scheme.MEMORY`.
        accesses, timeline: made for the same graph where they are not given.
        lent: indexes of graph inputs that callers lend; nobody reads those at the end.

    Attributes:
        steps: anchors and accesses looked at so far, for tests of the cost.
    """

    def __init__(
        self,
        graph: Graph,
        ops: OpRegistry,
        classes: AliasClasses,
        accesses: Accesses | None = None,
        timeline: Timeline | None = None,
        lent: Collection[int] = (),
    ) -> None:
        self._journal = graph.root.journal
        self._ops = ops
        self._accesses = Accesses(graph, ops) if accesses is None else accesses
        self._known: dict[Anchor, _Memory] = {}
        self._lent = frozenset(lent)
        self.classes = classes
        self.timeline = Timeline(graph, ops) if timeline is None else timeline
        self.steps = 0

    # ---- accesses ------------------------------------------------------------------------------

    def accesses(self, anchor: Anchor) -> list[TimedAccess]:
        """All accesses to the memory that an anchor is part of, in the listed order.

        Places are bytes behind the anchor's own.
        """
        return self._placed(anchor, 0)

    def through(self, anchor: Anchor) -> tuple[Access, ...]:
        """The accesses through one anchor alone, in no particular order."""
        return self._accesses.of(anchor)

    def _placed(self, anchor: Anchor, side: int) -> list[TimedAccess]:
        shift = -self.classes.distance(self.classes.root(anchor), anchor)
        if side == 0 and shift == 0:
            return [t for t in self._memory(anchor).accesses if t.access.node.graph is not None]
        return [
            TimedAccess(t.key, t.phase, side, t.low + shift, t.high + shift, t.access)
            for t in self._memory(anchor).accesses
            if t.access.node.graph is not None
        ]

    def _memory(self, anchor: Anchor) -> _Memory:
        classes = self.classes
        root = classes.root(anchor)
        stamp = (classes.size(root), self._journal.rollbacks, self.timeline.version)
        known = self._known.get(root)
        if known is None or known.stamp != stamp:
            known = self._known[root] = self._read(root, stamp)
        return known

    def _read(self, root: Anchor, stamp: tuple[int, int, int]) -> _Memory:
        classes = self.classes
        found: list[TimedAccess] = []
        strided = False
        graphs: dict[Graph, None] = {}
        for member in classes.members(root):
            self.steps += 1
            strided = strided or classes.piece(member) is not None
            if member.node.graph is not None:
                graphs[member.node.graph] = None
            accesses = self._accesses.of(member)
            if not accesses:
                continue
            low = classes.distance(root, member)
            desc = member.desc
            size = None if desc is None else desc.nbytes
            high = low + (0 if size is None else size)
            for access in accesses:
                phase = int(not access.reads)
                found.append(TimedAccess(self.timeline.key(access), phase, 0, low, high, access))
        found += self._kept_inputs(found)
        found.sort(key=moment)
        return _Memory(stamp, found, strided, self.timeline.is_spread(graphs))

    def _kept_inputs(self, found: list[TimedAccess]) -> list[TimedAccess]:
        """What the graph itself updates of the caller's inputs is a result: read at the end."""
        given = [t for t in found if t.access.moment == HEAD and self._is_kept(t.access.node)]
        if not given or len(given) == sum(t.access.writes for t in found):
            return []
        reads: list[TimedAccess] = []
        for timed in given:
            read = timed.access._replace(moment=TAIL, reads=True, writes=False)
            reads.append(timed._replace(key=self.timeline.key(read), phase=0, access=read))
        return reads

    def _is_kept(self, node: Node) -> bool:
        graph = node.graph
        if graph is None or not graph.is_root or self._ops.kind(node) != "data":
            return False
        index = node.attrs.get("index")
        return not isinstance(index, int) or index not in self._lent

    # ---- the question --------------------------------------------------------------------------

    def joined(self, first: Anchor, second: Anchor, without: Collection[Node] = ()) -> Joined:
        """What would come of it if `second` lay exactly where `first` does.

        Args:
            first, second: anchors of two memories.
            without: copies and stores that would be gone: they read nothing, and what they write
                is there already.

        Raises:
            ValueError: the two are one memory already.
        """
        if self.classes.same(first, second):
            raise ValueError(f"{first!r} and {second!r} are one memory already")
        answer = Joined()
        sides = self._placed(first, 0), self._placed(second, 1)
        memories = [self._memory(one) for one in (first, second)]
        strided = [memory.strided for memory in memories]
        if self._is_vague(first, sides, strided):
            answer.refused = "places"
            return answer
        timed = sides[0] + sides[1]
        # Two sorted runs: put into one order in one go.
        timed.sort(key=moment)
        self.steps += len(timed)
        play = Play(
            self.timeline,
            self._ops,
            timed,
            frozenset(without),
            vague=any(strided),
            loose=[memory.spread for memory in memories],
        )
        answer.refused = play.run()
        answer.conflicts = list(play.conflicts)
        answer.idle = list(play.idle)
        if all(memory.spread for memory in memories) and answer.refused is None:
            self._add_meetings(answer, sides, play.without)
        answer.accesses = [t for t in timed if t.access.node not in play.without]
        self.steps += play.steps
        return answer

    def _add_meetings(
        self, answer: Joined, sides: tuple[list[TimedAccess], ...], without: frozenset[Node]
    ) -> None:
        """Where both may be several memories, memories of one side may become one too.

        Nobody has asked in which order those are used: one write is enough, and so are two results.
        """
        then, now = MakerSearch(self._ops), MakerSearch(self._ops, without)
        for side in sides:
            staying = [timed for timed in side if timed.access.node not in without]
            results = [timed for timed in staying if _is_result(timed.access)]
            writes = [timed for timed in staying if timed.access.writes]
            if len(writes) * len(staying) + len(results) ** 2 > _MOST_PAIRS:
                answer.refused = "runs"
                return
            for one in (*writes, *results):
                for other in staying if one.access.writes else results:
                    self.steps += 1
                    if one.low < other.high and other.low < one.high and one is not other:
                        self._add_meeting(answer, one, other, then, now)
        self.steps += then.steps + now.steps

    def _add_meeting(
        self,
        answer: Joined,
        one: TimedAccess,
        other: TimedAccess,
        then: MakerSearch,
        now: MakerSearch,
    ) -> None:
        """Whether two accesses are of two memories that would be one."""
        anchors = one.access.anchor, other.access.anchor
        before = [then.of(anchor) for anchor in anchors]
        if None not in before and may_meet(*before):
            return
        if may_meet(*(now.of(anchor) for anchor in anchors)):
            at_once = one.access.node is other.access.node
            writer = one.access if one.access.writes else None
            conflict = AccessConflict(other.access, writer, other.side, at_once and bool(writer))
            answer.conflicts.append(conflict)

    def _is_vague(
        self, first: Anchor, sides: tuple[list[TimedAccess], list[TimedAccess]], strided: list[bool]
    ) -> bool:
        """Whether it can't be told which bytes of the one are which of the other.

        Where one side lies with gaps the other one must be no more than the piece that is joined.
        """
        size = None if first.desc is None else first.desc.nbytes
        for timed, has_gaps in zip(sides, reversed(strided), strict=True):
            if has_gaps and any(t.low < 0 or size is None or t.high > size for t in timed):
                return True
        every = [*sides[0], *sides[1]]
        return any(t.low == t.high for t in every) and any(t.low for t in every)


def _is_result(access: Access) -> bool:
    """Whether it hands the caller a result."""
    return access.graph.is_root and access.moment == TAIL and isinstance(access.anchor, InputAnchor)
