"""What GE asks of a Concat or Pack before it takes its task away, in GE's order, then what we ask.

Each check yields refusals. The first one is the reason; the others say whether one copy in front
of one operand would be enough.

Beyond GE: sizes must add up; nobody may overwrite an operand or the result; no other reader of an
operand, and no reader of the result, may want the bytes in a layout of its own. GE leaves these to
later stages, or to luck. Last, plugins' layout rules are asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from ge_concat_notask import producers, strided
from ge_concat_notask.kinds import own_kinds
from ge_concat_notask.memory import Chain, Uses
from ge_concat_notask.pieces import piece_refusal, sum_refusal
from ge_concat_notask.refusal import Refusal, layout_clash, refuse
from ge_concat_notask.scene import has_unknown_shape, in_unknown_graph
from ge_concat_notask.setting import Setting
from ge_core.api import (
    Anchor,
    InputAnchor,
    Node,
    OutputAnchor,
    TensorDesc,
    bits,
)

_ON_CHIP: Final = ("L1", "L2", "UB")
_ON_CHIP_NAME: Final = "lxslice"
PHONY: Final = "PhonyConcat"
"""A join without a kernel, put into graphs to say that tensors lie together."""


class JoinRules(ABC):
    """The checks on one join; `ConcatRules` and `PackRules` add format and axis."""

    def __init__(self, node: Node, at: Setting) -> None:
        self.node = node
        self.setting = at
        self.operands: list[InputAnchor] = []
        self.chains: list[Chain] = []
        self.descs: list[TensorDesc] = []
        for anchor in node.inputs:
            if anchor.source is not None and anchor.desc is not None:
                self.operands.append(anchor)
                self.chains.append(at.memory.chain(anchor.source))
                self.descs.append(anchor.desc)
        self._start = 0
        self._first_at: dict[tuple[OutputAnchor, int], int] = {}
        for number, chain in enumerate(self.chains):
            self._first_at.setdefault(self._source(chain), number)
        self.axis = self.inner_axis() if at.beyond and at.target.strided else 0

    @property
    def roots(self) -> list[OutputAnchor]:
        """The owners of the operands' bytes."""
        return [chain.root for chain in self.chains]

    @property
    def together(self) -> list[Anchor]:
        """What lies in one buffer once the task is gone: the operands, then the result."""
        return [*self.operands, *self.node.outputs[:1]]

    def _source(self, chain: Chain) -> tuple[OutputAnchor, int]:
        """What makes two operands the same: the owner; parts of one owner may differ beyond GE."""
        return chain.root, 0 if self.setting.places is None else chain.delta

    def refusals(self) -> Iterator[Refusal]:
        """Everything that keeps the task, in order."""
        if has_unknown_shape(self.node):
            yield refuse("UNKNOWN_SHAPE", self.node)
            return
        if self.node.op == PHONY:
            yield from self._phony()
            return
        if in_unknown_graph(self.node):
            yield refuse("UNKNOWN_GRAPH")
        for at in range(len(self.operands)):
            yield from self._operand(at)
        yield from self.format_refusals()
        yield from self.axis_refusals()
        yield from self._virtual_readers()
        for kind in own_kinds(self.node):
            if kind in _ON_CHIP:
                yield refuse("ON_CHIP_MEMORY", memory=kind)
        if _ON_CHIP_NAME in self.node.name:
            yield refuse("ON_CHIP_NAME")
        yield from self._beyond_ge()

    def format_refusals(self) -> Iterator[Refusal]:
        """Formats that this kind of join can't have; none by default."""
        return iter(())

    def inner_axis(self) -> int:
        """The stored dimension along which operands are rows with gaps; 0 where they are not."""
        return 0

    def row_refusals(self) -> Iterator[Refusal]:
        """What stands against operands in rows with gaps."""
        if self.axis:
            known = list(zip(self.operands, self.chains, strict=True))
            yield from strided.join_refusals(self.node, known, self.axis, self.setting)

    @abstractmethod
    def axis_refusals(self) -> Iterator[Refusal]:
        """Whether operands joined along the axis are consecutive in memory."""

    # ---- GE's checks ---------------------------------------------------------------------------

    def _operand(self, at: int) -> Iterator[Refusal]:
        edge, chain, desc = self.operands[at], self.chains[at], self.descs[at]
        if desc.origin_shape == ():
            yield refuse("SCALAR_OPERAND", edge, at=at)
        if len(self.node.inputs) > 1:
            yield from self._size(at)
        yield from self._twice(at)
        setting = self.setting
        yield from producers.fixed_memory(chain, setting, edge)
        if not chain.complete:
            return
        yield from producers.from_subgraph(chain, setting, edge)
        direct, behind = chain.outputs[:1], chain.outputs[1:]
        yield from producers.claimed(direct, setting, edge)
        yield from producers.direct_result(chain, setting, edge)
        yield from producers.laid_out(direct, setting, edge)
        yield from self._kind(at)
        yield from producers.claimed(behind, setting, edge)
        yield from producers.also_result(chain, setting, edge)
        yield from producers.laid_out(behind, setting, edge)

    def _twice(self, at: int) -> Iterator[Refusal]:
        edge, chain = self.operands[at], self.chains[at]
        first = self._first_at[self._source(chain)]
        if first != at:
            yield refuse("SAME_SOURCE", (chain.root, edge), edge=edge, first=first, at=at)

    def _size(self, at: int) -> Iterator[Refusal]:
        desc, chain = self.descs[at], self.chains[at]
        if desc.elements == 0:
            yield refuse("EMPTY_OPERAND", self.operands[at], at=at)
            return
        widest = self.setting.uses(chain).widest if chain.complete else 1
        found = piece_refusal(at, desc, self.setting.target, self._start, widest)
        self._start += desc.data_bytes or 0
        if found is not None:
            yield found

    def _kind(self, at: int) -> Iterator[Refusal]:
        edge = self.operands[at]
        if not self.chains[0].complete:
            return
        expected, first = producers.asked_kind(self.chains[0], self.setting)
        kind, output = producers.asked_kind(self.chains[at], self.setting)
        if kind != expected:
            yield refuse(
                "MEMORY_KINDS_DIFFER", (output, first), edge=edge, memory=expected, other=kind
            )

    def _virtual_readers(self) -> Iterator[Refusal]:
        for output in self.node.outputs:
            uses = self.setting.memory.uses(output)
            for reader in (*uses.virtual, *uses.placing):
                if not self.setting.is_placed(reader.node):
                    yield refuse("VIRTUAL_READER", reader, reader=reader.node.name)
                    break

    def _phony(self) -> Iterator[Refusal]:
        """A join that has no kernel: GE marks it whatever is around it; we ask that it be right."""
        for at, (edge, chain) in enumerate(zip(self.operands, self.chains, strict=True)):
            yield from (found for found in self._size(at) if found.code != "UNALIGNED_PIECE")
            yield from self._twice(at)
            yield from producers.fixed_memory(chain, self.setting, edge)
            yield from producers.from_subgraph(chain, self.setting, edge)
            yield from producers.claimed(chain.outputs, self.setting, edge)
        yield from self.axis_refusals()
        yield from self._beyond_ge()

    # ---- ours ----------------------------------------------------------------------------------

    def _beyond_ge(self) -> Iterator[Refusal]:
        if not self.operands or self.node.inputs[0].source is None:
            yield refuse("UNTRACED_SOURCE", self.node)
            return
        yield from self._whole()
        if not all(chain.complete for chain in self.chains):
            return
        for edge, chain in zip(self.operands, self.chains, strict=True):
            yield from producers.wanted_elsewhere(chain, self.setting, edge)
            yield from producers.overwritten(chain, self.setting, edge)
            yield from self._wished_kind(self.setting.uses(chain))
        for output in self.node.outputs:
            yield from self._wished_kind(self.setting.memory.uses(output))
        yield from self._result_overwritten()
        yield from self._clash()
        yield from layout_clash(self.setting, self.together)

    def _whole(self) -> Iterator[Refusal]:
        for edge, desc, chain in zip(self.operands, self.descs, self.chains, strict=True):
            assert edge.source is not None
            if bits(desc.dtype) is None:
                yield refuse("NO_ELEMENT_SIZE", edge, dtype=desc.dtype)
                return
            # The producer fills what it says, the join reads what it says: one piece of both.
            found = sum_refusal(edge.source.desc, [desc])
            if found is None and not chain.whole:
                found = sum_refusal(chain.root.desc, [desc])
            if found is not None:
                yield found
        found = sum_refusal(self.node.outputs[0].desc, self.descs)
        if found is not None:
            yield found

    def _clash(self) -> Iterator[Refusal]:
        places = self.setting.places
        found = None if places is None else places.clash(self.node, self.axis)
        if found is not None:
            yield refuse("PLACES_CLASH", found, operand=found)

    def _wished_kind(self, uses: Uses) -> Iterator[Refusal]:
        """Whoever reads an operand or the result moves the whole buffer to the kind it wants."""
        expected, first = producers.asked_kind(self.chains[0], self.setting)
        for kind, who in uses.kinds:
            if kind != expected:
                yield refuse("MEMORY_KINDS_DIFFER", (who, first), memory=expected, other=kind)
                return

    def _result_overwritten(self) -> Iterator[Refusal]:
        """With a task the result is a copy that may be changed; without, operands would change."""
        for writer in self.setting.memory.uses(self.node.outputs[0]).writers[:1]:
            yield refuse("RESULT_OVERWRITTEN", writer, writer=writer.node.name)
