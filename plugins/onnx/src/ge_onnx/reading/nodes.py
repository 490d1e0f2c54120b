"""From one node's message to op type and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto

from ge_core.api import InputFileError, Node
from ge_onnx import ops
from ge_onnx.proto.values import read_attribute
from ge_onnx.reading.schemas import Opsets, domain_name

_GRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


@dataclass
class PlainNode:
    """Op type and attributes that a node has in the graph."""

    op: str
    attrs: dict[str, Any]


def bound_attributes(
    node: NodeProto, bindings: Mapping[str, AttributeProto]
) -> dict[str, AttributeProto]:
    """A node's attributes by name; those that refer to one of the calling function are replaced.

    One that the call leaves out is left out here too.
    """
    found: dict[str, AttributeProto] = {}
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif attribute.ref_attr_name in bindings:
            bound = AttributeProto()
            bound.CopyFrom(bindings[attribute.ref_attr_name])
            bound.name = attribute.name
            found[attribute.name] = bound
    return found


def plain_node(
    node: NodeProto,
    label: str,
    attributes: Mapping[str, AttributeProto],
    opsets: Opsets,
    model_opsets: Opsets,
    folder: Path,
) -> PlainNode:
    """Op type and attributes of a node; graphs among the attributes are left out.

    Args:
        opsets, model_opsets: the versions that the node follows, and those the model imports.

    Raises:
        InputFileError: an attribute that can't be read.
    """
    plain: dict[str, Any] = {}
    for name, attribute in attributes.items():
        if attribute.type in _GRAPHS:
            continue
        try:
            plain[name] = read_attribute(attribute, folder)
        except InputFileError as error:
            raise InputFileError(
                error.plain_message, node=label, field=error.field or name
            ) from error
    domain = domain_name(node.domain)
    op, attrs = ops.graph_op(domain, node.op_type, plain, len(node.output))
    attrs[ops.SOURCE_OP] = node.op_type
    attrs.update(node_facts(node, ops.DOC, ops.METADATA, ops.REST))
    version = opsets[domain]
    if model_opsets.get(domain, version) != version:
        attrs[ops.OPSET] = version
    return PlainNode(op, attrs)


def node_facts(node: NodeProto, doc: str, metadata: str, rest: str) -> dict[str, Any]:
    """Notes on a node that mean nothing to what it computes, under the given names."""
    facts: dict[str, Any] = {}
    if node.doc_string:
        facts[doc] = node.doc_string
    if node.metadata_props:
        facts[metadata] = {entry.key: entry.value for entry in node.metadata_props}
    if getattr(node, "device_configurations", None):
        left = NodeProto()
        left.device_configurations.extend(node.device_configurations)
        facts[rest] = left.SerializeToString()
    return facts


def listed(graphs: Iterable[tuple[str, GraphProto]]) -> Iterator[tuple[str, GraphProto]]:
    """The graphs of a node in the order they are run in: an If's `then_branch` first."""
    return iter(sorted(graphs, key=lambda item: item[0] != "then_branch"))


def check_ports(
    node: NodeProto,
    name: str,
    label: str,
    proto: GraphProto,
    attributes: Mapping[str, Any],
    version: int,
) -> int:
    """How many outputs a control-flow node has by its body, which may be more than it names.

    Args:
        version: of the standard domain.

    Raises:
        InputFileError: the body's inputs or outputs don't fit the node.
    """
    inputs, outputs = len(proto.input), len(proto.output)
    if node.op_type == "If":
        wanted, fewest = 0, len(node.output)
    elif node.op_type == "Loop":
        wanted = max(len(node.input), 2)
        fewest = wanted - 2
        outputs -= 1
    else:
        if "num_scan_inputs" not in attributes or version < 9:
            raise InputFileError(
                "Scan of opset 8 is not supported",
                node=name,
                field="opset_import",
                hint="convert the model to opset 9 or newer with onnx.version_converter",
            )
        scanned = attributes["num_scan_inputs"].i
        wanted, fewest = len(node.input), len(node.input) - scanned
        if not 1 <= scanned <= len(node.input):
            raise InputFileError(
                f"{scanned} of {len(node.input)} inputs", node=name, field="num_scan_inputs"
            )
    if inputs != wanted:
        raise InputFileError(f"the body has {inputs} inputs, not {wanted}", node=name, field=label)
    if outputs < max(fewest, len(node.output)) or (
        node.op_type == "If" and outputs != len(node.output)
    ):
        raise InputFileError(
            f"the body has {len(proto.output)} outputs, which do not fit the node's "
            f"{len(node.output)}",
            node=name,
            field=label,
        )
    return outputs


def split_sizes(node: Node) -> Node | None:
    """Turn constant sizes of a Split from an input into an attribute.

    Returns:
        The constant that is no longer read here. Its name is kept for the way back.
    """
    graph, sizes = node.graph, node.inputs[1].source
    assert graph is not None
    if sizes is None:
        graph.remove_input(node)
        return None
    graph.set_op(node, "SplitVD")
    constant = sizes.node
    if constant.op != "Const" or constant.value is None:
        return None
    numbers = np.frombuffer(constant.value.read(), "<i8")
    graph.set_attr(node, "size_splits", [int(number) for number in numbers])
    graph.set_attr(node, ops.SIZES_NAME, sizes.name)
    graph.remove_input(node)
    return constant
