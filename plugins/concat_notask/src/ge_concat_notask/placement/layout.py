"""Whether the bonds of a choice can be honoured together, and which of them are at odds.

Honoured bonds put tensors at fixed distances; what they connect is a block, one buffer. In a block

* the way round gives one distance: two paths between tensors must agree;
* starts are aligned, those of buffers of their own and those of elements;
* memory that is the caller's, or has its own place, holds nothing but what lies in it;
* bytes that are written twice are written in turn: every access to what was there first has
  finished before the second writer starts. (Architecture section 8, the rule of reuse.)

Each conflict names bonds of which at least one must be given up, as long as the bonds that were
given up so far stay so. That makes the search of `choose` exact.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ge_concat_notask.kinds import ORDINARY
from ge_concat_notask.placement.problem import Bond, Component, Tensor
from ge_core.api import Bytes, InputAnchor, Node

Conflict = tuple[Bond, ...]
"""Honoured bonds of which one must go."""

Read = tuple[Node, InputAnchor | None]
"""A node that reads, and its input; None where a copy reads that is put next to the node."""

MOST_CONFLICTS = 512
"""Conflicts looked for in one block before the first are dealt with."""


@dataclass(slots=True)
class _Own:
    """Bytes that one node writes: a tensor, or the part of a join's result that it copies."""

    low: int
    high: int
    tensor: Tensor
    writer: Node
    whole: bool


@dataclass(slots=True)
class Layout:
    """One choice of bonds, laid out.

    Attributes:
        honoured: by number of the bond.
        at: by number of the tensor, its start in bytes from a zero of its block's own.
        blocks: tensors at fixed distances, several each.
        steps: bonds and tensors looked at, the measure of work.
    """

    component: Component
    honoured: Sequence[bool]
    at: list[int] = field(default_factory=list)
    blocks: list[list[Tensor]] = field(default_factory=list)
    steps: int = 0
    _towards: list[tuple[Bond, Tensor] | None] = field(default_factory=list)
    _depth: list[int] = field(default_factory=list)

    def conflicts(self, most: int = MOST_CONFLICTS) -> list[Conflict]:
        """What is at odds; none where the choice can be had."""
        if self.component.crowded:
            most = max(most, len(self.honoured) // 4) if most > 1 else most
        found = self._place()
        if found:
            return found
        for block in self.blocks:
            for conflict in _Block(self, block).conflicts():
                found.append(tuple(bond for bond in conflict if not bond.required))
                if len(found) >= most:
                    return found
        return found

    def neighbours(self, tensor: Tensor) -> Iterator[tuple[Bond, Tensor, int]]:
        """Honoured bonds of a tensor, with the other tensor and where that one lies from here."""
        for bond in tensor.bonds:
            if bond.kind == "result" or not self.honoured[bond.number]:
                continue
            if bond.inner is tensor:
                yield bond, bond.outer, -bond.delta
            else:
                yield bond, bond.inner, bond.delta

    def _place(self) -> list[Conflict]:
        """Give every tensor its place, breadth first; bonds that want another one are at odds."""
        count = len(self.component.tensors)
        self.at = [0] * count
        self._towards = [None] * count
        self._depth = [-1] * count
        found: list[Conflict] = []
        for start in self.component.tensors:
            if self._depth[start.number] >= 0:
                continue
            self._depth[start.number] = 0
            block = [start]
            waiting = deque(block)
            while waiting:
                tensor = waiting.popleft()
                here, depth = self.at[tensor.number], self._depth[tensor.number]
                for bond, other, shift in self.neighbours(tensor):
                    self.steps += 1
                    number = other.number
                    if self._depth[number] < 0:
                        self._depth[number] = depth + 1
                        self.at[number] = here + shift
                        self._towards[number] = (bond, tensor)
                        block.append(other)
                        waiting.append(other)
                    elif self.at[number] != here + shift and bond.inner is tensor:
                        found.append((*self.path(tensor, other), bond))
            if len(block) > 1:
                self.blocks.append(block)
        return found

    def path(self, one: Tensor, other: Tensor) -> list[Bond]:
        """The bonds that fix the distance of two tensors of one block."""
        bonds: list[Bond] = []
        while one is not other:
            if self._depth[one.number] < self._depth[other.number]:
                one, other = other, one
            step = self._towards[one.number]
            assert step is not None
            bond, one = step
            bonds.append(bond)
        return bonds


class _Block:
    """The checks on one block."""

    def __init__(self, layout: Layout, tensors: list[Tensor]) -> None:
        self.layout = layout
        self.honoured = layout.honoured
        self.tensors = tensors
        self.at = layout.at
        self.first = min(tensors, key=lambda tensor: (self.at[tensor.number], tensor.number))
        self.low = self.at[self.first.number]

    def conflicts(self) -> Iterator[Conflict]:
        """Everything that is at odds."""
        yield from self._aligned()
        yield from self._callers()
        owned = [own for tensor in self.tensors for own in self._owns(tensor)]
        yield from self._kinds(owned)
        yield from self._fixed(owned)
        yield from self._in_turn(owned)

    def _kept(self, bond: Bond | None) -> bool:
        return bond is not None and self.honoured[bond.number]

    def _span(self, tensor: Tensor) -> tuple[int, int]:
        at = self.at[tensor.number]
        return at, at + tensor.size

    def _owns(self, tensor: Tensor) -> Iterator[_Own]:
        """The bytes of a tensor that are written under its name."""
        self.layout.steps += 1
        if self._kept(tensor.piece) or not tensor.size:
            return
        low, high = self._span(tensor)
        kept = [bond for bond in tensor.operands if self.honoured[bond.number]]
        if not kept:
            yield _Own(low, high, tensor, tensor.writer, whole=True)
            return
        if len(kept) == len(tensor.ports):
            return
        given = {bond.delta for bond in kept if bond.bytes}
        for delta, size in tensor.ports:
            if size and delta not in given:
                yield _Own(low + delta, low + delta + size, tensor, tensor.writer, whole=False)

    # ---- checks --------------------------------------------------------------------------------

    def _aligned(self) -> Iterator[Conflict]:
        """Buffers of their own start aligned, as does whatever lies within one by its elements."""
        for tensor in self.tensors:
            distance = self.at[tensor.number] - self.low
            if not distance:
                continue
            inside = self._kept(tensor.piece) or any(
                bond.inner is tensor and bond.kind == "operand" and self.honoured[bond.number]
                for bond in tensor.bonds
            )
            granule = tensor.granule if inside else max(tensor.granule, self.layout.component.align)
            if distance % granule:
                yield tuple(self.layout.path(self.first, tensor))

    def _callers(self) -> Iterator[Conflict]:
        """A result of the graph that is not copied is a buffer of its own from end to end."""
        results = [tensor for tensor in self.tensors if self._kept(tensor.result)]
        for tensor in results:
            assert tensor.result is not None
            low, high = self._span(tensor)
            for bond, _, _ in self.layout.neighbours(tensor):
                # Its operands lie in it; it lies in nothing, and is not cut.
                if bond.inner is tensor or bond.kind == "piece":
                    yield bond, tensor.result
            for other in self.tensors:
                start, end = self._span(other)
                outside = start < low or end > high or self._kept(other.result)
                if other is not tensor and outside:
                    also = () if not self._kept(other.result) else (other.result,)
                    bonds = (*self.layout.path(tensor, other), tensor.result, *also)
                    yield tuple(bond for bond in bonds if bond is not None)
                    break

    def _fixed(self, owned: Iterable[_Own]) -> Iterator[Conflict]:
        """Memory with a place of its own holds only what is cut from it."""
        for fixed in self.tensors:
            if not fixed.fixed:
                continue
            low, high = self._span(fixed)
            for tensor in self.tensors:
                start, end = self._span(tensor)
                if start < low or end > high:
                    yield tuple(self.layout.path(fixed, tensor))
                if tensor is not fixed and tensor.result and self._kept(tensor.result):
                    yield (*self.layout.path(fixed, tensor), tensor.result)
            for own in owned:
                if own.tensor is not fixed:
                    yield tuple(self.layout.path(fixed, own.tensor))

    def _kinds(self, owned: Iterable[_Own]) -> Iterator[Conflict]:
        """One block lies in one kind of memory."""
        known = dict.fromkeys(own.tensor for own in owned)
        asking = [t for t in self.tensors if t.kind != ORDINARY or t in known]
        for tensor in asking[1:]:
            if tensor.kind != asking[0].kind:
                yield tuple(self.layout.path(asking[0], tensor))

    # ---- bytes that are written twice ----------------------------------------------------------

    def _in_turn(self, owned: list[_Own]) -> Iterator[Conflict]:
        owned.sort(key=lambda own: (own.low, own.high, own.tensor.number))
        results = [t.result for t in self.tensors if t.result and self._kept(t.result)]
        component = self.layout.component
        active: list[_Own] = []
        for own in owned:
            active = [other for other in active if other.high > own.low]
            for other in active:
                self.layout.steps += 1
                if other.tensor is own.tensor:
                    continue
                if component.crowded:
                    yield tuple(self.layout.path(other.tensor, own.tensor))
                    break  # one is enough to tell
                component.turns -= 1
                against = self._against(other, own)
                # Memory of the caller's is not used for anything else before.
                also = results if against is None else against
                if against is not None or results:
                    path = self.layout.path(other.tensor, own.tensor)
                    yield tuple(dict.fromkeys((*path, *also)))
            active.append(own)

    def _against(self, one: _Own, other: _Own) -> list[Bond] | None:
        """The bonds that make two writers of one place be at odds; None if they take turns."""
        bonds: list[Bond] = []
        for old, new in ((one, other), (other, one)):
            late = self._late(old, new)
            if late is None:
                late = self._refused(old, new)
            if late is None:
                return None
            bonds += late
        return bonds

    def _refused(self, old: _Own, new: _Own) -> list[Bond] | None:
        """The bonds behind the kernel's own no, which knows calls, loops and options; or None."""
        low, high = max(old.low, new.low), min(old.high, new.high)
        sides = []
        ways: list[Bond] = []
        nodes: dict[Node, None] = {}
        for own in (old, new):
            names = []
            for tensor, way in self._names(own, low, high):
                start, end = self._span(tensor)
                first = max(low, start) - start
                names.append(Bytes(tensor.output, first, min(high, end) - start))
                ways += way
                nodes.update((b.node, None) for b, _, _ in self.layout.neighbours(tensor))
            sides.append(names)
        if self.layout.component.may_reuse(sides[0], sides[1], list(nodes)):
            return None
        return list(dict.fromkeys(ways))

    def _late(self, old: _Own, new: _Own) -> list[Bond] | None:
        """The bonds that lead to an access of old bytes too late for new ones; None if none is."""
        low, high = max(old.low, new.low), min(old.high, new.high)
        component = self.layout.component
        if not component.precedes(old.writer, new.writer, not new.whole):
            return []
        for tensor, way in self._names(old, low, high):
            if self._kept(tensor.result):
                assert tensor.result is not None
                return [*way, tensor.result]
            for node, anchor in self._reads(tensor, low, high):
                self.layout.steps += 1
                if component.precedes(node, new.writer, anchor is None or not new.whole):
                    continue
                same = (
                    anchor is not None
                    and node is new.writer
                    and new.whole
                    and self._span(tensor) == (new.low, new.high)
                    and component.in_place(anchor, new.tensor.output)
                )
                if not same:
                    return way
        return None

    def _names(self, own: _Own, low: int, high: int) -> Iterator[tuple[Tensor, list[Bond]]]:
        """Tensors that hold own bytes between two places, with the bonds that make them do so."""
        seen = {own.tensor}
        waiting: list[tuple[Tensor, list[Bond]]] = [(own.tensor, [])]
        while waiting:
            tensor, way = waiting.pop()
            yield tensor, way
            for bond, other, _ in self.layout.neighbours(tensor):
                self.layout.steps += 1
                flows = (bond.kind == "operand") == (bond.inner is tensor)
                start, end = self._span(other)
                if flows and other not in seen and start < high and low < end:
                    seen.add(other)
                    waiting.append((other, [*way, bond]))

    def _reads(self, tensor: Tensor, low: int, high: int) -> Iterator[Read]:
        """What reads a tensor's bytes between two places, joins and splits that copy too."""
        for reader in tensor.readers:
            yield reader.node, reader
        for bond in tensor.bonds:
            if self.honoured[bond.number]:
                continue
            if bond.kind == "operand" and bond.inner is tensor:
                # The copy is put in front of the join, which waits for it.
                yield bond.node, None
            elif bond.kind == "piece" and bond.outer is tensor:
                start = self.at[tensor.number] + bond.delta
                if start < high and low < start + bond.inner.size:
                    yield bond.node, None
        if tensor.result is not None and not self.honoured[tensor.result.number]:
            # The copy for the caller is made right behind what hands the bytes on.
            for anchor in tensor.result.anchors:
                assert isinstance(anchor, InputAnchor) and anchor.source is not None
                yield anchor.source.node, None
