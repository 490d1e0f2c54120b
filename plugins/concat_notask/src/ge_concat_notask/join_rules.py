"""What GE asks of a Concat or Pack before it takes its task away, in GE's order, then what we ask.

Each check yields refusals. The first one is the reason; the others say whether one copy in front
of one operand would be enough.

Beyond GE: sizes must add up; nobody may overwrite an operand; nobody may overwrite the result while
an operand has other readers; no other reader of an operand, and no reader of the result, may want
the bytes in a layout of its own. GE leaves these to later stages, or to luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_concat_notask import producers
from ge_concat_notask.kinds import own_kinds
from ge_concat_notask.memory import Chain, Memory
from ge_concat_notask.pieces import piece_refusal, sum_refusal
from ge_concat_notask.refusal import Refusal, refuse
from ge_concat_notask.scene import has_unknown_shape, in_unknown_graph
from ge_core.api import (
    BlockTable,
    InputAnchor,
    Node,
    OpRegistry,
    OutputAnchor,
    Target,
    TensorDesc,
    bits,
)

_ON_CHIP: Final = ("L1", "L2", "UB")
_ON_CHIP_NAME: Final = "lxslice"


class JoinRules:
    """The checks on one join; `ConcatRules` and `PackRules` add format and axis."""

    def __init__(
        self,
        node: Node,
        memory: Memory,
        ops: OpRegistry,
        target: Target,
        blocks: BlockTable,
    ) -> None:
        self.node = node
        self.memory = memory
        self.ops = ops
        self.target = target
        self.blocks = blocks
        self.operands: list[InputAnchor] = []
        self.chains: list[Chain] = []
        self.descs: list[TensorDesc] = []
        for anchor in node.inputs:
            if anchor.source is not None and anchor.desc is not None:
                self.operands.append(anchor)
                self.chains.append(memory.chain(anchor.source))
                self.descs.append(anchor.desc)
        self._first_at: dict[OutputAnchor, int] = {}
        for at, chain in enumerate(self.chains):
            self._first_at.setdefault(chain.root, at)

    @property
    def roots(self) -> list[OutputAnchor]:
        """The owners of the operands' bytes."""
        return [chain.root for chain in self.chains]

    def refusals(self) -> Iterator[Refusal]:
        """Everything that keeps the task, in order."""
        if has_unknown_shape(self.node):
            yield refuse("UNKNOWN_SHAPE", self.node)
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

    def axis_refusals(self) -> Iterator[Refusal]:
        """Whether operands joined along the axis are consecutive in memory."""
        raise NotImplementedError

    # ---- GE's checks ---------------------------------------------------------------------------

    def _operand(self, at: int) -> Iterator[Refusal]:
        edge, chain, desc = self.operands[at], self.chains[at], self.descs[at]
        if desc.origin_shape == ():
            yield refuse("SCALAR_OPERAND", edge, at=at)
        if len(self.node.inputs) > 1:
            yield from self._size(at)
        first = self._first_at[chain.root]
        if first != at:
            yield refuse("SAME_SOURCE", (chain.root, edge), edge=edge, first=first, at=at)
        yield from producers.fixed_memory(chain, self.ops, edge)
        yield from producers.from_subgraph(chain, self.ops, edge)
        yield from producers.claimed(chain, edge)
        yield from producers.also_result(chain, self.memory, edge)
        yield from producers.laid_out(chain, self.ops, edge)
        yield from self._kind(at)

    def _size(self, at: int) -> Iterator[Refusal]:
        desc, chain = self.descs[at], self.chains[at]
        if desc.elements == 0:
            yield refuse("EMPTY_OPERAND", self.operands[at], at=at)
            return
        widest = max((bits(output.desc.dtype) or 0) // 8 for output in chain.outputs)
        last = at == len(self.operands) - 1
        found = piece_refusal(at, desc, self.target, last=last, element_bytes=widest)
        if found is not None:
            yield found

    def _kind(self, at: int) -> Iterator[Refusal]:
        edge = self.operands[at]
        expected, first = producers.asked_kind(self.chains[0])
        kind, output = producers.asked_kind(self.chains[at])
        if kind != expected:
            yield refuse(
                "MEMORY_KINDS_DIFFER", (output, first), edge=edge, memory=expected, other=kind
            )

    def _virtual_readers(self) -> Iterator[Refusal]:
        for output in self.node.outputs:
            uses = self.memory.uses(output)
            for reader in (*uses.virtual[:1], *uses.placing[:1]):
                yield refuse("VIRTUAL_READER", reader, reader=reader.node.name)

    # ---- ours ----------------------------------------------------------------------------------

    def _beyond_ge(self) -> Iterator[Refusal]:
        if not self.operands or self.node.inputs[0].source is None:
            yield refuse("UNTRACED_SOURCE", self.node)
            return
        yield from self._whole()
        for edge, chain in zip(self.operands, self.chains, strict=True):
            yield from producers.wanted_elsewhere(chain, self.memory, self.node, edge)
            yield from producers.overwritten(chain, self.memory, self.node, edge)
            yield from self._wished_kind(chain.root)
        for output in self.node.outputs:
            yield from self._wished_kind(output)
        yield from self._result_overwritten()

    def _whole(self) -> Iterator[Refusal]:
        for edge, desc in zip(self.operands, self.descs, strict=True):
            assert edge.source is not None
            if bits(desc.dtype) is None:
                yield refuse("NO_ELEMENT_SIZE", edge, dtype=desc.dtype)
                return
            # The producer fills what it says, the join reads what it says: one piece of both.
            found = sum_refusal(edge.source.desc, [desc])
            if found is not None:
                yield found
        found = sum_refusal(self.node.outputs[0].desc, self.descs)
        if found is not None:
            yield found

    def _wished_kind(self, output: OutputAnchor) -> Iterator[Refusal]:
        """Whoever reads an operand or the result moves the whole buffer to the kind it wants."""
        expected, first = producers.asked_kind(self.chains[0])
        for kind, who in self.memory.uses(output).kinds:
            if kind != expected:
                yield refuse("MEMORY_KINDS_DIFFER", (who, first), memory=expected, other=kind)
                return

    def _result_overwritten(self) -> Iterator[Refusal]:
        writers = self.memory.uses(self.node.outputs[0]).writers
        if not writers:
            return
        for chain in self.chains:
            uses = self.memory.uses(chain.root)
            for reader in (*uses.readers, *uses.results):
                if reader.node is not self.node:
                    yield refuse(
                        "RESULT_OVERWRITTEN",
                        (writers[0], reader),
                        writer=writers[0].node.name,
                        reader=reader.node.name,
                    )
                    return
