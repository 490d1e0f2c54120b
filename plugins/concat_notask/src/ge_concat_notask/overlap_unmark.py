"""`OverlapUnmarkPass`: takes marks back with which a graph puts two tensors on the same bytes.

A compile may have left a graph so: a piece is cut off, something else computed from it, and joined
to the other pieces in the bytes that the piece had. That is right as long as nobody reads the piece
again. Passes that give readers another source, or take copies out, don't ask who has which bytes
when, so the marks are taken back before they begin; whoever sets such marks does it when all of
them are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ge_concat_notask.join_rules import PHONY as PHONY_JOIN
from ge_concat_notask.marks import is_marked, unmark
from ge_concat_notask.pieces import total_bytes
from ge_concat_notask.split_rules import PHONY as PHONY_SPLIT
from ge_core.api import (
    Graph,
    GraphPass,
    LayoutConflict,
    Node,
    OutputAnchor,
    PassContext,
    is_free_join,
)

_NO_KERNEL: Final = (PHONY_JOIN, PHONY_SPLIT)

CODES: Final = {
    "MARKS_TAKEN_BACK": (
        "the graph came with it marked as task-free, in a buffer where {first} and {second} have "
        "the same bytes one after the other; whether it can be so is asked anew",
        None,
    ),
    "MARKS_CONTRADICT": (
        "the graph came with it marked as task-free, and its marks contradict each other: {why}",
        None,
    ),
}


@dataclass(frozen=True)
class OverlapUnmarkPass(GraphPass, codes=CODES):
    """Makes joins and splits ordinary nodes again whose buffer holds several tensors at one place.

    So it does with all of them where marks contradict each other. What has no kernel (PhonyConcat,
    PhonySplit) keeps its marks.
    """

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        every = [node for node in graph.all_nodes() if is_marked(node)] if graph.is_root else []
        if not any(is_free_join(node) for node in every):
            # Nothing else puts tensors on one another: pieces lie in what they are cut from.
            return
        marked = [node for node in every if node.outputs and node.op not in _NO_KERNEL]
        try:
            pairs = ctx.reuse.overlapping()
        except LayoutConflict as conflict:
            for node in marked:
                _take_back(node, ctx, "MARKS_CONTRADICT", why=conflict.message)
            return
        aliases = ctx.aliases
        held = {aliases.root(first): (first, second) for first, second in pairs}
        found = [(node, held.get(aliases.root(node.outputs[0]))) for node in marked]
        for node, pair in found:
            if pair is not None:
                fields = {"first": pair[0], "second": pair[1]}
                _take_back(node, ctx, "MARKS_TAKEN_BACK", blame=pair, **fields)


def _take_back(
    node: Node, ctx: PassContext, code: str, blame: Sequence[OutputAnchor] = (), **fields: Any
) -> None:
    assert node.graph is not None
    unmark(node.graph, node)
    size = total_bytes(output.desc for output in node.outputs)
    ctx.analysis(node, code, blame=blame, bytes=size, **fields)
