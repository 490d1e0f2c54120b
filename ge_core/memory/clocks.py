"""Vector clocks of an expanded graph whose nodes run on several streams.

What orders two nodes: a data or control edge, and the stream they both stand on, in running order.
Nodes without a task hand on what they would wait for; Data carries no order, and what lost its task
keeps its place on its stream. Everything inside a
call waits for the calling node's stream, and that stream for everything inside.

In GE's gears (`_batch_label`) nodes of other gears do not run: each gear is a *world* of its own,
with the nodes that bear its label or none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from ge_core.analysis.toporder import predecessors
from ge_core.memory.access import RUN_END, RUN_START, Accesses
from ge_core.memory.expand import Expansion, Region
from ge_core.memory.order import ROOT, Scope, StreamOrder
from ge_core.ops import keeps_place

_NO_ORDER: Final = frozenset({"data", "constant", "variable"})
Vector = tuple[int, ...]


class WorldClocks:
    """The clocks of one world.

    Args:
        work, accesses: the expanded graph.
        streams: index by stream id.
        runs: whether an instance is in this world.
        offset: what to add to scope numbers, so that worlds share no scope.

    Attributes:
        ready: by instance, what has passed before it starts.
        leave: by instance with subgraphs, what has passed when all of them have ended.
        head, tail: by region, what has passed when it begins, and when it has ended.
    """

    def __init__(
        self,
        work: Expansion,
        accesses: Accesses,
        streams: dict[int, int],
        runs: Sequence[bool],
        offset: int,
    ) -> None:
        self.work = work
        self.accesses = accesses
        self.streams = streams
        self.offset = offset
        self.ready: list[Vector] = [()] * len(work.nodes)
        self._lane = [streams.get(node.stream_id, 0) for node in work.nodes]
        self.leave: dict[int, Vector] = {}
        self.head: dict[int, Vector] = {}
        self.tail: dict[int, Vector] = {}
        self._done: list[Vector] = [()] * len(work.nodes)
        self._runs = runs
        self._depths: list[int] = []
        for region in work.scopes:
            outer = region.outer
            self._depths.append(0 if outer is None else self._depths[outer.scope] + 1)
        self._sweep()
        self._reach = self._reaches()
        self._steps = self._outermost_steps()

    # ---- the sweep -----------------------------------------------------------------------------

    def _sweep(self) -> None:
        work, count = self.work, len(self.streams)
        zero: Vector = (0,) * count
        root = work.all_regions[0]
        self.head[0] = zero
        passed: dict[int, Vector] = {0: zero}
        lanes: dict[int, dict[int, Vector]] = {0: {}}
        open_regions: list[Region] = [root]
        for instance in range(len(work.nodes)):
            region = work.regions[instance]
            while open_regions[-1] is not region:
                self._close(open_regions.pop(), passed, lanes)
            done = self._step(instance, region, passed, lanes[region.index])
            passed[region.index] = _join(passed[region.index], done)
            for inner in reversed(work.inner.get(instance, ())):
                self._open(inner, instance, passed, lanes)
                open_regions.append(inner)
        while open_regions:
            self._close(open_regions.pop(), passed, lanes)

    def _step(
        self, instance: int, region: Region, passed: dict[int, Vector], lanes: dict[int, Vector]
    ) -> Vector:
        work = self.work
        node = work.nodes[instance]
        head = self.head[region.index]
        if not self._runs[instance] or work.traits(node).kind in _NO_ORDER:
            self.ready[instance] = self._done[instance] = head
            return head
        at = region.at
        clocks = [self._done[at[earlier]] for earlier in predecessors(node)]
        runs = self.accesses.demands.tasks[instance]
        stream = self.stream(instance)
        stands = runs or (node.stream_id in self.streams and keeps_place(node, work.ops))
        if stands and stream in lanes:
            clocks.append(lanes[stream])
        ready = _join(head, *clocks)
        self.ready[instance] = ready
        done = ready
        if runs:
            done = _with(ready, self.part(region) + stream, instance + 1)
        if stands:
            lanes[stream] = done
        self._done[instance] = done
        return done

    def _open(
        self,
        region: Region,
        caller: int,
        passed: dict[int, Vector],
        lanes: dict[int, dict[int, Vector]],
    ) -> None:
        outer = region.outer
        assert outer is not None
        enter = self._done[caller]
        if region.role == "call":
            self.head[region.index] = passed[region.index] = enter
            lanes[region.index] = dict(lanes[outer.index])
            return
        fresh: Vector = (0,) * len(self.streams)
        at = self.part(region) + self.stream(caller)
        head = _with(enter + fresh, at, region.caller + 1)
        self.head[region.index] = passed[region.index] = head
        lanes[region.index] = {
            stream: clock + fresh for stream, clock in lanes[outer.index].items()
        }

    def _close(
        self, region: Region, passed: dict[int, Vector], lanes: dict[int, dict[int, Vector]]
    ) -> None:
        """A region has ended: its caller has passed once the last of its regions has."""
        self.tail[region.index] = passed[region.index]
        outer = region.outer
        if outer is None:
            return
        caller = region.caller
        before = self.leave.get(caller, self._done[caller])
        if region.role == "call":
            left = _join(before, passed[region.index])
            self._return(region, lanes)
        else:
            at = self.part(outer) + self.stream(caller)
            left = _with(before, at, self.work.last_inside(caller))
        self.leave[caller] = self._done[caller] = left
        lanes[outer.index][self.stream(caller)] = left
        passed[outer.index] = _join(passed[outer.index], left)

    def _return(self, region: Region, lanes: dict[int, dict[int, Vector]]) -> None:
        """What a stream did inside a call comes before what follows on it.

        What it learned of other streams there it knows behind the call only through the caller's
        end: whoever compares accesses by calls and streams, and not by every path, agrees.
        """
        outer = region.outer
        assert outer is not None
        part = self.part(region)
        for stream, inside in lanes[region.index].items():
            known = lanes[outer.index].get(stream)
            if inside is known:
                continue
            entered = self.head[region.index]
            before = entered if known is None else _join(entered, known)
            lanes[outer.index][stream] = _with(before, part + stream, inside[part + stream])

    # ---- reading -------------------------------------------------------------------------------

    def stream(self, instance: int) -> int:
        """The index of an instance's stream."""
        return self._lane[instance]

    def part(self, region: Region) -> int:
        """Where the part of a region's own scope begins in its clocks."""
        return self._depths[region.scope] * len(self.streams)

    def place(self, site: int) -> tuple[int, int]:
        """A site's stream, and its position there, as seen in its own scope."""
        if site == RUN_START:
            return 0, 0
        if site == RUN_END:
            return 0, self.work.end
        count = len(self.work.nodes)
        if site < count:
            return self.stream(site), site + 1
        region = self.accesses.region(site)
        if region.outer is None:
            return 0, 0
        tail = (site - count) % 2
        return self.stream(region.caller), region.end if tail else region.caller + 1

    def before(self, site: int) -> Vector:
        """What has passed before a site."""
        count = len(self.work.nodes)
        if site == RUN_START:
            # Nothing: the start itself, at position 0, is behind no other start.
            return (-1,) * len(self.streams)
        if site == RUN_END:
            return self.tail[0]
        if site < count:
            return self.ready[site]
        region = self.accesses.region(site)
        return self.tail[region.index] if (site - count) % 2 else self.head[region.index]

    def scopes(self) -> list[Scope]:
        """The scopes of this world, numbered behind `offset`."""
        found: list[Scope] = []
        for region in self.work.scopes:
            if region.outer is None:
                found.append(Scope(ROOT, 0, self.offset, 0, 0))
                continue
            parent = region.outer.scope + self.offset
            caller = region.caller
            found.append(
                Scope(
                    parent,
                    self._depths[region.scope],
                    caller,
                    self.stream(caller),
                    self.work.last_inside(caller),
                )
            )
        return found

    # ---- how long something may be in the way --------------------------------------------------

    def _reaches(self) -> list[tuple[list[int], list[int]]]:
        """Per stream, falling: positions known to have passed, and the last place that knows less.

        Each pair of lists answers "up to where in the listing may a node start that does not know
        of position p": the entry of the greatest known position below p.
        """
        marks: list[dict[int, int]] = [{} for _ in self.streams]

        def note(position: int, clock: Vector) -> None:
            for stream, known in enumerate(clock[: len(marks)]):
                if marks[stream].get(known, -1) < position:
                    marks[stream][known] = position

        for instance, clock in enumerate(self.ready):
            if self._runs[instance]:
                note(instance + 1, clock)
        for caller, clock in self.leave.items():
            note(self.work.last_inside(caller), clock)
        for region in self.work.all_regions:
            note(region.end, self.tail.get(region.index, ()))
        found: list[tuple[list[int], list[int]]] = []
        for table in marks:
            known = sorted(table)
            furthest: list[int] = []
            for key in known:
                furthest.append(max(table[key], furthest[-1] if furthest else 0))
            found.append((known, furthest))
        return found

    def _outermost_steps(self) -> list[tuple[list[int], list[Vector]]]:
        """Per stream, the positions of what runs in the outermost scope, and what it knows."""
        steps: list[tuple[list[int], list[Vector]]] = [([], []) for _ in self.streams]
        for instance, region in enumerate(self.work.regions):
            if region.scope == 0 and self._runs[instance] and self.accesses.demands.tasks[instance]:
                positions, known = steps[self.stream(instance)]
                positions.append(instance + 1)
                # What a stream forgets behind a call has passed nevertheless.
                ready = self.ready[instance]
                known.append(_join(ready, known[-1]) if known else ready)
        return steps

    def knows_since(self, site: int) -> tuple[int, ...]:
        """Per stream, the first position of the outermost scope behind a site or at it."""
        stream, position = self.place(site)
        found: list[int] = []
        for at, (positions, known) in enumerate(self._steps):
            if at == stream:
                found.append(position)
                continue
            first = bisect_left(known, position, key=lambda clock: clock[stream])
            found.append(positions[first] if first < len(positions) else self.work.end)
        return tuple(found)

    def until(self, scope: int, last: Sequence[int]) -> int:
        """The last place in the listing at which something may start without knowing of `last`."""
        region = self.work.scopes[scope]
        outer = region.outer
        if outer is None:
            return max(self._until(stream, position) for stream, position in enumerate(last))
        caller = region.caller
        while outer is not None:
            caller = region.caller
            region = self.work.scopes[outer.scope]
            outer = region.outer
        return self._until(self.stream(caller), self.work.last_inside(caller))

    def _until(self, stream: int, position: int) -> int:
        if position == 0:
            return 0
        if position >= self.work.end:
            return self.work.end
        known, furthest = self._reach[stream]
        at = bisect_left(known, position)
        return furthest[at - 1] if at else position


class Worlds:
    """The worlds of a run: one per gear, or one.

    Args:
        work, accesses: the expanded graph.
        streams: index by stream id; None where one stream runs and positions say all.

    Attributes:
        labels: of the gears; one None where there are no gears.
        clocks: per world; empty where one stream runs.
        order: of all worlds; None where one stream runs.
    """

    def __init__(self, work: Expansion, accesses: Accesses, streams: dict[int, int] | None) -> None:
        self._gear = {
            instance: str(node.attrs["_batch_label"])
            for instance, node in enumerate(work.nodes)
            if node.attrs and "_batch_label" in node.attrs
        }
        self.labels: list[str | None] = [*sorted(set(self._gear.values()))] or [None]
        self.clocks: list[WorldClocks] = []
        self.order: StreamOrder | None = None
        if streams is not None:
            scopes: list[Scope] = []
            for label in self.labels:
                runs = [self.runs(instance, label) for instance in range(len(work.nodes))]
                world = WorldClocks(work, accesses, streams, runs, len(scopes))
                self.clocks.append(world)
                scopes.extend(world.scopes())
            self.order = StreamOrder(len(streams), scopes)

    @property
    def geared(self) -> bool:
        """Whether there is more than the one world that everything is in."""
        return bool(self._gear)

    def runs(self, site: int, label: str | None) -> bool:
        """Whether what stands at a site runs in the world of that label."""
        return self._gear.get(site, label) == label


def stream_table(work: Expansion, accesses: Accesses) -> dict[int, int] | None:
    """Indexes of the streams on which something runs; None where that is one or none."""
    tasks = accesses.demands.tasks
    found = sorted({node.stream_id for node, runs in zip(work.nodes, tasks, strict=True) if runs})
    return {stream: at for at, stream in enumerate(found)} if len(found) > 1 else None


def _join(first: Vector, *others: Vector) -> Vector:
    """The greatest of each part; all are clocks of one scope."""
    joined = first
    for other in others:
        if other is not joined:
            joined = tuple(map(max, joined, other))
    return joined


def _with(clock: Vector, at: int, position: int) -> Vector:
    if clock[at] >= position:
        return clock
    return (*clock[:at], position, *clock[at + 1 :])
