"""Ops that run a graph and are functions by ONNX's own definition: SequenceMap and the like.

The graph form knows If, Loop and Scan. Everything else that takes a graph is replaced by the
function that its schema defines, which comes down to those three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from onnx import ModelProto, NodeProto, defs, inliner

from ge_core.api import InputFileError
from ge_onnx import ops
from ge_onnx.reading.order import subgraphs_of
from ge_onnx.reading.schemas import domain_name, read_opsets, schema_of


def expand_graph_ops(model: ModelProto) -> ModelProto:
    """The model without such ops; the model itself where it has none.

    Raises:
        InputFileError: onnx can't expand one.
    """
    functions = {(domain_name(f.domain), f.name) for f in model.functions}
    opsets = read_opsets(model.opset_import, "model")
    found: dict[tuple[str, str], None] = {}
    for node in _all_nodes(model):
        key = (domain_name(node.domain), node.op_type)
        if node.op_type in ops.CONTROL_FLOW or key in functions:
            continue
        if next(subgraphs_of(node), None) is None:
            continue
        schema: Any = schema_of(*key, opsets.get(key[0], defs.onnx_opset_version()))
        if schema is not None and (schema.has_function or schema.has_context_dependent_function):
            found[key] = None
    if not found:
        return model
    try:
        expanded: ModelProto = inliner.inline_selected_functions(
            model, list(found), exclude=False, inline_schema_functions=True
        )
    except (RuntimeError, TypeError, ValueError) as error:
        names = ", ".join(repr(name) for _, name in found)
        raise InputFileError(
            f"onnx can't expand {names}: {' '.join(str(error).split())[:200]}", field="op_type"
        ) from error
    return expanded


def _all_nodes(model: ModelProto) -> Iterator[NodeProto]:
    todo: list[Iterable[NodeProto]] = [model.graph.node, *(f.node for f in model.functions)]
    while todo:
        for node in todo.pop():
            yield node
            todo.extend(graph.node for _, graph in subgraphs_of(node))
