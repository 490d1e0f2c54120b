"""`SplitNotaskPass`: Split nodes whose outputs can be parts of their input need no task.

GE has no such pass: its neural-network engine marks splits long before the joins. The name is ours;
it runs before the join passes, so that they see its marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from ge_concat_notask.marks import is_marked, mark_split, unmark
from ge_concat_notask.peak import Listing, late_bytes
from ge_concat_notask.pieces import total_bytes
from ge_concat_notask.refusal import COMMON_CODES, SPLIT_CODES, refuse, say, the_one_edge
from ge_concat_notask.scene import scene_refusal
from ge_concat_notask.setting import Setting
from ge_concat_notask.split_rules import PHONY, SplitRules
from ge_core.api import Graph, GraphPass, Node, PassContext


@dataclass(frozen=True)
class SplitNotaskPass(GraphPass, codes=COMMON_CODES | SPLIT_CODES):
    """Takes the task away from Split nodes whose outputs can be parts of their input.

    Types SplitD and SplitVD. The marks: `_no_task`, `_no_padding_continuous_output`,
    `_output_reuse_input`, `_reuse_input_on_dim_index` = 0.
    """

    beyond_ge: bool | None = None
    """Splits of parts of splits; by default at O4 and not below."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Judge every split of one graph, in listing order."""
        nodes = [node for node in graph.nodes if ctx.ops.kind(node) == "split"]
        # What has no kernel comes first: GE marks it long before, and others see its marks.
        nodes.sort(key=lambda node: node.op != PHONY)
        if not nodes:
            return
        scene = scene_refusal(graph)
        setting = Setting.of(graph, ctx, self.beyond_ge, joins=False)
        listing = Listing(graph)
        for node in nodes:
            if is_marked(node):
                ctx.applied(node, "MARKED_BEFORE")
                continue
            if node.op not in (*SPLITS, PHONY):
                say(ctx, node, refuse("OP_TYPE", op=node.op), None, _bytes(node))
                continue
            if scene is not None:
                say(ctx, node, scene, None, _bytes(node))
                continue
            refusals = SplitRules(node, setting).refusals()
            first = next(refusals, None)
            if first is not None:
                edge = the_one_edge(first, refusals)
                say(ctx, node, first, None if edge in node.inputs else edge, _bytes(node))
                continue
            mark_split(graph, node)
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


SPLITS: Final = ("SplitD", "SplitVD")
"""Types of op that GE cuts tensors with."""


def _bytes(node: Node) -> int | None:
    """Bytes that the split copies while it has a task."""
    return total_bytes(output.desc for output in node.outputs)
