"""Quantisation in the versions that the reference lacks, and scatters of old."""

from __future__ import annotations

import numpy as np

from ge_onnx.kernels.call import Array, Call


def dequantize(call: Call, data: Array, scale: Array, zero: Array | None = None) -> Array:
    """DequantizeLinear before version 19: per tensor or per axis."""
    if scale.size > 1:
        axis = call.get("axis", 1) % data.ndim
        shape = [1] * data.ndim
        shape[axis] = -1
        scale = scale.reshape(shape)
        zero = None if zero is None else zero.reshape(shape)
    else:
        scale = scale.reshape(())
        zero = None if zero is None else zero.reshape(())
    wide = data.astype(np.int64)
    if zero is not None:
        wide = wide - zero.astype(np.int64)
    found: Array = wide.astype(np.float32) * scale
    return found.astype(np.float32, copy=False)


def scatter(call: Call, data: Array, indices: Array, updates: Array) -> Array:
    """Scatter, which became ScatterElements."""
    axis = call.get("axis", 0)
    result = data.copy()
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[axis] = np.where(indices < 0, indices + data.shape[axis], indices)
    result[tuple(places)] = updates
    return result
