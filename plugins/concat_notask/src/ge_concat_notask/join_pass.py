"""What the passes for Concat and Pack share: which nodes, in which order, and what is said."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from ge_concat_notask.dumps import mark_for_dump
from ge_concat_notask.join_rules import PHONY, JoinRules
from ge_concat_notask.marks import is_marked, mark_join, unmark
from ge_concat_notask.peak import Listing, early_bytes
from ge_concat_notask.pieces import total_bytes
from ge_concat_notask.refusal import COMMON_CODES, JOIN_CODES, say, the_one_edge
from ge_concat_notask.scene import scene_refusal
from ge_concat_notask.setting import Setting
from ge_core.api import Graph, GraphPass, Node, PassContext


class JoinPass(GraphPass, codes=COMMON_CODES | JOIN_CODES):
    """Takes the task away from joins whose operands can lie where the result is.

    In listing order, so that of a chain of joins the first one goes. Joins that stay, and those of
    a type it does not know, are given the reason.
    """

    op_kind: ClassVar[str]
    targets: ClassVar[tuple[str, ...]]
    claim: ClassVar[str]
    rules: ClassVar[type[JoinRules]]

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Judge every join of one graph."""
        nodes = [node for node in graph.nodes if ctx.ops.kind(node) == self.op_kind]
        # What has no kernel comes first: GE marks it long before, and others see its marks.
        nodes.sort(key=lambda node: node.op != PHONY)
        if not nodes:
            return
        scene = scene_refusal(graph)
        setting = Setting.of(graph, ctx, self.goes_beyond(), joins=True)
        listing = Listing(graph)
        for node in nodes:
            if is_marked(node):
                ctx.applied(node, "MARKED_BEFORE")
            elif node.op not in (*self.targets, PHONY):
                ctx.missed(node, "OP_TYPE", bytes=_bytes(node), op=node.op)
            elif scene is not None:
                say(ctx, node, scene, None, _bytes(node))
            else:
                self._judge(self.rules(node, setting), graph, ctx, listing)

    def goes_beyond(self) -> bool | None:
        """Whether joins may go that GE would keep; None leaves it to the level."""
        return None

    def _judge(self, rules: JoinRules, graph: Graph, ctx: PassContext, listing: Listing) -> None:
        node, setting = rules.node, rules.setting
        refusals = rules.refusals()
        first = next(refusals, None)
        if first is not None:
            alone = len(rules.operands) == 1
            say(ctx, node, first, None if alone else the_one_edge(first, refusals), _bytes(node))
            return
        if setting.places is None:
            setting.memory.marked_join(rules.roots)
        else:
            setting.places.settle(node, rules.axis)
        mark_join(graph, node, self.claim, rules.roots, rules.axis)
        mark_for_dump(graph, node, ctx)
        setting.settle_layout(rules.together)
        ctx.applied(node, "NO_TASK", bytes=_bytes(node), parts="operands")
        ctx.retractable(node, partial(unmark, graph, node), "RAISES_PEAK", bytes=_bytes(node) or 0)
        early = early_bytes(rules.roots, listing)
        if early:
            ctx.analysis(node, "RESERVES_EARLY", bytes=early, bytes_early=early)


def _bytes(node: Node) -> int | None:
    """Bytes that the join copies while it has a task."""
    return total_bytes(anchor.desc for anchor in node.inputs if anchor.desc is not None)
