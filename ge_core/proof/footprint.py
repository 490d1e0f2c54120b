"""Which bytes a step touches, and how: the base of the order check and of what loops may leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ge_core.ops import parent_index
from ge_core.proof.frames import Frame
from ge_core.proof.loops import loop_shape
from ge_core.proof.program import Group, Step
from ge_core.proof.regions import Region, Regions


class Touch(NamedTuple):
    """An access: which bytes, whether they are written, and through what (`@0`, `:1`, scratch)."""

    region: Region
    is_write: bool
    port: str

    @property
    def is_update(self) -> bool:
        """Whether a node changes memory that it is given, rather than making a value there."""
        return self.is_write and self.port.startswith("@")


def touches(step: Step, regions: Regions) -> Iterator[Touch]:
    """The accesses of a step that is no call."""
    frame, node, facts = step.frame, step.node, step.facts
    for anchor in node.inputs:
        if anchor.source is None:
            continue
        region = regions.of(frame, anchor.source)
        if facts.writable(anchor.index):
            yield Touch(region, True, f"@{anchor.index}")
        elif anchor.index not in facts.ignored:
            yield Touch(region, False, f"@{anchor.index}")
    for area in regions.scratch(frame, node.name):
        yield Touch(area, True, "scratch")
    for output in node.outputs:
        region = regions.of(frame, output)
        at = facts.aliases.get(output.index)
        source = None if at is None else node.inputs[at].source
        if source is not None and regions.of(frame, source).same_place(region):
            continue
        if not facts.is_updated(at):
            yield Touch(region, True, f":{output.index}")


def arm_end(step: Step, frame: Frame, regions: Regions) -> Iterator[Touch]:
    """The accesses at the end of an arm: results copied into outputs that lie elsewhere."""
    outputs = step.node.outputs
    for at, _, source in frame.results():
        if at < len(outputs):
            target, region = regions.of(step.frame, outputs[at]), regions.of(frame, source)
            if not target.same_place(region):
                yield Touch(region, False, f"result {at}")
                yield Touch(target, True, f":{at}")


class LoopTouches:
    """The accesses that a loop's node makes itself, by when it makes them."""

    def __init__(self, step: Step, regions: Regions) -> None:
        self._step = step
        self._regions = regions
        self._shape = loop_shape(step.node, step.facts)
        body = step.group(self._shape.body)
        assert body is not None
        self._body = body.frame
        self._slots = [
            regions.slot(step.frame, step.node, self._shape, at)
            for at in range(len(self._shape.slots))
        ]

    def enter(self) -> Iterator[Touch]:
        """Initial values, and their copies into slots."""
        node, frame = self._step.node, self._step.frame
        for at in self._shape.entry:
            source = node.inputs[at].source if at < len(node.inputs) else None
            if source is not None:
                yield Touch(self._regions.of(frame, source), False, f"@{at}")
        for slot, target in zip(self._shape.slots, self._slots, strict=True):
            source = node.inputs[slot.input].source
            if source is None:
                continue
            region = self._regions.of(frame, source)
            yield Touch(region, False, f"@{slot.input}")
            if not region.same_place(target):
                yield Touch(target, True, f"slot {slot.input}")

    def head(self) -> Iterator[Touch]:
        """What is read and written at the head of each turn."""
        node, frame = self._step.node, self._step.frame
        for at in self._shape.turn_reads:
            source = node.inputs[at].source
            if source is not None:
                yield Touch(self._regions.of(frame, source), False, f"@{at}")
        for data in self._body.graph.nodes_of("Data"):
            at_data = parent_index(data)
            if at_data is not None and at_data in self._shape.made:
                region = self._regions.of(self._body, data.outputs[0])
                yield Touch(region, True, f"what a turn gives {data.name}")

    def turn_end(self) -> Iterator[Touch]:
        """Results read, slots and collected outputs written."""
        node, frame = self._step.node, self._step.frame
        targets = {s.result: r for s, r in zip(self._shape.slots, self._slots, strict=True)}
        collected = dict(self._shape.collected)
        for at, _, source in self._body.results():
            region = self._regions.of(self._body, source)
            yield Touch(region, False, f"result {at}")
            target = targets.get(at)
            if target is not None and not target.same_place(region):
                yield Touch(target, True, f"slot {at}")
            if at in collected:
                output = node.outputs[collected[at]]
                yield Touch(self._regions.of(frame, output), True, f":{output.index}")


def written_by(group: Group, regions: Regions) -> Iterator[Region]:
    """Every region that the steps of a group and of the groups inside may write."""
    for step in group.everything():
        kind = step.facts.kind
        if kind in ("if", "case"):
            for inner in step.groups:
                for touch in arm_end(step, inner.frame, regions):
                    if touch.is_write:
                        yield touch.region
            continue
        if kind in ("while", "loop", "scan"):
            yield from _loop_writes(step, regions)
            continue
        if kind == "call":
            continue
        for touch in touches(step, regions):
            if touch.is_write:
                yield touch.region


def _loop_writes(step: Step, regions: Regions) -> Iterator[Region]:
    shape = loop_shape(step.node, step.facts)
    for at in range(len(shape.slots)):
        yield regions.slot(step.frame, step.node, shape, at)
    loop = LoopTouches(step, regions)
    for touch in (*loop.head(), *loop.turn_end()):
        if touch.is_write:
            yield touch.region
