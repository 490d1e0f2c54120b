"""Builds the model of a graph: the graph alone says everything that the model needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorAnnotation, TensorProto

from ge_core.api import Graph, InputFileError, Node
from ge_onnx import ops
from ge_onnx.messages import DEFAULT_OPSET, node_message, split_facts, version_of
from ge_onnx.proto.types import desc_type, write_info
from ge_onnx.reading.names import NameTable
from ge_onnx.reading.schemas import schema_of
from ge_onnx.work import Work, drive
from ge_onnx.writing.constants import (
    constant_message,
    is_initializer,
    sparse_message,
    tensor_message,
)
from ge_onnx.writing.external import ExternalData
from ge_onnx.writing.old_opsets import OldOpsets
from ge_onnx.writing.order import ordered
from ge_onnx.writing.values import (
    GraphNames,
    Names,
    captured_from,
    interface_names,
    name_values,
    preferred_name,
)

DEFAULT_IR_VERSION: Final = 10
MAX_DEPTH: Final = 24
"""Graphs nested deeper than this make messages that protobuf does not parse again."""


@dataclass
class _Body:
    """One graph being written."""

    graph: Graph
    proto: GraphProto
    names: GraphNames
    caller: Node | None
    depth: int
    sizes: dict[tuple[str, bytes], str] = field(default_factory=dict)


class Writer:
    """Writes one graph.

    Args:
        external: decides where constants lie.
    """

    def __init__(self, graph: Graph, external: ExternalData) -> None:
        self._graph = graph
        self._external = external
        self._facts: Mapping[str, Any] = graph.attrs.get("onnx.model", {})
        self._imports = dict(self._facts.get("opset_imports", {"": DEFAULT_OPSET}))
        self._old = OldOpsets(self._imports)
        self._names = NameTable(interface_names(graph))

    def model(self) -> ModelProto:
        """The model.

        Raises:
            InputFileError: something in the graph has no ONNX form.
        """
        facts = self._facts
        model = ModelProto(ir_version=facts.get("ir_version", DEFAULT_IR_VERSION))
        for name in ("producer_name", "producer_version", "domain", "model_version", "doc_string"):
            if name in facts:
                setattr(model, name, facts[name])
        model.MergeFromString(facts.get("rest", b""))
        drive(self._write(self._graph, model.graph, None, {}, 0))
        for domain, version in self._imports.items():
            model.opset_import.add(domain=domain, version=version)
        model.functions.extend(self._old.functions)
        for key, text in facts.get("metadata", {}).items():
            model.metadata_props.add(key=key, value=text)
        return model

    def _write(
        self, graph: Graph, proto: GraphProto, caller: Node | None, outer: Names, depth: int
    ) -> Work:
        if depth > MAX_DEPTH:
            raise InputFileError(
                f"graphs nested more than {MAX_DEPTH} deep have no ONNX form",
                node=None if caller is None else caller.name,
                field="subgraphs",
            )
        nodes = ordered(graph)
        names = name_values(graph, nodes, caller, outer, self._names)
        body = _Body(graph, proto, names, caller, depth)
        _write_facts(body)
        self._write_inputs(body)
        for node in nodes:
            if node.op in ("Data", "NetOutput", "NoOp"):
                continue
            if is_initializer(node):
                self._write_initializer(node, body)
            elif node.op == "Const":
                name = names.values[node.outputs[0]]
                proto.node.append(_noted(constant_message(node, name, self._external), node))
            else:
                yield from self._write_node(node, body)
        for source, name in names.copies:
            given = names.values[source]
            proto.node.append(
                NodeProto(op_type="Identity", name=name, input=[given], output=[name])
            )
        _write_outputs(body)
        _write_value_infos(body)

    def _write_inputs(self, body: _Body) -> None:
        listed: list[tuple[int, Node]] = []
        first_captured = captured_from(body.caller)
        for place, data in enumerate(body.graph.data_nodes):
            if body.caller is None or data.attrs["_parent_node_index"] < first_captured:
                listed.append((data.attrs.get(ops.INPUT_INFO, {}).get("at", place), data))
        for node in body.graph.nodes_of("Const"):
            if ops.INPUT_INFO in node.attrs:
                listed.append((node.attrs[ops.INPUT_INFO]["at"], node))
        for _, node in sorted(listed, key=lambda item: item[0]):
            output, info = node.outputs[0], node.attrs.get(ops.INPUT_INFO)
            message = write_info(info or {}, body.names.values[output])
            if info is None:
                message.type.CopyFrom(desc_type(output.desc))
            body.proto.input.append(message)
            if node.op == "Data" and node.value is not None:
                self._write_initializer(node, body)

    def _write_initializer(self, node: Node, body: _Body) -> None:
        name = body.names.values[node.outputs[0]]
        sparse = sparse_message(node, name)
        if sparse is not None:
            body.proto.sparse_initializer.append(sparse)
        else:
            body.proto.initializer.append(tensor_message(node, name, self._external))

    def _write_node(self, node: Node, body: _Body) -> Work:
        _check_op(node)
        values = body.names.values
        inputs = ["" if a.source is None else values[a.source] for a in node.inputs]
        outputs = [values[output] for output in node.outputs]
        if node.subgraphs:
            inputs = inputs[: captured_from(node)]
            while len(outputs) > 1 and not outputs[-1]:
                outputs.pop()
        extra: dict[str, Any] = {}
        if node.op in ops.SPLITS:
            sizes, extra = split_facts(node, version_of(node))
            if sizes is not None:
                inputs = [inputs[0], self._write_sizes(node, sizes, body)]
        message = node_message(node, inputs, outputs, extra)
        for label, graph in node.subgraphs.items():
            attribute = message.attribute.add()
            attribute.name, attribute.type = label, attribute.GRAPH
            yield self._write(graph, attribute.g, node, values, body.depth + 1)
        body.proto.node.append(self._old.wrap(_noted(message, node), version_of(node)))

    def _write_sizes(self, node: Node, sizes: list[int], body: _Body) -> str:
        """The initializer of a Split's sizes; splits that shared one share it again."""
        data = np.array(sizes, dtype="<i8").tobytes()
        stem = node.attrs.get(ops.SIZES_NAME) or f"{node.name}_sizes"
        known = body.sizes.get((stem, data))
        if known is not None:
            return known
        name = body.sizes[(stem, data)] = self._names.take(stem)
        body.proto.initializer.append(
            TensorProto(name=name, data_type=TensorProto.INT64, dims=[len(sizes)], raw_data=data)
        )
        return name


def _write_facts(body: _Body) -> None:
    attrs, proto = body.graph.attrs, body.proto
    # A model's graph must have a name; an inner one need not.
    proto.name = attrs.get("onnx.name", body.graph.name) or body.graph.name
    if "onnx.doc_string" in attrs:
        proto.doc_string = attrs["onnx.doc_string"]
    for key, text in attrs.get("onnx.metadata", {}).items():
        proto.metadata_props.add(key=key, value=text)
    names = set(body.names.values.values()) | set(body.names.outputs)
    for data in attrs.get("onnx.quantization", []):
        note = TensorAnnotation.FromString(data)
        used = [note.tensor_name, *(e.value for e in note.quant_parameter_tensor_names)]
        if names.issuperset(used):
            proto.quantization_annotation.append(note)


def _write_outputs(body: _Body) -> None:
    end = body.graph.net_output
    if end is None:
        return
    infos = end.attrs.get(ops.OUTPUT_INFOS, [])
    for at, (anchor, name) in enumerate(zip(end.inputs, body.names.outputs, strict=True)):
        message = write_info(infos[at] if at < len(infos) else {}, name)
        if at >= len(infos) and anchor.source is not None:
            message.type.CopyFrom(desc_type(anchor.source.desc))
        body.proto.output.append(message)


def _write_value_infos(body: _Body) -> None:
    """What the file declared of values that are still there."""
    infos = {info["name"]: info for info in body.graph.attrs.get("onnx.value_info", [])}
    if not infos:
        return
    shown = {info.name for info in (*body.proto.input, *body.proto.output)}
    for node in body.graph.nodes:
        for output in node.outputs:
            info = infos.get(preferred_name(output))
            name = body.names.values[output]
            if info is not None and name and name not in shown and node.op != "Data":
                body.proto.value_info.append(write_info(info, name))


def _noted(message: NodeProto, node: Node) -> NodeProto:
    """The message with what the file noted on the node."""
    message.name = node.attrs.get(ops.NODE_NAME, node.name)
    if ops.DOC in node.attrs:
        message.doc_string = node.attrs[ops.DOC]
    for key, text in node.attrs.get(ops.METADATA, {}).items():
        message.metadata_props.add(key=key, value=text)
    if ops.REST in node.attrs:
        message.MergeFromString(node.attrs[ops.REST])
    return message


def _check_op(node: Node) -> None:
    domain, op = ops.onnx_op(node.op)
    if domain or ops.SOURCE_OP in node.attrs:
        return
    if schema_of(domain, op, version_of(node)) is None or (
        node.subgraphs and op not in ops.CONTROL_FLOW
    ):
        raise InputFileError(f"op {node.op!r} has no ONNX form", node=node.name, field="op")
