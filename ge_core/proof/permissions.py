"""Permissions: nobody writes a constant; a graph input only where original or caller permit it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ge_core.ir import Node
from ge_core.proof.facts import CALLS, PERSISTENT, FactTable
from ge_core.proof.footprint import LoopTouches, Touch, arm_end, touches
from ge_core.proof.frames import Frame
from ge_core.proof.intervals import IntervalMap
from ge_core.proof.options import Lent
from ge_core.proof.program import Group, Step
from ge_core.proof.reference import Reference
from ge_core.proof.regions import Region, Regions
from ge_core.proof.result import Findings
from ge_core.proof.sizes import extent


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A constant, or a graph input with its position."""

    node: Node
    region: Region
    index: int | None


class Permissions:
    """Checks writes and output aliases against what is protected."""

    def __init__(
        self,
        root: Frame,
        facts: FactTable,
        regions: Regions,
        reference: Reference,
        lent: Lent,
        findings: Findings,
    ) -> None:
        self._root = root
        self._facts = facts
        self._regions = regions
        self._reference = reference
        self._lent = lent
        self._findings = findings
        self._pools: dict[str, IntervalMap[tuple[_Guarded, ...]]] = {}
        self._inputs: list[_Guarded] = []
        self._outputs = self._output_regions()
        self._guard_all()

    def check(self, program: Group) -> None:
        """Check every write of a program, and its outputs."""
        self._check_outputs()
        for step in program.everything():
            for touch in writes_of(step, self._regions):
                self._check_write(step, touch)

    def _output_regions(self) -> list[Region | None]:
        out = self._root.graph.net_output
        if out is None:
            return []
        return [
            None if anchor.source is None else self._regions.of(self._root, anchor.source)
            for anchor in out.inputs
        ]

    def _guard_all(self) -> None:
        root = self._root.graph
        for place in self._regions.places.values():
            node = root.find(place.node)
            if node is not None and self._facts.of(node).kind == "constant":
                size = extent(node.outputs[0].desc) or place.bytes
                self._guard(_Guarded(node, Region(place.pool, place.offset, size), None))
        for at, node in enumerate(root.data_nodes):
            if node.op not in PERSISTENT:
                index = int(node.attrs.get("index", at))
                region = self._regions.of(self._root, node.outputs[0])
                guarded = _Guarded(node, region, index)
                self._inputs.append(guarded)
                self._guard(guarded)

    def _guard(self, guarded: _Guarded) -> None:
        region = guarded.region
        pool = self._pools.setdefault(region.pool, IntervalMap(()))
        for low, high, held in pool.pieces(region.start, region.end):
            pool.assign(low, high, (*held, guarded))

    def _check_write(self, step: Step, touch: Touch) -> None:
        pool = self._pools.get(touch.region.pool)
        if pool is None:
            return
        seen: dict[_Guarded, None] = {}
        for low, high in touch.region.rows():
            for _, _, held in pool.pieces(low, high):
                seen.update(dict.fromkeys(held))
        for guarded in seen:
            if not self._may_write(guarded, touch):
                self._report(step.path, guarded, touch)

    def _may_write(self, guarded: _Guarded, touch: Touch) -> bool:
        if guarded.index is None:
            return False
        if guarded.index in self._lent.inputs or guarded.node.name in self._reference.touched:
            return True
        if touch.is_update and self._lent.ends_as_nobodys(guarded.index):
            # Nobody relies on what the input held: the output's bytes come to its address.
            return True
        return any(self._is_pair(guarded, at, touch.region) for at in range(len(self._outputs)))

    def _is_pair(self, guarded: _Guarded, output: int, region: Region) -> bool:
        """Whether the caller passes one address for both, and the write is the output's."""
        place = self._outputs[output]
        return (
            (guarded.index, output) in self._lent.pairs
            and place is not None
            and place.pool == region.pool
            and place.start <= region.start
            and region.end <= place.end
        )

    def _check_outputs(self) -> None:
        for at, place in enumerate(self._outputs):
            for guarded in self._inputs:
                if place is None or not place.overlaps(guarded.region):
                    continue
                if guarded.index in self._lent.inputs or (guarded.index, at) in self._lent.pairs:
                    continue
                cell = self._reference.outputs[at][1] if at < len(self._reference.outputs) else None
                if cell is not None and cell.data == guarded.node.name:
                    continue
                out = self._root.graph.net_output
                assert out is not None
                self._findings.add(
                    "permission",
                    out.name,
                    input=at,
                    range=(place.pool, guarded.region.start, guarded.region.end),
                    expected="an output apart from the graph's inputs",
                    found=f"memory of input {guarded.node.name}",
                )

    def _report(self, path: str, guarded: _Guarded, touch: Touch) -> None:
        region = guarded.region
        what = "constant" if guarded.index is None else "input"
        self._findings.add(
            "permission",
            path,
            range=(
                region.pool,
                max(region.start, touch.region.start),
                min(region.end, touch.region.end),
            ),
            expected=f"{what} {guarded.node.name} as the caller left it",
            found=f"a write through {touch.port}",
            written_by=path,
            about=[guarded.node.name],
        )


def writes_of(step: Step, regions: Regions) -> Iterator[Touch]:
    """Every write of a step, those at call boundaries included; groups inside are not entered."""
    kind = step.facts.kind
    if kind not in CALLS:
        yield from (touch for touch in touches(step, regions) if touch.is_write)
        return
    if kind in ("if", "case"):
        for group in step.groups:
            yield from (t for t in arm_end(step, group.frame, regions) if t.is_write)
    elif kind != "call":
        loop = LoopTouches(step, regions)
        yield from (t for t in (*loop.enter(), *loop.head(), *loop.turn_end()) if t.is_write)
