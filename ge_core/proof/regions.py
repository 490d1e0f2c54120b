"""Where tensors lie, as the proof reads the plan: own alias and boundary rules for what it omits.

A tensor that the plan leaves out lies where the memory lies that it is (a view, a call boundary),
or in a pool of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ge_core.ir import Node, OutputAnchor
from ge_core.memory.plan import Plan, PlanTensor, PlanWorkspace
from ge_core.ops import parent_index
from ge_core.proof.facts import FactTable
from ge_core.proof.frames import Call, Frame, Frames
from ge_core.proof.loops import LoopShape, loop_shape
from ge_core.proof.sizes import extent


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of one pool.

    Attributes:
        size: bytes that carry a value; None where nobody knows them, in a pool of its own.
        row, pitch, count: rows that don't lie back to back; count 1 is one contiguous range.
        seen: bytes of a memory of unknown size that a view with a size looks at.
    """

    pool: str
    start: int
    size: int | None
    row: int = 0
    pitch: int = 0
    count: int = 1
    seen: int | None = None

    @property
    def end(self) -> int:
        """One past the last byte that it touches."""
        if self.size is None:
            return self.start + 1
        if self.count == 1 or not self.size:
            return self.start + self.size
        return self.start + (self.count - 1) * self.pitch + self.row

    @property
    def is_strided(self) -> bool:
        """Whether there are bytes between its rows."""
        return self.count > 1

    def same_place(self, other: Region) -> bool:
        """Whether the same bytes come in the same order, up to the end of the shorter one."""
        if (self.pool, self.start) != (other.pool, other.start):
            return False
        mine = (self.row, self.pitch, self.count)
        return mine == (other.row, other.pitch, other.count)

    def overlaps(self, other: Region) -> bool:
        """Whether they have a byte in common."""
        if self.pool != other.pool or self.start >= other.end or other.start >= self.end:
            return False
        if not (self.is_strided or other.is_strided):
            return self.size != 0 and other.size != 0
        if self.is_strided and other.is_strided and self.pitch == other.pitch:
            # Rows meet where one's number minus the other's is between two bounds.
            ahead = other.start - self.start
            low = max(-((ahead + other.row - 1) // self.pitch), 1 - self.count)
            return low <= min((self.row - 1 - ahead) // self.pitch, other.count - 1)
        few, many = (self, other) if self.count <= other.count else (other, self)
        return any(many.touches(low, high) for low, high in few.rows())

    def rows(self) -> list[tuple[int, int]]:
        """The contiguous ranges."""
        if not self.is_strided:
            return [(self.start, self.end)] if self.size != 0 else []
        return [
            (self.start + at * self.pitch, self.start + at * self.pitch + self.row)
            for at in range(self.count)
        ]

    def touches(self, low: int, high: int) -> bool:
        """Whether one of its bytes lies in [low, high)."""
        if not self.is_strided:
            return self.start < high and low < self.end
        # Row k reaches into the range when low - row < start + k * pitch < high.
        first = max(0, -(-(low - self.row + 1 - self.start) // self.pitch))
        last = min(self.count - 1, (high - 1 - self.start) // self.pitch)
        return low < high and first <= last


def plan_region(place: PlanTensor, size: int | None) -> Region:
    """The region of a plan's entry; `size` is what the description says of it."""
    strided = place.strided
    size = place.bytes if size is None else size
    # Rows over one another and rows of nothing are the layout's to refuse: nothing walks them.
    if strided is None or strided.count <= 1 or not 0 < strided.row < strided.pitch:
        return Region(place.pool, place.offset, size)
    return Region(place.pool, place.offset, size, strided.row, strided.pitch, strided.count)


def _seen(memory: Region, seen: int) -> Region:
    """What a view with a size is of a place."""
    return replace(memory, seen=seen, size=None if memory.size is None else seen)


class Regions:
    """The regions of a compiled graph's tensors."""

    def __init__(self, plan: Plan, frames: Frames, facts: FactTable) -> None:
        self.places: dict[tuple[Call, str, int], PlanTensor] = {
            (place.call, place.node, place.output): place for place in plan.tensors
        }
        self._scratch: dict[tuple[Call, str], list[PlanWorkspace]] = {}
        for area in plan.workspace:
            self._scratch.setdefault((area.call, area.node), []).append(area)
        self._frames = frames
        self._facts = facts
        self._known: dict[Frame, dict[OutputAnchor, Region]] = {}
        self._homes: dict[tuple[Frame, OutputAnchor], PlanTensor | Region] = {}

    def of(self, frame: Frame, output: OutputAnchor) -> Region:
        """Where an output lies."""
        known = self._known.setdefault(frame, {})
        region = known.get(output)
        if region is None:
            region = known[output] = self._find(frame, output)
        return region

    def scratch(self, frame: Frame, node: str) -> list[Region]:
        """The scratch areas of a node instance."""
        areas = self._scratch.get((frame.call, node), ())
        return [Region(area.pool, area.offset, area.bytes) for area in areas]

    def own(self, frame: Frame, name: str, size: int | None) -> Region:
        """A region in a pool that nothing else uses."""
        return Region("@" + "/".join((*frame.call, name)), 0, size)

    def slot(self, frame: Frame, node: Node, shape: LoopShape, at: int) -> Region:
        """Where a loop's slot lies: at the node's output, else where a While's input lies."""
        slot = shape.slots[at]
        if slot.output is not None:
            return self.of(frame, node.outputs[slot.output])
        source = node.inputs[slot.input].source
        size = None if source is None else extent(source.desc)
        if source is not None and shape.condition is not None:
            return self.of(frame, source)
        return self.own(frame, f"{node.name}:slot{at}", size)

    def _find(self, frame: Frame, output: OutputAnchor) -> Region:
        home, size = self._home(frame, output), extent(output.desc)
        if isinstance(home, PlanTensor):
            return plan_region(home, size)
        return home if home.is_strided or size is None else _seen(home, size)

    def _home(self, frame: Frame, output: OutputAnchor) -> PlanTensor | Region:
        """The place that holds an output, in the end: views and calls are followed."""
        path: list[tuple[Frame, OutputAnchor]] = []
        while True:
            home: PlanTensor | Region | None = self._homes.get((frame, output))
            home = home or self.places.get((frame.call, output.node.name, output.index))
            if home is not None:
                break
            path.append((frame, output))
            memory = self._memory_of(frame, output)
            if isinstance(memory, Region):
                home = memory
                break
            if memory is None:
                home = self._own_place(frame, output)
                break
            frame, output = memory
        for step in path:
            self._homes[step] = home
        return home

    def _own_place(self, frame: Frame, output: OutputAnchor) -> Region:
        name, size = f"{output.node.name}:{output.index}", extent(output.desc)
        if self._facts.of(output.node).kind in ("constant", "variable"):
            return Region(f"@{name}", 0, size, seen=size)
        return replace(self.own(frame, name, size), seen=size)

    def _memory_of(
        self, frame: Frame, output: OutputAnchor
    ) -> tuple[Frame, OutputAnchor] | Region | None:
        """The tensor or place whose memory an unplanned output is; None: its own."""
        node = output.node
        facts = self._facts.of(node)
        if facts.kind == "data":
            return self._outside(frame, node)
        if facts.kind == "call":
            for graph in node.subgraphs.values():
                inner = self._frames.child(frame, node, graph)
                for at, _, source in inner.results():
                    if at == output.index:
                        return inner, source
            return None
        at_input = facts.aliases.get(output.index)
        feed = None if at_input is None else node.inputs[at_input].source
        return None if feed is None else (frame, feed)

    def handed_in(self, frame: Frame, data: Node) -> Region | None:
        """Where the memory lies that a subgraph's Data is; None where it has its own."""
        found = self._outside(frame, data)
        return found if found is None or isinstance(found, Region) else self.of(*found)

    def _outside(self, frame: Frame, data: Node) -> tuple[Frame, OutputAnchor] | Region | None:
        """What a subgraph's Data is: the caller's input, or a loop's slot."""
        at = parent_index(data)
        outer, caller = frame.parent, frame.caller
        if outer is None or caller is None or at is None:
            return None
        facts = self._facts.of(caller)
        if facts.kind in ("while", "loop", "scan"):
            shape = loop_shape(caller, facts)
            for number, slot in enumerate(shape.slots):
                if slot.data == at:
                    return self.slot(outer, caller, shape, number)
            if at not in shape.passed:
                return None
        feed = caller.inputs[at].source if at < len(caller.inputs) else None
        return None if feed is None else (outer, feed)
