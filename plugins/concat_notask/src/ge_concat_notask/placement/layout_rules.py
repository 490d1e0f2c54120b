"""What plugins' layout rules say of a choice: a node they are against keeps its task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ge_concat_notask.placement.choose import Choice, choose
from ge_concat_notask.placement.gather import Candidate
from ge_concat_notask.placement.layout import Layout
from ge_concat_notask.placement.problem import Component
from ge_concat_notask.refusal import refuse
from ge_core.api import Anchor, JoinChecks, Node, PassContext


@dataclass(slots=True)
class LayoutRules:
    """The rules on a graph without marks of ours; None where no plugin has an anchor type."""

    checks: JoinChecks | None

    @classmethod
    def of(cls, ctx: PassContext) -> LayoutRules:
        """The rules in force."""
        env = ctx.environment
        return cls(
            JoinChecks.of(
                ctx.layout_checkers, env.anchor_types, env.root, ctx.ops, ctx.option, ctx.target
            )
        )

    def choose(
        self, component: Component, candidates: Mapping[Node, Candidate], budget: int
    ) -> Choice:
        """The best choice that no rule is against; nodes that one is against are left out."""
        steps = 0
        while True:
            found = choose(component, max(0, budget - steps))
            steps += found.steps
            against = self._first_against(component, candidates, found.honoured)
            if against is None:
                return replace(found, steps=steps)
            for bond in against.bonds:
                if bond is not None and bond.banned is None:
                    bond.banned = refuse("LAYOUT_CLASH", first="it", second="it", clash="")

    def settle(
        self,
        component: Component,
        candidates: Mapping[Node, Candidate],
        honoured: Sequence[bool],
    ) -> None:
        """Take note of what lies together now."""
        if self.checks is not None:
            for anchors in _together(component, candidates, honoured).values():
                self.checks.joined(anchors)

    def _first_against(
        self,
        component: Component,
        candidates: Mapping[Node, Candidate],
        honoured: Sequence[bool],
    ) -> Candidate | None:
        if self.checks is None:
            return None
        layout = Layout(component, honoured)
        layout.conflicts()
        block_of = {t: at for at, block in enumerate(layout.blocks) for t in block}
        by_block: dict[int, list[Anchor]] = {}
        for node, anchors in _together(component, candidates, honoured).items():
            first = next(b for b in candidates[node].bonds if b is not None)
            there = by_block.setdefault(block_of[first.outer], [])
            # What an earlier join put together counts as well.
            if self.checks.first_clash([*there, *anchors]) is not None:
                return candidates[node]
            there += anchors
        return None


def _together(
    component: Component, candidates: Mapping[Node, Candidate], honoured: Sequence[bool]
) -> dict[Node, list[Anchor]]:
    """By node without a task, the anchors that lie in one buffer."""
    nodes = dict.fromkeys(bond.node for bond in component.bonds if bond.kind != "result")
    found = {node: list(_kept(candidates[node], honoured)) for node in nodes}
    return {node: anchors for node, anchors in found.items() if len(anchors) > 1}


def _kept(candidate: Candidate, honoured: Sequence[bool]) -> Iterator[Anchor]:
    bonds = [b for b in candidate.bonds if b is not None and honoured[b.number]]
    if not candidate.is_join:
        yield from candidate.node.inputs[:1]
    for bond in bonds:
        yield from bond.anchors
    if candidate.is_join:
        yield from candidate.node.outputs[:1]
