"""Names in a file must be text: protobuf hands over what is not UTF-8 as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from ge_core.api import InputFileError
from ge_onnx.reading.order import subgraphs_of


def check_text(model: ModelProto) -> None:
    """Raise `InputFileError` naming the first field of a model that is not UTF-8."""
    for field, text in _texts(model):
        if not isinstance(text, str):
            raise InputFileError(f"{text!r:.80} is not UTF-8", field=field)


def _texts(model: ModelProto) -> Iterator[tuple[str, Any]]:
    for name in ("producer_name", "producer_version", "domain", "doc_string"):
        yield name, getattr(model, name)
    yield from _notes("metadata_props", model.metadata_props)
    for entry in model.opset_import:
        yield "opset_import.domain", entry.domain
    for function in model.functions:
        texts = (function.name, function.domain, function.overload, function.doc_string)
        for text in (*texts, *function.input, *function.output, *function.attribute):
            yield "function", text
        for entry in function.opset_import:
            yield "function.opset_import.domain", entry.domain
        yield from _nodes(function.node)
    yield from _graph(model.graph)


def _graph(graph: GraphProto) -> Iterator[tuple[str, Any]]:
    yield "graph.name", graph.name
    yield "graph.doc_string", graph.doc_string
    yield from _notes("graph.metadata_props", graph.metadata_props)
    for info in (*graph.input, *graph.output, *graph.value_info):
        yield "value_info.name", info.name
        yield "value_info.doc_string", info.doc_string
        yield from _notes("value_info.metadata_props", info.metadata_props)
        for dim in info.type.tensor_type.shape.dim:
            yield "dim_param", dim.dim_param
    for tensor in graph.initializer:
        yield from _tensor(tensor)
    for sparse in graph.sparse_initializer:
        yield from _tensor(sparse.values)
        yield from _tensor(sparse.indices)
    yield from _nodes(graph.node)


def _nodes(nodes: Iterable[NodeProto]) -> Iterator[tuple[str, Any]]:
    for node in nodes:
        for text in (node.name, node.op_type, node.domain, node.overload, node.doc_string):
            yield "node", text
        for text in (*node.input, *node.output):
            yield "node.input or output", text
        yield from _notes("node.metadata_props", node.metadata_props)
        for attribute in node.attribute:
            yield "attribute.name", attribute.name
            yield "attribute.ref_attr_name", attribute.ref_attr_name
            if attribute.HasField("t"):
                yield from _tensor(attribute.t)
        for _, graph in subgraphs_of(node):
            yield from _graph(graph)


def _tensor(tensor: TensorProto) -> Iterator[tuple[str, Any]]:
    yield "tensor.name", tensor.name
    yield "tensor.doc_string", tensor.doc_string
    yield from _notes("tensor.external_data", tensor.external_data)
    yield from _notes("tensor.metadata_props", tensor.metadata_props)


def _notes(field: str, entries: Any) -> Iterator[tuple[str, Any]]:
    for entry in entries:
        yield field, entry.key
        yield field, entry.value
