"""What the checks of one pass on one graph share."""

from __future__ import annotations

from dataclasses import dataclass

from ge_concat_notask.memory import Chain, Memory, Uses
from ge_concat_notask.pieces import blocks_of
from ge_concat_notask.places import Places
from ge_core.api import (
    BlockTable,
    Graph,
    Level,
    Node,
    OpRegistry,
    OutputAnchor,
    PassContext,
    Target,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """The device, the ops and what is known of the graph's memory.

    Attributes:
        places: distances between tensors, for going beyond GE's rules; None within them.
        by_block: whether joined tensors share their uses through the blocks of `places`.
    """

    memory: Memory
    ops: OpRegistry
    target: Target
    blocks: BlockTable
    places: Places | None = None
    by_block: bool = False

    @classmethod
    def of(cls, graph: Graph, ctx: PassContext, beyond: bool | None, *, joins: bool) -> Setting:
        """The setting of a pass over joins or over splits; `beyond` None means: at O4."""
        if beyond is None:
            beyond = ctx.level.base is Level.O4
        memory = Memory(ctx.ops, through_joins=not (beyond and joins))
        places = Places(graph, memory, ctx.target.align_bytes) if beyond else None
        return cls(memory, ctx.ops, ctx.target, blocks_of(ctx.target), places, beyond and joins)

    def uses(self, chain: Chain) -> Uses:
        """Everything that touches a tensor's bytes; beyond GE, that touches its whole block."""
        if self.places is None or not self.by_block:
            return self.memory.uses(chain.root)
        return self.places.uses(chain.outputs[0])

    def is_placed(self, node: Node) -> bool:
        """Whether the node is task-free and its distances are accounted for."""
        return self.places is not None and self.places.knows(node)

    def is_ours(self, output: OutputAnchor) -> bool:
        """Whether a claim on the tensor is by joins whose distances are accounted for."""
        return self.places is not None and self.places.holds(output)
