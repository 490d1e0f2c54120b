"""What a node does to its inputs, for running it.

Layout marks are a plan's business: a node that runs computes its outputs, whatever its marks say.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import (
    Node,
    OpRegistry,
    is_subgraph_data,
    named_pairs,
    ref_of,
    scribbled_inputs,
    written_inputs,
)

_MARK: Final = "_output_reuse_input"


def aliases(node: Node, ops: OpRegistry) -> dict[int, int]:
    """Output -> input whose memory it is, by declaration; nothing that only marks ask for."""
    traits = ops.traits(node)
    declared = {out for out, _ in traits.aliases}
    if node.attrs.get("reference"):
        declared.update(out for out, _ in named_pairs(node))
    by_kind = traits.kind in ("net_output", "while") or is_subgraph_data(node)
    found: dict[int, int] = {}
    for output in node.outputs:
        at = ref_of(output, ops)
        if at is None or at >= len(node.inputs):
            continue
        marked_only = (
            bool(node.attrs.get(_MARK))
            and output.desc.reuse_input is None
            and output.index not in declared
            and not by_kind
        )
        if not marked_only:
            found[output.index] = at
    return found


def changes(node: Node, ops: OpRegistry) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Inputs that the node updates in place, and inputs that it destroys.

    One that it destroys and answers as an output is an update: that is where its result is.
    """
    writes = written_inputs(node, ops)
    scribbles = scribbled_inputs(node, ops)
    if scribbles:
        answered = set(aliases(node, ops).values())
        both = {at for at in scribbles if at in answered}
        writes = tuple(sorted({*writes, *both}))
    return writes, scribbles
