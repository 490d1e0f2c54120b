"""Plays the accesses of two memories through as if they were one.

Per byte range two facts are kept: whether the one memory holds what the first memory would hold,
and whether it holds what the second would. A write to either makes the other wrong; a copy from
one to the same place of the other makes the other as right as the first. The second memory holds
nothing at the beginning. Arms start from one state and are joined: right is what is right behind
every arm. Loops are run until the state at their head stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from ge_core.analysis.accesses import HEAD, NODE, TAIL, Access
from ge_core.analysis.aliases import Anchor
from ge_core.analysis.timed import AccessConflict, TimedAccess
from ge_core.analysis.timeline import FIRST, LAST, Timeline
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry

_MOST_RUNS: Final = 64
"""Accesses played per access that there is, before calls of calls are given up on."""
_INSIDE: Final = 2
"""The phase of a caller's subgraphs: behind what it reads and writes itself."""

_Wrong: TypeAlias = "TimedAccess | str | None"
"""Why a memory is not what it should be: the write that spoiled it, or `_EMPTY`; None: it is."""
_State: TypeAlias = "list[list[_Wrong]]"
"""By side, by byte range."""
_Item: TypeAlias = "tuple[int, int, TimedAccess | Node]"
"""Place and phase in one graph, and what happens there."""

_EMPTY: Final = "nothing written yet"


class _TooMany(Exception):
    """The same accesses would have to be played too often."""


class Play:
    """One play.

    Args:
        timed: the accesses of both, sorted.
        without: nodes that are gone.
        vague: byte ranges of one side have gaps, so a write may leave some of a range as it was.
        loose: by side, whether it may be several memories, of which a write changes only one.
    """

    def __init__(
        self,
        timeline: Timeline,
        ops: OpRegistry,
        timed: Sequence[TimedAccess],
        without: frozenset[Node],
        *,
        vague: bool,
        loose: Sequence[bool],
    ) -> None:
        self._timeline = timeline
        self._ops = ops
        self._timed = timed
        self._vague = vague
        self._loose = loose
        self.without = without
        self.conflicts: dict[AccessConflict, None] = {}
        self.idle: dict[Access, None] = {}
        self.steps = 0
        self._spots = {t.access.anchor: (t.side, t.low, t.high) for t in timed}
        bounds = sorted({b for t in timed for b in (t.low, t.high)})
        self._ranges = {low: at for at, low in enumerate(bounds)}
        # Where sizes are unknown, or nothing, every access is taken for one to the whole.
        self._whole = vague or any(t.low >= t.high for t in timed)
        self._count = 1 if self._whole else max(1, len(bounds) - 1)
        self._most = _MOST_RUNS * (len(timed) + 1)

    def run(self) -> str | None:
        """Play; "runs" where that takes too long."""
        state: _State = [[None] * self._count, [_EMPTY] * self._count]
        self._at_once()
        if all(self._timeline.is_straight(t.access.graph) for t in self._timed):
            for timed in self._timed:
                self._step(timed, state)
            return None
        self._items = self._by_graph()
        try:
            self._graph(self._root(), state)
        except _TooMany:
            return "runs"
        return None

    def _root(self) -> Graph:
        return self._timed[0].access.graph.root

    # ---- one access ----------------------------------------------------------------------------

    def _step(self, timed: TimedAccess, state: _State) -> None:
        self.steps += 1
        access, side = timed.access, timed.side
        gone = access.node in self.without
        spots = self._covered(timed)
        if access.reads and not gone:
            for at in spots:
                self._read(timed, state[side][at])
        if not access.writes:
            return
        fed = self._fed_by_other(timed)
        if fed is not None:
            if not gone:
                self.idle[access] = None
            mine, theirs = state[side], state[1 - side]
            for at in spots:
                if not self._loose[side] or mine[at] is None or mine[at] is _EMPTY:
                    mine[at] = theirs[at]
            return
        if gone or self._repeats_itself(timed):
            return
        for at in spots:
            if state[1 - side][at] is not _EMPTY:
                state[1 - side][at] = timed
            if not self._vague and not self._loose[side]:
                state[side][at] = None

    def _covered(self, timed: TimedAccess) -> range:
        if self._whole:
            return range(1)
        return range(self._ranges[timed.low], self._ranges[timed.high])

    def _read(self, timed: TimedAccess, wrong: _Wrong) -> None:
        if wrong is None:
            return
        writer = wrong.access if isinstance(wrong, TimedAccess) else None
        self.conflicts[AccessConflict(timed.access, writer, timed.side)] = None

    def _repeats_itself(self, timed: TimedAccess) -> bool:
        """Whether a write puts bytes where they are: a turn that hands a slot on as it is."""
        source = timed.access.copies
        if source is None or self._loose[timed.side] or self._vague:
            return False
        return self._spots.get(source) == (timed.side, timed.low, timed.high)

    def _fed_by_other(self, timed: TimedAccess) -> Anchor | None:
        """The anchor of the other memory, at the same place, whose bytes a write repeats."""
        source = timed.access.copies
        if source is None or (any(self._loose) and timed.access.node not in self.without):
            return None
        spot = self._spots.get(source)
        return source if spot == (1 - timed.side, timed.low, timed.high) else None

    # ---- one node ------------------------------------------------------------------------------

    def _at_once(self) -> None:
        """Nodes that would overwrite what they read, or write one place twice."""
        by_node: dict[Node, list[TimedAccess]] = {}
        for timed in self._timed:
            if timed.access.moment == NODE and timed.access.node not in self.without:
                by_node.setdefault(timed.access.node, []).append(timed)
        for found in by_node.values():
            if len(found) > 1 and any(timed.access.writes for timed in found):
                for clash in self._clashes(found):
                    self.conflicts[clash] = None

    def _clashes(self, found: list[TimedAccess]) -> Iterator[AccessConflict]:
        for one in found:
            for other in found:
                if one.side == other.side or not one.access.writes:
                    continue
                if not (self._whole or (one.low < other.high and other.low < one.high)):
                    continue
                if self._repeats(one, other) or self._repeats(other, one):
                    continue
                yield AccessConflict(other.access, one.access, other.side, at_once=True)

    def _repeats(self, one: TimedAccess, other: TimedAccess) -> bool:
        """Whether one writes what it reads through the other, to the same place."""
        same = one.access.copies is other.access.anchor
        return same and self._fed_by_other(one) is not None

    # ---- graphs inside graphs ------------------------------------------------------------------

    def _by_graph(self) -> dict[Graph, list[_Item]]:
        """What happens in each graph, callers of graphs in which something happens included."""
        items: dict[Graph, list[_Item]] = {}
        callers: dict[Node, None] = {}
        for timed in self._timed:
            graph = timed.access.graph
            if graph not in items:
                items[graph] = []
                self._climb(graph, items, callers)
            place = {NODE: None, HEAD: FIRST, TAIL: LAST}[timed.access.moment]
            if place is None:
                place = self._timeline.place(timed.access.node)
            items[graph].append((place, timed.phase, timed))
        for caller in callers:
            assert caller.graph is not None
            items[caller.graph].append((self._timeline.place(caller), _INSIDE, caller))
        for found in items.values():
            found.sort(key=lambda item: item[:2])
        return items

    def _climb(
        self, graph: Graph, items: dict[Graph, list[_Item]], callers: dict[Node, None]
    ) -> None:
        waiting = [graph]
        while waiting:
            for caller, _ in waiting.pop().callers:
                callers[caller] = None
                outer = caller.graph
                if outer is not None and outer not in items:
                    items[outer] = []
                    waiting.append(outer)

    def _graph(self, graph: Graph, state: _State) -> None:
        """Play one run of a graph; changes the state."""
        for _, _, item in self._items.get(graph, ()):
            if self.steps > self._most:
                raise _TooMany
            if isinstance(item, Node):
                self._caller(item, state)
            else:
                self._step(item, state)

    def _caller(self, node: Node, state: _State) -> None:
        graphs = list(node.subgraphs.values())
        kind = self._ops.kind(node)
        if kind == "call":
            for inner in graphs:
                self._graph(inner, state)
        elif kind in ("if", "case"):
            ends = [_copy(state) for _ in graphs]
            for inner, end in zip(graphs, ends, strict=True):
                self._graph(inner, end)
            _set(state, _joined(ends or [state]))
        else:
            self._loop(node, graphs, state)

    def _loop(self, node: Node, graphs: list[Graph], state: _State) -> None:
        condition = node.subgraphs.get("cond") if self._ops.kind(node) == "while" else None
        turn = [condition, *(g for g in graphs if g is not condition)]
        while True:
            end = _copy(state)
            for inner in turn:
                if inner is not None:
                    self._graph(inner, end)
            head = _joined([state, end])
            if _alike(head, state):
                break
            _set(state, head)
        if condition is not None:
            self._graph(condition, state)


def _copy(state: _State) -> _State:
    return [list(side) for side in state]


def _set(state: _State, new: _State) -> None:
    state[0][:], state[1][:] = new


def _joined(states: Sequence[_State]) -> _State:
    """What is right behind all of several ways."""
    return [
        [next((one for one in ways if one is not None), None) for ways in zip(*sides, strict=True)]
        for sides in zip(*states, strict=True)
    ]


def _alike(one: _State, other: _State) -> bool:
    """Whether the same is right in both."""
    return all(
        (a is None) == (b is None)
        for mine, theirs in zip(one, other, strict=True)
        for a, b in zip(mine, theirs, strict=True)
    )
