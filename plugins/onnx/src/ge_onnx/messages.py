"""From a node of the graph back to ONNX's message for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onnx import NodeProto

from ge_core.api import InputFileError, Node
from ge_onnx import ops
from ge_onnx.proto.types import ABSENT
from ge_onnx.proto.values import write_attribute

DEFAULT_OPSET: Final = 20
"""The version of the standard domain for graphs that name none."""
_SIZES_ARE_AN_INPUT: Final = 13
_COUNT_IS_AN_ATTRIBUTE: Final = 18


def model_opsets(node: Node) -> dict[str, int]:
    """The versions that the model of a node imports."""
    assert node.graph is not None
    facts = node.graph.root.attrs.get("onnx.model", {})
    imports: dict[str, int] = facts.get("opset_imports", {})
    return imports


def version_of(node: Node) -> int:
    """The version of its domain that a node follows."""
    own = node.attrs.get(ops.OPSET)
    if own is not None:
        return int(own)
    domain, _ = ops.onnx_op(node.op)
    return model_opsets(node).get(domain, 1 if domain else DEFAULT_OPSET)


def absent_outputs(node: Node) -> list[bool]:
    """Which outputs the model leaves out; nobody computes them."""
    names = node.output_names
    return [
        at < len(names) and not names[at] and output.desc == ABSENT and not output.readers
        for at, output in enumerate(node.outputs)
    ]


def split_facts(node: Node, version: int) -> tuple[list[int] | None, dict[str, Any]]:
    """How a Split says its sizes at a version: as an input, or by attributes.

    Returns:
        The sizes where they are an input, and the attributes.
    """
    sizes = node.attrs.get("size_splits")
    if sizes is None or node.attrs.get(ops.EVEN):
        if version >= _COUNT_IS_AN_ATTRIBUTE and len(node.inputs) < 2:
            return None, {"num_outputs": len(node.outputs)}
        return None, {}
    if len(node.inputs) > 1:
        return None, {}
    if version >= _SIZES_ARE_AN_INPUT:
        return list(sizes), {}
    return None, {"split": list(sizes)}


def node_message(
    node: Node, inputs: Sequence[str], outputs: Sequence[str], attrs: dict[str, Any] | None = None
) -> NodeProto:
    """The message of a node with these value names.

    Args:
        inputs, outputs: empty names for what is left out.
        attrs: attributes to add, by ONNX's names.

    Raises:
        InputFileError: an attribute that ONNX can't hold.
    """
    domain, op = ops.onnx_op(node.op)
    message = NodeProto(op_type=op, domain=domain, input=inputs, output=outputs)
    try:
        found = {**ops.onnx_attrs(node.op, dict(node.attrs)), **(attrs or {})}
        message.attribute.extend(write_attribute(name, value) for name, value in found.items())
    except InputFileError as error:
        raise InputFileError(error.plain_message, node=node.name, field=error.field) from error
    return message
