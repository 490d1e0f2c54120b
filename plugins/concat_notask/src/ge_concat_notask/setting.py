"""What the checks of one pass on one graph share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from ge_concat_notask.memory import Chain, Memory, Uses
from ge_concat_notask.pieces import blocks_of
from ge_concat_notask.places import Places
from ge_core.api import (
    Anchor,
    BlockTable,
    Clash,
    Graph,
    JoinChecks,
    Level,
    Node,
    OpRegistry,
    OutputAnchor,
    PassContext,
    Target,
)

LAYOUT: Final = "ge_concat_notask"
"""The analysis that answers for plugins' layout rules."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The device, the ops and what is known of the graph's memory.

    Attributes:
        places: distances between tensors, for going beyond GE's rules; None within them.
        by_block: whether joined tensors share their uses through the blocks of `places`.
        layout: makes plugins' layout rules, or None where there are none, when first asked.
        beyond: whether more is allowed than GE allows.
    """

    memory: Memory
    ops: OpRegistry
    target: Target
    blocks: BlockTable
    places: Places | None = None
    by_block: bool = False
    layout: Callable[[], JoinChecks | None] = lambda: None
    beyond: bool = False

    @classmethod
    def of(cls, graph: Graph, ctx: PassContext, beyond: bool | None, *, joins: bool) -> Setting:
        """The setting of a pass over joins or over splits; `beyond` None means: at O4."""
        if beyond is None:
            beyond = ctx.level.base is Level.O4
        memory = Memory(ctx.ops, through_joins=not (beyond and joins))
        places = Places(graph, memory, ctx.target.align_bytes) if beyond else None
        return cls(
            memory,
            ctx.ops,
            ctx.target,
            blocks_of(ctx.target),
            places,
            beyond and joins,
            partial(_layout, ctx),
            beyond,
        )

    def clash(self, anchors: Sequence[Anchor]) -> Clash | None:
        """What a plugin's layout rule has against these anchors' lying in one buffer."""
        checks = self.layout()
        return None if checks is None else checks.first_clash(anchors)

    def settle_layout(self, anchors: Sequence[Anchor]) -> None:
        """Take note that these anchors lie in one buffer now."""
        checks = self.layout()
        if checks is not None:
            checks.joined(anchors)

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


def _layout(ctx: PassContext) -> JoinChecks | None:
    """One for the whole graph, kept right by `settle_layout`: all passes of ours preserve it."""
    env = ctx.environment

    def make() -> JoinChecks | None:
        return JoinChecks.of(
            ctx.layout_checkers, env.anchor_types, env.root, ctx.ops, ctx.option, ctx.target
        )

    found: JoinChecks | None = ctx.cached(LAYOUT, make)
    return found
