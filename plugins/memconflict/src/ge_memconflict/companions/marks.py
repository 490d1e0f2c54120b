"""Attributes that the companion passes read and write, and what they say of nodes and graphs."""

from __future__ import annotations

from typing import Final

from ge_core.api import DATA_LIKE, VAR_LIKE, Graph, Node, OpRegistry, OutputAnchor, named_pairs

REFERENCE: Final = "reference"
"""A node that updates an input in place."""
INPUT_MUTABLE: Final = "_input_mutable"
"""A node that destroys its inputs for its own use."""
INNER_IDENTITY: Final = "_inner_identity"
"""A copy that only stands in front of a store: what planted it may take it away again."""
SKIP_CONFLICT: Final = "_skip_rw_conflict"
"""A reader that the read/write pass passes over."""
SCOPE: Final = "_tensor_memory_scope"
"""On an output: the area that its address must lie in."""

_PACKED_INPUTS: Final = ("continuous_input", "_no_padding_continuous_input")
_PACKED_OUTPUTS: Final = ("continuous_output", "_no_padding_continuous_output")
_UNKNOWN_SHAPE: Final = ("_graph_unknown_flag", "_dynamic_shape_partitioned")


def is_reference(node: Node) -> bool:
    """Whether a node updates inputs in place: it says so, or ports of equal name do."""
    return bool(node.attrs.get(REFERENCE)) or bool(named_pairs(node))


def packs_inputs(node: Node) -> bool:
    """Whether a node wants its inputs side by side."""
    return any(node.attrs.get(mark) for mark in _PACKED_INPUTS)


def packs_outputs(node: Node) -> bool:
    """Whether a node lays its outputs side by side."""
    return any(node.attrs.get(mark) for mark in _PACKED_OUTPUTS)


def is_dynamic(graph: Graph) -> bool:
    """Whether a graph is marked as one of unknown shape."""
    return any(graph.attrs.get(mark) for mark in _UNKNOWN_SHAPE)


def is_constant(node: Node, ops: OpRegistry) -> bool:
    """Whether a node is a constant of any kind, one whose value is a file among them."""
    return ops.kind(node) == "constant"


def is_variable(node: Node, ops: OpRegistry) -> bool:
    """Whether a node's memory lives on between runs: variables, and inputs held as one."""
    return node.op in VAR_LIKE or ops.kind(node) == "variable"


def has_own_home(output: OutputAnchor, ops: OpRegistry) -> bool:
    """Whether a value lies where nobody may move it: an input, a constant or a variable."""
    node = output.node
    return node.op in DATA_LIKE or is_constant(node, ops) or is_variable(node, ops)
