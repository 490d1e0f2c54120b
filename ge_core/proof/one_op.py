"""One op: what it writes overlaps neither itself nor what it reads.

Exempt are declared aliases and stores (their outputs are judged by what they leave) and ranges that
the op declares in-place-able, where output and input are exactly the same bytes and no other input
uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ge_core.ir import Graph, InputAnchor, Node
from ge_core.proof.facts import CALLS
from ge_core.proof.program import Group, Step
from ge_core.proof.regions import Region, Regions
from ge_core.proof.result import Findings

Shared = Callable[[Step], tuple[int | None, ...]]
"""Per input a number; inputs with equal numbers are one memory in the reference run."""

_ABILITY: Final = "_output_inplace_ability"
_SUPPORT: Final = "_inplace_support_input_index"


def check_one_op(
    program: Group, regions: Regions, shared: Shared, original: Graph, findings: Findings
) -> None:
    """Check every step that is no call.

    Args:
        original: whose marks on outputs say that an op can work in place. A pass sets the same mark
            where nobody would notice, whatever the op is; that an op can do it is not its word.
    """
    for step in program.everything():
        if step.facts.kind not in CALLS and step.facts.kind != "merge":
            _Checker(step, regions, original, findings).check(shared)


class _Checker:
    def __init__(self, step: Step, regions: Regions, original: Graph, findings: Findings) -> None:
        self.step = step
        self.original = original
        self.findings = findings
        self.regions = regions
        frame, node, facts = step.frame, step.node, step.facts
        self.inputs: list[tuple[InputAnchor, Region]] = [
            (anchor, regions.of(frame, anchor.source))
            for anchor in node.inputs
            if anchor.source is not None and anchor.index not in facts.ignored
        ]
        self.written: list[tuple[int | None, Region]] = [
            (None, area) for area in regions.scratch(frame, node.name)
        ]
        for output in node.outputs:
            region = regions.of(frame, output)
            at = facts.aliases.get(output.index)
            source = None if at is None else node.inputs[at].source
            if facts.is_updated(at):
                continue
            if source is None or not regions.of(frame, source).same_place(region):
                self.written.append((output.index, region))

    def check(self, shared: Shared) -> None:
        """Report every overlap that nothing permits."""
        self._check_outputs()
        for at, region in self.written:
            for anchor, other in self.inputs:
                if region.overlaps(other) and not self._in_place(at, region, anchor, other):
                    self._report(_name(at), region, f"@{anchor.index}", other)
        if self.step.facts.writes or self.step.facts.scribbles:
            self._check_updates(shared)

    def _check_outputs(self) -> None:
        placed = sorted(
            self.written, key=lambda item: (item[1].pool, item[1].start, item[0] is None)
        )
        for number, (at, region) in enumerate(placed):
            for other_at, other in placed[number + 1 :]:
                if other.pool != region.pool or other.start >= region.end:
                    break
                if region.overlaps(other):
                    self._report(_name(other_at), other, _name(at), region)

    def _in_place(self, at: int | None, region: Region, anchor: InputAnchor, other: Region) -> bool:
        if at is None or not region.same_place(other) or region.size != other.size:
            return False
        node = self.step.node
        pairs = in_place_pairs(node, self.original.find(node.name))
        if (at, anchor.index) not in pairs | set(self.step.facts.traits.inplace):
            return False
        return not any(
            region.overlaps(third) for second, third in self.inputs if second is not anchor
        )

    def _check_updates(self, shared: Shared) -> None:
        """Memory that it changes must be no other input's, unless it is in the original too."""
        step, facts = self.step, self.step.facts
        changed = {*facts.writes, *facts.scribbles}
        for at in sorted(changed):
            source = step.node.inputs[at].source
            if source is None:
                continue
            target = self.regions.of(step.frame, source)
            for anchor, region in self.inputs:
                twice = anchor.index in changed and anchor.index <= at
                if anchor.index == at or twice or not target.overlaps(region):
                    continue
                if facts.is_store and region.same_place(target):
                    continue
                numbers = shared(step)
                if not numbers or numbers[at] != numbers[anchor.index]:
                    self._report(f"@{at}", target, f"@{anchor.index}", region)

    def _report(self, what: str, region: Region, other: str, where: Region) -> None:
        low, high = max(region.start, where.start), min(region.end, where.end)
        self.findings.add(
            "one_op",
            self.step.path,
            range=(region.pool, low, high),
            expected=f"bytes of its own for {what}",
            found=f"bytes of {other}",
            written_by=self.step.path,
        )


def in_place_pairs(node: Node, original: Node | None) -> set[tuple[int, int]]:
    """(output, input) pairs that marks say may be exactly the same range.

    Args:
        original: the node of that name in the original graph.
    """
    found: set[tuple[int, int]] = set()
    for pair in node.attrs.get(_ABILITY) or ():
        if isinstance(pair, (list, tuple)) and len(pair) == 2:
            found.add((int(pair[0]), int(pair[1])))
    for output in () if original is None else original.outputs:
        support = output.desc.attrs.get(_SUPPORT)
        for at in support if isinstance(support, (list, tuple)) else [support]:
            if isinstance(at, int) and not isinstance(at, bool):
                found.add((output.index, at))
    return found


def _name(at: int | None) -> str:
    return "its scratch" if at is None else f":{at}"
