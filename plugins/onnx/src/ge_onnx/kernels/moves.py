"""Ops that only move data."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call


def identity(call: Call, value: Any) -> Any:
    """Identity, of anything."""
    return list(value) if isinstance(value, list) else value


def concat(call: Call, *parts: Array) -> Array:
    """Concat."""
    return np.concatenate(parts, axis=call.get("axis"))


def flatten(call: Call, data: Array) -> Array:
    """Flatten; of a tensor without elements as well, where numpy can't tell the other size."""
    axis = call.get("axis", 1)
    outer = data.shape[: axis + data.ndim if axis < 0 else axis]
    inner = data.shape[len(outer) :]
    return data.reshape(prod(outer), prod(inner))


def split(call: Call, data: Array, sizes: Array | None = None) -> tuple[Array, ...]:
    """Split: by sizes, else as evenly as the number of outputs allows, the last one smaller."""
    axis, count = call.get("axis", 0), len(call.outputs)
    given = call.node_attrs.get("size_splits") if sizes is None else [int(s) for s in sizes]
    if given is None:
        piece = -(-data.shape[axis] // count)
        edges = [min(at * piece, data.shape[axis]) for at in range(1, count)]
    else:
        edges = [int(edge) for edge in np.cumsum(given)[:-1]]
        if sum(given) != data.shape[axis] or len(given) != count:
            raise ValueError(f"pieces of {list(given)} for {data.shape[axis]} elements")
    return tuple(np.ascontiguousarray(part) for part in np.split(data, edges, axis=axis))
