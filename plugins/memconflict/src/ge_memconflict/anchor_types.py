"""GE's anchor types: which anchors have demands on the memory they share with others.

User memory is what a graph with addresses of its own is called with: that of the root, and of a
static subgraph that a graph of unknown shapes launches. (GE asks which graph is being worked on, so
that for some passes the input of any subgraph counts.)

Whether an op can be told new addresses between runs may depend on options, and a type can't ask for
those: what *may* be unable is of the type, and the rules ask further (`ge_memconflict.addresses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ge_core.api import (
    ARENA,
    DATA_LIKE,
    VARIABLE_OPS,
    WEIGHT_LIKE,
    InputAnchor,
    OpRegistry,
    OutputAnchor,
    named_memory,
    ref_of,
    register_builtin_ops,
    special_memory,
)
from ge_memconflict.addresses import SWITCHES, may_be_fixed
from ge_memconflict.graphs import is_top

USER_MEMORY_INPUT: Final = "USER_MEMORY_INPUT"
USER_MEMORY_OUTPUT: Final = "USER_MEMORY_OUTPUT"
IMMUTABLE_ADDRESS_OUTPUT: Final = "IMMUTABLE_ADDRESS_OUTPUT"
CONTINUOUS_INPUT: Final = "CONTINUOUS_INPUT"
CONTINUOUS_OUTPUT: Final = "CONTINUOUS_OUTPUT"
NOPADDING_CONTINUOUS_INPUT: Final = "NOPADDING_CONTINUOUS_INPUT"
NOPADDING_CONTINUOUS_OUTPUT: Final = "NOPADDING_CONTINUOUS_OUTPUT"
UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_INPUT: Final = "UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_INPUT"
UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_OUTPUT: Final = "UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_OUTPUT"
RTS_SPECIAL_TYPE_INPUT: Final = "RTS_SPECIAL_TYPE_INPUT"
RTS_SPECIAL_TYPE_OUTPUT: Final = "RTS_SPECIAL_TYPE_OUTPUT"
REFERENCE_OUTPUT: Final = "REFERENCE_OUTPUT"
NORMAL_INPUT: Final = "NORMAL_INPUT"
NORMAL_OUTPUT: Final = "NORMAL_OUTPUT"

Anchor = InputAnchor | OutputAnchor


def is_user_input(anchor: Anchor) -> bool:
    """An output of a Data that the caller binds: memory that is handed in."""
    return isinstance(anchor, OutputAnchor) and anchor.node.op in DATA_LIKE and _bound(anchor)


def is_user_output(anchor: Anchor) -> bool:
    """An input of the NetOutput that the caller gets: memory that is handed back."""
    return isinstance(anchor, InputAnchor) and anchor.node.op == "NetOutput" and _bound(anchor)


def _bound(anchor: Anchor) -> bool:
    graph = anchor.node.graph
    return graph is not None and (graph.is_root or is_top(graph))


def is_immutable(anchor: Anchor) -> bool:
    """An output of a constant or variable: its address is fixed before the graph is planned."""
    op = anchor.node.op
    return isinstance(anchor, OutputAnchor) and (op in WEIGHT_LIKE or op in VARIABLE_OPS)


def is_packed_input(anchor: Anchor) -> bool:
    """An input that must lie next to its node's other inputs, each padded."""
    return _is_input_among(anchor, "continuous_input")


def is_packed_output(anchor: Anchor) -> bool:
    """An output that must lie next to its node's other outputs, each padded."""
    return _is_output_among(anchor, "continuous_output")


def is_no_padding_input(anchor: Anchor) -> bool:
    """An input that must lie back to back with its node's other inputs."""
    return _is_input_among(anchor, "_no_padding_continuous_input")


def is_no_padding_output(anchor: Anchor) -> bool:
    """An output that must lie back to back with its node's other outputs."""
    return _is_output_among(anchor, "_no_padding_continuous_output")


def _is_input_among(anchor: Anchor, mark: str) -> bool:
    node = anchor.node
    # One input alone lies next to nothing: then the mark says nothing.
    return isinstance(anchor, InputAnchor) and len(node.inputs) > 1 and bool(node.attrs.get(mark))


def _is_output_among(anchor: Anchor, mark: str) -> bool:
    node = anchor.node
    return isinstance(anchor, OutputAnchor) and len(node.outputs) > 1 and bool(node.attrs.get(mark))


def is_fixed_input(anchor: Anchor) -> bool:
    """An input of an op that may be unable to take another address in the next run."""
    return isinstance(anchor, InputAnchor) and may_be_fixed(anchor.node)


def is_fixed_output(anchor: Anchor) -> bool:
    """An output of an op that may be unable to take another address in the next run."""
    return isinstance(anchor, OutputAnchor) and may_be_fixed(anchor.node)


def is_special_input(anchor: Anchor) -> bool:
    """An input that its node wants in a memory of another kind than the device's own."""
    return isinstance(anchor, InputAnchor) and special_memory(anchor) is not None


def is_special_output(anchor: Anchor) -> bool:
    """An output that its node wants in a memory of another kind than the device's own."""
    return isinstance(anchor, OutputAnchor) and special_memory(anchor) is not None


def names_graph_input(output: OutputAnchor) -> bool:
    """Whether an output is by name the memory of a graph input that updates stay in.

    What names a variable, or something of another graph, lies elsewhere.
    """
    named = named_memory(output)
    if named is None or named.node.graph is not output.node.graph:
        return False
    return named.node.op == "RefData"


def is_reference(anchor: Anchor) -> bool:
    """An output that is the memory of an input of its node, or of a graph input it names."""
    if not isinstance(anchor, OutputAnchor) or is_user_input(anchor):
        return False
    return names_graph_input(anchor) or ref_of(anchor, _OPS) is not None


def is_normal_input(anchor: Anchor) -> bool:
    """An input without demands of the types above; it may be of a plugin's type as well."""
    return NORMAL_INPUT in types_of(anchor)


def is_normal_output(anchor: Anchor) -> bool:
    """An output without demands of the types above; it may be of a plugin's type as well."""
    return NORMAL_OUTPUT in types_of(anchor)


def types_of(anchor: Anchor) -> Sequence[str]:
    """All types of this module that an anchor has."""
    if isinstance(anchor, InputAnchor):
        if _is_plain_input(anchor):
            return _NORMAL_INPUTS
        return [name for name, marks in _INPUTS.items() if marks(anchor)] or _NORMAL_INPUTS
    if _is_plain_output(anchor):
        return _NORMAL_OUTPUTS
    return [name for name, marks in _OUTPUTS.items() if marks(anchor)] or _NORMAL_OUTPUTS


def _is_plain_input(anchor: InputAnchor) -> bool:
    """The usual case: nothing but attributes and descriptions makes demands on it."""
    node = anchor.node
    return not node.attrs and anchor.own_desc is None and node.op not in _DEMANDING


def _is_plain_output(anchor: OutputAnchor) -> bool:
    node, desc = anchor.node, anchor.desc
    return (
        not node.attrs
        and not desc.attrs
        and desc.reuse_input is None
        and desc.mem_type == ARENA
        and node.op not in _SPECIAL_OPS
        and node.graph is not None
        and not _OPS.traits(node).aliases
        and _OPS.kind(node) != "while"
    )


_DEMANDING: Final = SWITCHES | {"NetOutput"}
_SPECIAL_OPS: Final = _DEMANDING | set(DATA_LIKE) | set(WEIGHT_LIKE) | set(VARIABLE_OPS)
_NORMAL_INPUTS: Final = (NORMAL_INPUT,)
_NORMAL_OUTPUTS: Final = (NORMAL_OUTPUT,)
_OPS: Final = OpRegistry()
register_builtin_ops(_OPS)

_INPUTS: Final = {
    USER_MEMORY_OUTPUT: is_user_output,
    CONTINUOUS_INPUT: is_packed_input,
    NOPADDING_CONTINUOUS_INPUT: is_no_padding_input,
    UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_INPUT: is_fixed_input,
    RTS_SPECIAL_TYPE_INPUT: is_special_input,
}
_OUTPUTS: Final = {
    USER_MEMORY_INPUT: is_user_input,
    IMMUTABLE_ADDRESS_OUTPUT: is_immutable,
    CONTINUOUS_OUTPUT: is_packed_output,
    NOPADDING_CONTINUOUS_OUTPUT: is_no_padding_output,
    UNSUPPORTED_ADDRESS_REFRESH_OPERATOR_OUTPUT: is_fixed_output,
    RTS_SPECIAL_TYPE_OUTPUT: is_special_output,
    REFERENCE_OUTPUT: is_reference,
}


def register_anchor_types(types: Any) -> None:
    """Declare the types."""
    normal = {NORMAL_INPUT: is_normal_input, NORMAL_OUTPUT: is_normal_output}
    for name, marks in {**_INPUTS, **_OUTPUTS, **normal}.items():
        types.add(name, marks=marks, about=(marks.__doc__ or "").strip(), sort=types_of)
