"""Ops that run a graph and are functions by ONNX's own definition: SequenceMap and the like.

The graph form knows If, Loop and Scan. Everything else that takes a graph is replaced by the
function that its schema defines, which comes down to those three.

onnx does that in C++, which has been seen to crash on malformed models; such models are rare, so
it is done in a process of its own: `python -m ge_onnx.reading.schema_functions DOMAIN OP ...`
reads a model from standard input and writes it expanded to standard output.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs
from onnx import ModelProto, NodeProto, defs

from ge_core.api import InputFileError
from ge_onnx import ops
from ge_onnx.reading.order import subgraphs_of
from ge_onnx.reading.schemas import domain_name, read_opsets, schema_of


def expand_graph_ops(model: ModelProto) -> ModelProto:
    """The model without such ops; the model itself where it has none.

    Raises:
        InputFileError: onnx can't expand one.
    """
    found = _graph_ops(model)
    if not found:
        return model
    words = [word for key in found for word in key]
    done = subprocess.run(
        [sys.executable, "-P", "-m", __name__, *words],
        input=model.SerializeToString(),
        capture_output=True,
        check=False,
    )
    expanded = ModelProto()
    try:
        if done.returncode == 0:
            expanded.ParseFromString(done.stdout)
            return expanded
        reason = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    except DecodeError as error:
        reason = str(error)
    names = ", ".join(repr(op) for _, op in found)
    raise InputFileError(
        f"onnx can't expand {names}: {reason[:200] or f'exit code {done.returncode}'}",
        field="op_type",
    )


def _graph_ops(model: ModelProto) -> list[tuple[str, str]]:
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
    return list(found)


def _all_nodes(model: ModelProto) -> Iterator[NodeProto]:
    todo: list[Iterable[NodeProto]] = [model.graph.node, *(f.node for f in model.functions)]
    while todo:
        for node in todo.pop():
            yield node
            todo.extend(graph.node for _, graph in subgraphs_of(node))


def _expand(words: Sequence[str]) -> None:
    from onnx import inliner

    model = ModelProto.FromString(sys.stdin.buffer.read())
    keys = list(zip(words[::2], words[1::2], strict=True))
    expanded = inliner.inline_selected_functions(
        model, keys, exclude=False, inline_schema_functions=True
    )
    sys.stdout.buffer.write(expanded.SerializeToString())


if __name__ == "__main__":
    _expand(sys.argv[1:])
