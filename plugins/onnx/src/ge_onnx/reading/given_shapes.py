"""Shapes that the caller gives to inputs whose dimensions a model leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import ModelProto, TypeProto

from ge_core.api import Graph, UnknownNameError, UsageError, near_matches
from ge_onnx import ops


def bind(model: ModelProto, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Sizes of symbolic dimensions that follow from given shapes.

    A name stands for one size everywhere in a graph, unless it is none ("?", "-1") or the given
    shapes themselves give it two.

    Raises:
        UsageError: an unknown input, or a shape that contradicts the input's type.
    """
    types = {info.name: info.type for info in model.graph.input}
    if model.ir_version < 4:
        # Initializers had to be listed as inputs, and were none.
        for tensor in model.graph.initializer:
            types.pop(tensor.name, None)
    found: dict[str, set[int]] = {}
    for name, shape in shapes.items():
        if name not in types:
            raise UnknownNameError(
                f"no input {name!r}",
                near=near_matches(name, types),
                hint="the inputs are " + ", ".join(repr(known) for known in sorted(types)[:20]),
            )
        for symbol, size in _fit(name, types[name], shape):
            found.setdefault(symbol, set()).add(size)
    return {
        symbol: min(sizes)
        for symbol, sizes in found.items()
        if len(sizes) == 1 and symbol.replace(".", "_").isidentifier()
    }


def fix_inputs(graph: Graph, shapes: Mapping[str, Sequence[int]]) -> None:
    """Give the Data of a loaded graph their shapes; noted in the graph attribute `onnx.shapes`."""
    if not shapes:
        return
    for data in graph.data_nodes:
        shape = shapes.get(data.attrs[ops.INPUT_INFO]["name"])
        if shape is not None:
            graph.set_desc(data.outputs[0], data.outputs[0].desc.replace(shape=tuple(shape)))
    graph.set_graph_attr("onnx.shapes", {name: list(shape) for name, shape in shapes.items()})


def _fit(name: str, kind: TypeProto, shape: Sequence[int]) -> list[tuple[str, int]]:
    """(symbol, size) for each dimension of an input that the model names."""
    if kind.WhichOneof("value") != "tensor_type":
        raise UsageError(f"input {name!r} is not a tensor: it has no shape")
    if any(size < 0 for size in shape):
        raise UsageError(f"input {name!r}: negative size in {list(shape)}")
    if not kind.tensor_type.HasField("shape"):
        return []
    dims = kind.tensor_type.shape.dim
    if len(dims) != len(shape):
        raise UsageError(
            f"input {name!r} has {len(dims)} dimensions, the given shape {list(shape)} has "
            f"{len(shape)}"
        )
    for at, (dim, size) in enumerate(zip(dims, shape, strict=True)):
        if dim.HasField("dim_value") and dim.dim_value not in (-1, size):
            raise UsageError(
                f"input {name!r}: dimension {at} is {dim.dim_value} in the model, not {size}"
            )
    return [(dim.dim_param, size) for dim, size in zip(dims, shape, strict=True) if dim.dim_param]
