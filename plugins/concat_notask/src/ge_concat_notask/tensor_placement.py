"""`TensorPlacementPass`: what the passes for single joins and splits left, placed as a whole.

They decide node by node, in listing order. Where a join or split kept its task, everything that
shares tensors with it is looked at again here, together: which tensors lie in which, so that the
fewest bytes are copied. An operand that can't lie in its place is copied there; the others do
without. It runs when the copies and the order of the graph are settled, so that bytes may be
written again once their last reader is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ge_concat_notask.concat_notask import ConcatNotaskPass
from ge_concat_notask.cut_pass import CutPass
from ge_concat_notask.join_pass import JoinPass
from ge_concat_notask.marks import is_marked, mark_join, unmark
from ge_concat_notask.memory import Memory
from ge_concat_notask.pack_notask import PackNotaskPass
from ge_concat_notask.pieces import blocks_of
from ge_concat_notask.placement.choose import EXACT_STEPS, GRAPH_STEPS, Choice
from ge_concat_notask.placement.gather import Gathering, Rules
from ge_concat_notask.placement.layout_rules import LayoutRules
from ge_concat_notask.placement.problem import GRAPH_TURNS, Component
from ge_concat_notask.placement.settle import Settling, claim_of, mark_cut
from ge_concat_notask.placement.turns import Turns
from ge_concat_notask.refusal import COMMON_CODES, PLACEMENT_CODES
from ge_concat_notask.scene import scene_refusal
from ge_concat_notask.setting import Setting
from ge_concat_notask.slice_notask import SliceNotaskPass
from ge_concat_notask.split_notask import SplitNotaskPass
from ge_concat_notask.split_rules import SplitRules
from ge_core.api import Graph, GraphPass, Node, OutputAnchor, PassContext

JUDGES: Final[dict[str, type[JoinPass | CutPass]]] = {
    op: judge
    for judge in (ConcatNotaskPass, PackNotaskPass, SplitNotaskPass, SliceNotaskPass)
    for op in judge.targets
}
"""By op type, the pass that judges a node of it alone."""
_COUNTERS: Final = {
    "components": "groups of joins and splits that were looked at as a whole",
    "steps": "bonds and tensors looked at by the search",
    "unproved": "groups for which a better choice is not ruled out",
    "bytes_at_most": "bytes that a better choice could save in those, at most",
}

_CODES: Final = PLACEMENT_CODES | {code: COMMON_CODES[code] for code in ("NO_TASK", "RAISES_PEAK")}


@dataclass(frozen=True)
class TensorPlacementPass(GraphPass, codes=_CODES, counters=_COUNTERS):
    """Chooses, for all joins and splits of a graph together, which tensors lie in which.

    The choice with the fewest bytes left to copy, proved where groups are small; elsewhere the
    counters say what a better one could save at most. A join or split with some of its tensors
    in place loses its task; the others get a copy each, never more bytes than the task moved.
    """

    exact_steps: int = EXACT_STEPS
    """Steps that the exact search may take for one group of joins and splits."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at every group that has a node with a task left."""
        nodes = [node for node in graph.nodes if self._is_candidate(node, ctx)]
        if not nodes or scene_refusal(graph) is not None:
            return
        groups = _open(nodes, Memory(ctx.ops))
        marked = frozenset(node for group in groups for node in group if is_marked(node))
        for group in groups:
            for node in group:
                unmark(graph, node)
        gathering = self._gather(groups, ctx)
        relied_on = {
            candidate.node
            for candidate in gathering.candidates
            if candidate.node in marked and candidate.is_refused
        }
        if relied_on:
            # Passes in between took the marks for granted: what they did may not hold without.
            setting = self._setting(ctx)
            settled = [group for group in groups if not relied_on.isdisjoint(group)]
            groups = [group for group in groups if relied_on.isdisjoint(group)]
            for group in settled:
                _mark_again(graph, [node for node in group if node in marked], setting)
            gathering = self._gather(groups, ctx)
        self._place(graph, ctx, gathering, marked)

    @staticmethod
    def _is_candidate(node: Node, ctx: PassContext) -> bool:
        """Whether one of our passes has judged the node, and it is none that came marked."""
        judge = JUDGES.get(node.op)
        if judge is None:
            return False
        final = ctx.environment.remarks.final(node.name)
        if final is None or final.pass_name != judge.__name__:
            return False
        return final.code != "MARKED_BEFORE"

    @staticmethod
    def _setting(ctx: PassContext) -> Setting:
        return Setting(Memory(ctx.ops), ctx.ops, ctx.target, blocks_of(ctx.target), beyond=True)

    @staticmethod
    def _gather(groups: list[list[Node]], ctx: PassContext) -> Gathering:
        setting = TensorPlacementPass._setting(ctx)
        gathering = Gathering(setting, Turns(ctx.order, ctx.ops, lambda: ctx.reuse))
        gathering.run(rules_of((node for group in groups for node in group), setting))
        return gathering

    def _place(
        self, graph: Graph, ctx: PassContext, gathering: Gathering, marked: frozenset[Node]
    ) -> None:
        candidates = {candidate.node: candidate for candidate in gathering.candidates}
        chosen: dict[Node, tuple[bool, ...]] = {}
        results: list[tuple[Component, tuple[bool, ...]]] = []
        rules = LayoutRules.of(ctx)
        left, turns = GRAPH_STEPS, GRAPH_TURNS
        for component in gathering.components:
            component.turns = given = min(component.turns, turns)
            found = _held(component, marked)
            choice = rules.choose(component, candidates, min(self.exact_steps, left))
            left = max(0, left - choice.steps)
            turns = max(0, turns - (given - component.turns))
            self._count(ctx, choice)
            if choice.cost < component.cost(found):
                found = choice.honoured
                results.append((component, found))
            rules.settle(component, candidates, found)
            for bond in component.bonds:
                if bond.kind != "result":
                    chosen[bond.node] = found
        settling = Settling(graph, ctx, marked)
        for component, found in results:
            settling.results(component, found)
        for candidate in gathering.candidates:
            if candidate.node in chosen:
                settling.node(candidate, chosen[candidate.node])

    @staticmethod
    def _count(ctx: PassContext, choice: Choice) -> None:
        ctx.count("components")
        ctx.count("steps", choice.steps)
        if not choice.optimal:
            ctx.count("unproved")
            ctx.count("bytes_at_most", choice.cost[0] - choice.bound)


def rules_of(nodes: Iterable[Node], setting: Setting) -> list[Rules]:
    """What is asked of each node."""
    return [JUDGES[node.op].rules(node, setting) for node in nodes]


def _held(component: Component, marked: frozenset[Node]) -> tuple[bool, ...]:
    """The choice that the passes before made."""
    return tuple(bond.kind == "result" or bond.node in marked for bond in component.bonds)


def _mark_again(graph: Graph, nodes: list[Node], setting: Setting) -> None:
    """Give nodes back the marks that they had."""
    for node in nodes:
        rules = JUDGES[node.op].rules
        if issubclass(rules, SplitRules):
            mark_cut(graph, rules(node, setting))
        else:
            sources = (anchor.source for anchor in node.inputs if anchor.source is not None)
            roots = [setting.memory.chain(one).root for one in sources]
            mark_join(graph, node, claim_of(node), roots, rules(node, setting).axis)


def _open(nodes: list[Node], memory: Memory) -> list[list[Node]]:
    """Groups of nodes that share tensors, over any number of steps, with one that has its task."""
    parent: dict[OutputAnchor, OutputAnchor] = {}

    def find(output: OutputAnchor) -> OutputAnchor:
        while parent.setdefault(output, output) is not output:
            parent[output] = output = parent[parent[output]]
        return output

    first: dict[Node, OutputAnchor] = {}
    for node in nodes:
        sources = [anchor.source for anchor in node.inputs if anchor.source is not None]
        roots = [memory.chain(output).root for output in (*sources, *node.outputs)]
        if not roots:
            continue
        first[node] = roots[0]
        for root in roots[1:]:
            parent[find(root)] = find(roots[0])
    left = {find(root) for node, root in first.items() if not is_marked(node)}
    groups: dict[OutputAnchor, list[Node]] = {}
    for node, root in first.items():
        if find(root) in left:
            groups.setdefault(find(root), []).append(node)
    return list(groups.values())
