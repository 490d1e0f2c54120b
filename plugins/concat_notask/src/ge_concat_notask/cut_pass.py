"""What the passes for Split and Slice share: which nodes, in which order, and what is said."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import ClassVar

from ge_concat_notask.dumps import mark_for_dump
from ge_concat_notask.marks import is_marked, unmark
from ge_concat_notask.peak import Listing, late_bytes
from ge_concat_notask.pieces import total_bytes
from ge_concat_notask.refusal import refuse, say, the_one_edge
from ge_concat_notask.scene import scene_refusal
from ge_concat_notask.setting import Setting
from ge_concat_notask.split_rules import PHONY, SplitRules
from ge_core.api import Graph, GraphPass, Node, PassContext


class CutPass(GraphPass):
    """Takes the task away from nodes whose outputs can be parts of their input."""

    op_kind: ClassVar[str]
    targets: ClassVar[tuple[str, ...]]
    rules: ClassVar[type[SplitRules]]

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Judge every such node of one graph, in listing order."""
        nodes = [node for node in graph.nodes if ctx.ops.kind(node) == self.op_kind]
        # What has no kernel comes first: GE marks it long before, and others see its marks.
        nodes.sort(key=lambda node: node.op != PHONY)
        if not nodes:
            return
        scene = scene_refusal(graph)
        setting = Setting.of(graph, ctx, self.goes_beyond(), joins=False)
        listing = Listing(graph)
        for node in nodes:
            if is_marked(node):
                ctx.applied(node, "MARKED_BEFORE")
            elif node.op not in (*self.targets, PHONY):
                say(ctx, node, refuse("OP_TYPE", op=node.op), None, _bytes(node))
            elif scene is not None:
                say(ctx, node, scene, None, _bytes(node))
            else:
                self._judge(self.rules(node, setting), graph, ctx, listing)

    def goes_beyond(self) -> bool | None:
        """Whether more may go than GE would let go; None leaves it to the level."""
        return None

    @abstractmethod
    def mark(self, graph: Graph, rules: SplitRules) -> None:
        """Mark a node that nothing stands against."""

    def _judge(self, rules: SplitRules, graph: Graph, ctx: PassContext, listing: Listing) -> None:
        node, setting = rules.node, rules.setting
        refusals = rules.refusals()
        first = next(refusals, None)
        if first is not None:
            edge = the_one_edge(first, refusals)
            say(ctx, node, first, None if edge in node.inputs else edge, _bytes(node))
            return
        self.mark(graph, rules)
        mark_for_dump(graph, node, ctx)
        setting.settle_layout([*node.inputs[:1], *node.outputs])
        setting.memory.marked_split(node)
        if setting.places is not None:
            setting.places.settle_split(node)
        ctx.applied(node, "NO_TASK", bytes=_bytes(node), parts="outputs")
        undo = partial(unmark, graph, node)
        ctx.retractable(node, undo, "RAISES_PEAK", bytes=_bytes(node) or 0)
        late = late_bytes(node.outputs, listing)
        if late:
            ctx.analysis(node, "HOLDS_LONGER", bytes=late, bytes_late=late)


def _bytes(node: Node) -> int | None:
    """Bytes that the node copies while it has a task."""
    return total_bytes(output.desc for output in node.outputs)
