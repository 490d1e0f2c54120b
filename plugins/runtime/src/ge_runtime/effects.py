"""What a node does to its inputs, for running it.

Layout marks are a plan's business: a node that runs computes its outputs, whatever its marks say.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import Node, OpRegistry, named_pairs, scribbled_inputs, written_inputs

_CALLS: Final = frozenset({"if", "case", "while", "loop", "scan", "call"})
_FRESH_KINDS: Final = frozenset(
    {"move", "join", "pack", "split", "slice"}
    | {"data", "constant", "variable", "net_output", "noop"}
    | _CALLS
)
"""Kinds that make memory of their own, or whose sharing is a matter of the call boundary."""

_STORES: Final = frozenset({"Assign", "AssignVariableOp"})


def aliases(node: Node, ops: OpRegistry) -> dict[int, int]:
    """Output -> input whose memory it is, by declaration; nothing that only marks ask for."""
    traits = ops.traits(node)
    if traits.kind in _FRESH_KINDS and (node.subgraphs or traits.kind not in _CALLS):
        return {}
    found = {
        output.index: output.desc.reuse_input
        for output in node.outputs
        if output.desc.reuse_input is not None
    }
    if node.attrs.get("reference"):
        found.update(named_pairs(node))
    found.update(traits.aliases)
    return {
        out: at
        for out, at in found.items()
        if out < len(node.outputs) and at < len(node.inputs) and node.inputs[at].source is not None
    }


def unread(node: Node, ops: OpRegistry, writes: tuple[int, ...]) -> tuple[int, ...]:
    """Inputs whose bytes the node does not look at."""
    ignored = ops.traits(node).shape_only
    # A store replaces what was there without having read it.
    return (*ignored, 0) if node.op in _STORES and writes == (0,) else ignored


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
