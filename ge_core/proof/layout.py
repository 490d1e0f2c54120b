"""Layout: places in range, large enough and aligned; runs that are runs; pools by memory type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ge_core.ir import Node, OutputAnchor
from ge_core.memory.plan import ARENA, CONSTANTS, VARIABLES, Plan, PlanTensor, tensor_name
from ge_core.proof.facts import FactTable
from ge_core.proof.frames import Frame, Frames
from ge_core.proof.pieces import join_parts, pack_parts, split_parts
from ge_core.proof.program import Group
from ge_core.proof.regions import Region, Regions, plan_region
from ge_core.proof.result import Findings
from ge_core.proof.sizes import extent
from ge_core.proof.slices import slice_windows
from ge_core.targets import Target

_Key = tuple[tuple[str, ...], str, int]
"""Call path, node and output."""
_TASK_FREE: Final[Mapping[str, Callable[[Node], object | None]]] = {
    "join": join_parts,
    "pack": pack_parts,
    "split": split_parts,
    "slice": slice_windows,
}
"""By kind, what a node without a task does to bytes; None where that is not known."""
_DEFAULT_TYPES: Final = frozenset({"HBM", "DDR", "DEFAULT", ""})


class Layout:
    """Checks what a plan says against the graph that it is for."""

    def __init__(
        self,
        plan: Plan,
        frames: Frames,
        facts: FactTable,
        regions: Regions,
        target: Target | None,
        findings: Findings,
    ) -> None:
        self._plan = plan
        self._frames = frames
        self._facts = facts
        self._regions = regions
        self._target = target
        self._findings = findings
        self._pieces: set[tuple[str, int, int]] = set()

    def check(self, program: Group) -> None:
        """Check every place, every run, and who may have pitched rows."""
        every = list(self._every_frame(program))
        for frame in every:
            self._check_task_free(frame)
        self._check_places(every)
        self._check_runs()
        self._check_pools()
        self._check_scratch()
        self._check_strided(program)
        self._check_updates(program)
        for frame in every:
            self._check_packed(frame)
            self._check_boundary(frame)

    def _every_frame(self, program: Group) -> Iterator[Frame]:
        yield program.frame
        for step in program.everything():
            for group in step.groups:
                yield group.frame

    # ---- places --------------------------------------------------------------------------------

    def _check_places(self, frames: list[Frame]) -> None:
        outputs: dict[_Key, OutputAnchor] = {}
        for frame in frames:
            for node in frame.order:
                for output in node.outputs:
                    outputs[frame.call, node.name, output.index] = output
        if len(self._regions.places) != len(self._plan.tensors):
            self._complain("plan", "one place per tensor", "two places for one")
        for key, place in self._regions.places.items():
            if key in outputs:
                self._check_place(place, outputs[key])
            else:
                self._complain(place.name, "a tensor of the graph", "no such tensor")
        self._check_missing(outputs)

    def _check_missing(self, outputs: Mapping[_Key, OutputAnchor]) -> None:
        """What has no place gets a buffer at run time, and is listed, so that nobody forgets it."""
        unplanned = set(self._plan.unplanned)
        for key, output in outputs.items():
            # An output that a node leaves out, or a sequence that nobody reads, needs none.
            if output.desc.dtype == "undefined" and output.desc.size is None and not output.readers:
                continue
            if key not in self._regions.places and tensor_name(*key) not in unplanned:
                self._complain(tensor_name(*key), "a place, or a mention as unplanned", "neither")

    def _check_place(self, place: PlanTensor, output: OutputAnchor) -> None:
        size = extent(output.desc)
        region = plan_region(place, size)
        totals = self._plan.pools.get(place.pool)
        if place.offset < 0 or totals is None or region.end > totals.bytes:
            have = "no such pool" if totals is None else f"{totals.bytes} bytes"
            self._complain(
                place.name, f"a place inside {place.pool}, up to {region.end}", have, region
            )
        strided = place.strided
        held = place.bytes if strided is None else strided.row * strided.count
        if size is not None and held < size:
            self._complain(place.name, f"{size} bytes", f"{held}", region)
        if strided is not None and strided.count > 1 and strided.pitch < strided.row:
            self._complain(place.name, "rows apart from each other", f"{strided}", region)
        if region.size and not self._is_aligned(region):
            assert self._target is not None
            expected = f"an offset aligned to {self._target.align_bytes}"
            self._complain(place.name, expected, str(place.offset), region)

    def _is_aligned(self, region: Region) -> bool:
        """Heads of buffers are aligned; pieces inside a run lie where they must."""
        if self._target is None or region.pool in (CONSTANTS, VARIABLES):
            return True
        if region.start % self._target.align_bytes == 0:
            return True
        return region.is_strided or (region.pool, region.start, region.end) in self._pieces

    def _check_task_free(self, frame: Frame) -> None:
        """Note the pieces of no-task joins and splits; refuse those that begin inside a byte."""
        for node in frame.order:
            facts = self._facts.of(node)
            if not facts.no_task or facts.kind not in _TASK_FREE:
                continue
            cuts = facts.kind in ("split", "slice")
            for anchor in node.inputs:
                if anchor.source is not None and not cuts:
                    self._note_piece(frame, anchor.source)
            for output in node.outputs:
                if cuts:
                    self._note_piece(frame, output)
            if _TASK_FREE[facts.kind](node) is None:
                self._complain(
                    frame.path(node),
                    "pieces whose bytes lie one behind the other, on byte boundaries",
                    "a task-free node whose pieces do not",
                )

    def _note_piece(self, frame: Frame, output: OutputAnchor) -> None:
        region = self._regions.of(frame, output)
        self._pieces.add((region.pool, region.start, region.end))

    # ---- runs, pools, scratch ------------------------------------------------------------------

    def _check_runs(self) -> None:
        """Members of one run lie in one pool at the distances that the plan says."""
        first: dict[str, PlanTensor] = {}
        for place in self._plan.tensors:
            if place.run is None:
                continue
            head = first.setdefault(place.run.id, place)
            assert head.run is not None
            base = head.offset - head.run.delta
            if (place.pool, place.offset - place.run.delta) != (head.pool, base):
                expected = f"{head.pool} {base + place.run.delta}, in run {place.run.id}"
                self._complain(place.name, expected, f"{place.pool} {place.offset}")

    def _check_pools(self) -> None:
        root = self._frames.root.graph
        for place in self._plan.tensors:
            node = root.find(place.node)
            if node is None or place.output >= len(node.outputs):
                continue
            kind = node.outputs[place.output].desc.mem_type
            special = place.pool not in (ARENA, CONSTANTS, VARIABLES)
            differs = special == (kind in _DEFAULT_TYPES) or (special and place.pool != kind)
            if differs and not self._is_persistent(place):
                self._complain(place.name, f"memory of type {kind}", f"pool {place.pool}")
        if self._target is None:
            return
        for name, totals in self._plan.pools.items():
            capacity = self._target.capacity(name)
            if capacity is not None and totals.bytes > capacity:
                self._complain(name, f"at most {capacity} bytes", str(totals.bytes))

    def _is_persistent(self, place: PlanTensor) -> bool:
        return place.pool in (CONSTANTS, VARIABLES) and place.io in ("constant", "variable")

    def _check_scratch(self) -> None:
        for area in self._plan.workspace:
            totals = self._plan.pools.get(area.pool)
            region = Region(area.pool, area.offset, area.bytes)
            if area.offset < 0 or totals is None or area.end > totals.bytes:
                have = "no such pool" if totals is None else f"{totals.bytes} bytes"
                expected = f"a place inside {area.pool}, up to {area.end}"
                self._complain(area.name, expected, have, region)
            align = 1 if self._target is None else self._target.align_bytes
            if area.bytes and area.offset % align:
                self._complain(area.name, f"an offset aligned to {align}", str(area.offset), region)

    # ---- what nodes demand ---------------------------------------------------------------------

    def _check_strided(self, program: Group) -> None:
        """Only ops that can handle a pitch read or write rows that lie apart, where any do.

        A call's inputs and outputs are read and written inside it; arms and turns copy.
        """
        if all(place.strided is None for place in self._plan.tensors):
            return
        who = "op" if self._target is None or self._target.strided else "target"
        for step in program.everything():
            traits, kind = step.facts.traits, step.facts.kind
            if kind == "call":
                continue
            able_in = who == "op" and (traits.strided_in or kind in ("if", "case"))
            able_out = who == "op" and traits.strided_out
            for anchor in step.node.inputs:
                if anchor.source is None or anchor.index in step.facts.ignored:
                    continue
                region = self._regions.of(step.frame, anchor.source)
                if region.is_strided and not able_in:
                    expected = f"contiguous bytes at @{anchor.index}: the {who} reads no pitch"
                    self._complain(step.path, expected, "rows apart", region)
            for output in step.node.outputs:
                region = self._regions.of(step.frame, output)
                if region.is_strided and not able_out:
                    expected = f"contiguous bytes at :{output.index}: the {who} writes no pitch"
                    self._complain(step.path, expected, "rows apart", region)
        self._check_ends(program.frame)

    def _check_ends(self, frame: Frame) -> None:
        """What comes from outside, and what goes there, has no gaps: nobody there knows of them."""
        for node in frame.order:
            kind = self._facts.of(node).kind
            outside: list[OutputAnchor] = []
            if kind in ("data", "constant", "variable"):
                outside = node.outputs
            elif kind == "net_output":
                outside = [anchor.source for anchor in node.inputs if anchor.source is not None]
            for output in outside:
                region = self._regions.of(frame, output)
                if region.is_strided:
                    expected = f"contiguous bytes for {output!r}: outside nobody knows of a pitch"
                    self._complain(frame.path(node), expected, "rows apart", region)

    def _check_updates(self, program: Group) -> None:
        """An output that is the memory of an updated input lies there.

        Elsewhere nobody can say what its bytes are: the op updates the input, and may or may not
        write what it takes for its output.
        """
        for step in program.everything():
            for at, source in step.facts.aliases.items():
                feed = step.node.inputs[source].source
                if feed is None or not step.facts.is_updated(source):
                    continue
                output = self._regions.of(step.frame, step.node.outputs[at])
                target = self._regions.of(step.frame, feed)
                if output.size != 0 and not output.same_place(target):
                    expected = f"the memory of @{source}, at {target.pool} {target.start}"
                    self._complain(f"{step.path}:{at}", expected, "another place", output)

    def _check_boundary(self, frame: Frame) -> None:
        """A subgraph's Data is what the caller hands in, a call's output what is inside."""
        caller, outer = frame.caller, frame.parent
        if caller is None or outer is None:
            return
        for node in frame.graph.nodes_of("Data"):
            inside = self._regions.of(frame, node.outputs[0])
            handed = self._regions.handed_in(frame, node)
            if handed is not None and not inside.same_place(handed):
                expected = f"the memory that is handed in, at {handed.pool} {handed.start}"
                self._complain(frame.path(node), expected, "another place", inside)
        if self._facts.of(caller).kind != "call":
            return
        for at, _, source in frame.results():
            if at < len(caller.outputs):
                inside = self._regions.of(frame, source)
                output = self._regions.of(outer, caller.outputs[at])
                if not output.same_place(inside):
                    expected = f"the memory of the result inside, at {inside.pool} {inside.start}"
                    self._complain(f"{outer.path(caller)}:{at}", expected, "another place", output)

    def _check_packed(self, frame: Frame) -> None:
        """Packed inputs and outputs follow one another, each padded to the alignment."""
        for node in frame.order:
            attrs = node.attrs
            if not attrs or self._facts.of(node).no_task:
                continue
            if attrs.get("continuous_input") and len(node.inputs) > 1:
                sources = [anchor.source for anchor in node.inputs if anchor.source is not None]
                self._check_packed_run(frame.path(node), frame, sources, "input")
            if attrs.get("continuous_output") and len(node.outputs) > 1:
                self._check_packed_run(frame.path(node), frame, list(node.outputs), "output")

    def _check_packed_run(
        self, path: str, frame: Frame, members: list[OutputAnchor], what: str
    ) -> None:
        keys = [(frame.call, member.node.name, member.index) for member in members]
        if any(key not in self._regions.places for key in keys):
            return
        placed = [self._regions.of(frame, member) for member in members]
        align = 1 if self._target is None else self._target.align_bytes
        for at in range(1, len(placed)):
            before, region = placed[at - 1], placed[at]
            storage = members[at - 1].desc.nbytes or before.size or 0
            low = before.start + (before.size or 0)
            high = before.start + -(-storage // align) * align
            if region.pool != before.pool or not low <= region.start <= high:
                self._complain(path, f"{what} {at} right behind {at - 1}", "it is not", region)

    def _complain(self, name: str, expected: str, found: str, region: Region | None = None) -> None:
        where = None if region is None else (region.pool, region.start, region.end)
        self._findings.add("layout", name, range=where, expected=expected, found=found)
