"""`InplaceSupportCheckPass`: says of a node's output that it may lie where an input lies.

Only on the host: an executor there may run such a node in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ge_core.api import Graph, GraphPass, InputAnchor, Node, PassContext
from ge_memconflict.companions.marks import has_own_home

SUPPORT: Final = "_inplace_support_input_index"
PLACEMENT: Final = "ge.exec.placement"
_DEVICE: Final = "DEVICE"


@dataclass(frozen=True)
class InplaceSupportCheckPass(
    GraphPass, counters={"marked": "outputs that may lie where an input lies"}
):
    """Marks outputs that may lie where an input lies that nobody else reads."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Mark each node's only output with the first input that is like it and its own."""
        if ctx.option(PLACEMENT) == _DEVICE:
            return
        for node in graph.nodes:
            if len(node.outputs) != 1 or not node.inputs:
                continue
            found = next((anchor for anchor in node.inputs if _fits(anchor, node, ctx)), None)
            output = node.outputs[0]
            if found is not None and output.desc.attrs.get(SUPPORT) != found.index:
                graph.set_desc(output, output.desc.with_attr(SUPPORT, found.index))
                ctx.count("marked")


def _fits(anchor: InputAnchor, node: Node, ctx: PassContext) -> bool:
    """Whether an input is a computed value that only this node reads, and like the output."""
    value, result = anchor.source, node.outputs[0].desc
    if value is None or has_own_home(value, ctx.ops) or len(value.readers) != 1:
        return False
    given = anchor.desc
    return given is not None and (given.dtype, given.shape) == (result.dtype, result.shape)
