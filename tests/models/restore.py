"""Fill the emptied weights of a `*.stub.onnx` model with seeded random values.

A stub keeps every node, name, shape and dtype of the source model. Floating-point initialisers
above 1 KiB carry no data and the doc string "stub"; their values come from a generator seeded by
the name, scaled by fan-in, so that two runs give the same bytes.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper


def restore(model: onnx.ModelProto) -> onnx.ModelProto:
    """Fill every stub of a model in place, and return it."""
    for tensor, name in _stubs(model.graph):
        dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
        values = _values(name, tuple(tensor.dims), dtype)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return model


def _stubs(graph: onnx.GraphProto) -> Iterator[tuple[onnx.TensorProto, str]]:
    for tensor in graph.initializer:
        if tensor.doc_string == "stub":
            yield tensor, tensor.name
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.doc_string == "stub":
                yield attribute.t, node.output[0]
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _stubs(attribute.g)
            for sub in attribute.graphs:
                yield from _stubs(sub)


def _values(name: str, dims: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if len(dims) <= 1:
        # Biases, scales and variances: positive.
        values = 0.5 + 0.1 * np.abs(random.standard_normal(dims))
    else:
        fan_in = int(np.prod(dims[1:])) if len(dims) > 2 else int(dims[0])
        values = random.standard_normal(dims) / np.sqrt(max(fan_in, 1))
    return np.asarray(values).astype(dtype)


if __name__ == "__main__":
    source, target = sys.argv[1:]
    onnx.save(restore(onnx.load(source)), target)
