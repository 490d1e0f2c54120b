"""Goes through a graph in order and describes what comes out of every node.

Loops are swept until nothing changes any more: a carried value that changes its shape from turn to
turn ends with the dimensions unknown that change. States only ever lose knowledge and are kept
between sweeps, which bounds the sweeps of nested loops by their number, not by their nesting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TypeProto

from ge_core.api import GeError, Graph, InputFileError, Node, OutputAnchor, TensorDesc
from ge_onnx import ops
from ge_onnx.proto.dtypes import dtype_name, numpy_dtype
from ge_onnx.proto.types import TYPE_ATTR, UNKNOWN, Bindings, type_desc
from ge_onnx.shapes import control
from ge_onnx.shapes.bounds import state_bounds
from ge_onnx.shapes.partial import propagate, refine
from ge_onnx.shapes.schema_types import Data, SchemaTypes
from ge_onnx.shapes.settle import settle
from ge_onnx.shapes.values import Known, Value, constant_value, is_short
from ge_onnx.work import Work, drive

Declared = Mapping[OutputAnchor, TypeProto]


def infer(graph: Graph, declared: Declared, bindings: Bindings) -> None:
    """Describe every output of a loaded graph, subgraphs included.

    Args:
        declared: types that the file claims.
        bindings: sizes of symbolic dimensions.

    Raises:
        InputFileError: types or shapes that an op does not take.
    """
    drive(Sweep(graph, declared, bindings).graph(graph))
    for output, claim in declared.items():
        _check_claim(output, claim)
    settle(graph)


def _check_claim(output: OutputAnchor, claim: TypeProto) -> None:
    """A declared element type that is not what comes out is an error, as it is to runtimes.

    A declared shape is not: exporters write down those of the one example that they saw.
    """
    found = output.desc
    if claim.WhichOneof("value") != "tensor_type" or not claim.tensor_type.elem_type:
        return
    wanted = dtype_name(claim.tensor_type.elem_type)
    if found.dtype not in (wanted, "undefined") or TYPE_ATTR in found.attrs:
        what = "no tensor" if TYPE_ATTR in found.attrs else found.dtype
        raise InputFileError(
            f"value {output.name!r} is declared as {wanted}, what comes out is {what}",
            node=output.node.name,
            field="value_info.type",
        )


class Sweep:
    """The state of inference over one graph and its subgraphs."""

    def __init__(self, graph: Graph, declared: Declared, bindings: Bindings) -> None:
        facts = graph.attrs.get("onnx.model", {})
        self._types = SchemaTypes(int(facts.get("ir_version", 8)))
        self._declared = declared
        self._bindings = bindings
        self.known = Known()
        self.doubtful: set[Graph] = set()
        """Graphs that may never run: branches, and what lies in them."""
        self.states: dict[OutputAnchor, TensorDesc] = {}
        """Of carried values: what holds in every turn so far."""

    def graph(self, graph: Graph) -> Work:
        """Sweep one graph whose Data are described."""
        for node in graph.nodes:
            if node.op == "Const":
                self.known.set(node.outputs[0], constant_value(node))
            elif node.op in ("Data", "NetOutput"):
                continue
            elif node.subgraphs:
                yield control.RULES[node.op](self, node)
            else:
                self._plain(graph, node)

    def describe(self, anchor: OutputAnchor, desc: TensorDesc) -> None:
        """Set a description."""
        assert anchor.node.graph is not None
        anchor.node.graph.set_desc(anchor, desc)

    def _plain(self, graph: Graph, node: Node) -> None:
        inputs = [anchor.source for anchor in node.inputs]
        values = [self.known.get(source) for source in inputs]
        arrays = [value if isinstance(value, np.ndarray) else None for value in values]
        if node.op == "SplitVD" and "size_splits" not in node.attrs and arrays[1] is not None:
            # Sizes that turn out to be fixed: passes read them from the attribute.
            graph.set_attr(node, "size_splits", [int(size) for size in arrays[1].reshape(-1)])
        descs = self._describe_node(graph, node, arrays)
        if descs is None:
            descs = [self._claim(output) for output in node.outputs]
        for output, desc in zip(node.outputs, descs, strict=True):
            if desc.dtype == "undefined" and not desc.attrs:
                claim = self._claim(output)
                desc = claim if claim.attrs else desc.replace(dtype=claim.dtype)
            self.describe(output, desc)
        if node.outputs:
            first = node.outputs[0]
            self.describe(first, refine(node, values, first.desc))
            if node.op in ops.RESHAPES and inputs[0] is not None:
                self.describe(first, first.desc.replace(reuse_input=0))
        if node.op == "Slice":
            state_bounds(graph, node, arrays)
        self._evaluate(node, values)

    def _describe_node(self, graph: Graph, node: Node, arrays: Data) -> list[TensorDesc] | None:
        try:
            return self._types.of(node, arrays)
        except InputFileError:
            if any(a.source is not None and a.source.desc == UNKNOWN for a in node.inputs):
                return [UNKNOWN] * len(node.outputs)
            # A branch for inputs of another rank is no error where it isn't taken.
            if graph not in self.doubtful:
                raise
            return self._types.of(node, arrays, shapes=False)

    def _claim(self, output: OutputAnchor) -> TensorDesc:
        declared = self._declared.get(output)
        if declared is None:
            return UNKNOWN if output.desc.dtype == "undefined" else output.desc
        try:
            return type_desc(declared, self._bindings)
        except InputFileError as error:
            raise InputFileError(
                error.plain_message, node=output.node.name, field=f"value_info.{error.field}"
            ) from error

    def _evaluate(self, node: Node, values: list[Value | None]) -> None:
        for output in node.outputs:
            self.known.set(output, None)
        if len(node.outputs) != 1 or not is_short(node.outputs[0].desc):
            if node.outputs:
                self._note(node.outputs[0], propagate(node, values))
            return
        output = node.outputs[0]
        found = propagate(node, values)
        if not isinstance(found, np.ndarray):
            computed = self._compute(node, values)
            found = found if computed is None else computed
        self._note(output, found)

    def _note(self, output: OutputAnchor, value: Value | None) -> None:
        if isinstance(value, np.ndarray):
            try:
                value = value.astype(numpy_dtype(output.desc.dtype))
            except GeError:
                value = None
        self.known.set(output, value)

    def _compute(self, node: Node, values: list[Value | None]) -> Value | None:
        """The value of a node all of whose inputs are known."""
        arrays: list[np.ndarray[Any, np.dtype[Any]] | None] = []
        for anchor, value in zip(node.inputs, values, strict=True):
            if anchor.source is not None and not isinstance(value, np.ndarray):
                return None
            arrays.append(value if isinstance(value, np.ndarray) else None)
        from ge_onnx.kernels import constant_result

        return constant_result(node, arrays)
