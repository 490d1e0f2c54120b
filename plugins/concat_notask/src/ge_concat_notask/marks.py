"""The marks of a node without a task, the claims on its operands, and how to take both back.

Attribute names are GE's. A marked join says: my operands lie one behind the other, unpadded, and
where they lie is my output. A marked split says the same of its outputs and its input. The claims
keep a tensor from being an operand of two joins, which would want it at two places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ge_core.api import (
    KEEPS_PLACE,
    Graph,
    InputAnchor,
    Node,
    OutputAnchor,
    Piece,
    crosses_streams,
)

NO_TASK: Final = "_no_task"
JOINED: Final = "_no_padding_continuous_input"
CUT: Final = "_no_padding_continuous_output"
SHARES_INPUT: Final = "_output_reuse_input"
AXIS: Final = "_reuse_input_on_dim_index"
WINDOW: Final = "_reuse_input_window"
"""On a marked slice: where its output lies in its input, the four numbers of a `Piece`."""
PACKED_IN: Final = "continuous_input"
PACKED_OUT: Final = "continuous_output"

CONCAT_CLAIM: Final = "can_reused_for_concat_optimize"
PACK_CLAIM: Final = "can_reused_for_pack_optimize"
CLAIMS: Final = (CONCAT_CLAIM, PACK_CLAIM)
"""On an output's description; false means claimed. GE has one name per kind of join."""

CLAIMED_ROOTS: Final = "_claimed_roots"
"""On a marked join: outputs (`node:0`) that it claimed behind the views that feed it."""


def is_marked(node: Node) -> bool:
    """Whether the node is a join or split that runs without a task."""
    attrs = node.attrs
    return bool(attrs.get(NO_TASK)) and bool(attrs.get(JOINED) or attrs.get(CUT))


def is_virtual(node: Node) -> bool:
    """Whether the node's memory follows that of others already (the attribute alone counts)."""
    attrs = node.attrs
    return bool(attrs.get(NO_TASK) or attrs.get(SHARES_INPUT) or attrs.get(JOINED))


def lays_out(reader: InputAnchor) -> bool:
    """Whether an input belongs to a node that places what it reads, or windows into it."""
    node, attrs = reader.node, reader.node.attrs
    if len(node.inputs) > 1 and (attrs.get(PACKED_IN) or attrs.get(JOINED)):
        return True
    return bool(attrs.get(CUT)) and (len(node.outputs) > 1 or WINDOW in attrs)


def is_claimed(output: OutputAnchor) -> bool:
    """Whether a join of either kind has claimed the tensor."""
    attrs = output.desc.attrs
    return any(attrs.get(claim) is False for claim in CLAIMS)


def mark_join(
    graph: Graph, node: Node, claim: str, roots: Sequence[OutputAnchor] = (), axis: int = 0
) -> None:
    """Mark a join and claim its operands.

    Args:
        graph: the graph of the node.
        claim: the name of the claim, `CONCAT_CLAIM` or `PACK_CLAIM`.
        roots: outputs whose memory the operands are, where a view stands between.
        axis: the stored dimension, where dimensions other than one stand outside of it; else 0.
    """
    _mark(graph, node, JOINED, axis)
    direct = _operands(node)
    known = set(direct)
    behind = [output for output in _unique(roots) if output not in known]
    for output in (*direct, *behind):
        graph.set_desc(output, output.desc.with_attr(claim, False))
    if behind:
        graph.set_attr(node, CLAIMED_ROOTS, [repr(output) for output in behind])


def mark_split(graph: Graph, node: Node, axis: int = 0) -> None:
    """Mark a split: its outputs are parts of its input, rows where the axis is not 0."""
    _mark(graph, node, CUT, axis)


def mark_slice(graph: Graph, node: Node, piece: Piece) -> None:
    """Mark a slice: a split with one output, which lies at a place of its input."""
    _mark(graph, node, CUT)
    graph.set_attr(node, WINDOW, [piece.delta, piece.row, piece.pitch, piece.count])


def unmark(graph: Graph, node: Node) -> None:
    """Make a marked join or split an ordinary node again and give up its claims.

    Reads nothing but the graph and edits nothing but this node's marks and the claims it made, so
    that a planner may try a graph with and without the mark. Nothing happens to an unmarked node.
    """
    if not is_marked(node):
        return
    behind = node.attrs.get(CLAIMED_ROOTS, ())
    for name in (NO_TASK, JOINED, CUT, SHARES_INPUT, AXIS, WINDOW, CLAIMED_ROOTS, KEEPS_PLACE):
        graph.del_attr(node, name)
    outputs = _operands(node)
    for text in behind:
        name, _, index = text.rpartition(":")
        producer = graph.find(name)
        if producer is not None:
            outputs.append(producer.outputs[int(index)])
    for output in _unique(outputs):
        if not any(is_marked(reader.node) for reader in output.readers):
            _release(graph, output)


def _release(graph: Graph, output: OutputAnchor) -> None:
    for claim in CLAIMS:
        if output.desc.attrs.get(claim) is False:
            graph.set_desc(output, output.desc.without_attr(claim))


def _mark(graph: Graph, node: Node, run: str, axis: int = 0) -> None:
    graph.set_attr(node, NO_TASK, True)
    graph.set_attr(node, run, True)
    graph.set_attr(node, SHARES_INPUT, True)
    # Where only ones stand outside the axis, joining at the outermost level is the same thing.
    graph.set_attr(node, AXIS, axis)
    around = (*node.in_nodes, *node.control_inputs, *node.out_nodes, *node.control_outputs)
    if crosses_streams(node, around):
        # Others may rely on when this node's task ran, in the order of the streams.
        graph.set_attr(node, KEEPS_PLACE, True)


def _operands(node: Node) -> list[OutputAnchor]:
    return _unique(anchor.source for anchor in node.inputs if anchor.source is not None)


def _unique(outputs: Iterable[OutputAnchor]) -> list[OutputAnchor]:
    return list(dict.fromkeys(outputs))
