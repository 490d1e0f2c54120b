"""Normalisations and softmaxes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call


def batch_normalization(
    call: Call, data: Array, scale: Array, bias: Array, mean: Array, variance: Array
) -> Any:
    """BatchNormalization for inference; training is left to the reference."""
    if call.get("training_mode", 0) or sum(call.outputs) > 1:
        return NotImplemented
    shape = (1, -1, *(1 for _ in data.shape[2:])) if data.ndim > 1 else (-1,)
    if call.version < 9 and not call.get("spatial", 1):
        shape = (1, *data.shape[1:])
    wide = np.float64 if data.dtype == np.float64 else np.float32
    factor = scale.astype(np.float64) / np.sqrt(
        variance.astype(np.float64) + call.get("epsilon", 1e-5)
    )
    offset = bias.astype(np.float64) - mean.astype(np.float64) * factor
    result = data.astype(wide) * factor.astype(wide).reshape(shape)
    result += offset.astype(wide).reshape(shape)
    return result.astype(data.dtype, copy=False)


def group_normalization(call: Call, data: Array, scale: Array, bias: Array) -> Array:
    """GroupNormalization; scale and bias are per group before version 21, per channel since."""
    groups = call.get("num_groups")
    grouped = data.astype(np.float64).reshape(data.shape[0], groups, -1)
    centred = grouped - grouped.mean(axis=2, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + call.get("epsilon", 1e-5))
    normal = (centred / spread).reshape(data.shape)
    if call.version < 21:
        scale = np.repeat(scale, data.shape[1] // groups)
        bias = np.repeat(bias, data.shape[1] // groups)
    shape = (1, -1, *(1 for _ in data.shape[2:]))
    found: Array = normal * scale.reshape(shape) + bias.reshape(shape)
    return found.astype(data.dtype)


def softmax(call: Call, data: Array) -> Array:
    """Softmax of one axis."""
    return _softmax(data, (call.get("axis", -1),))


def softmax_flat(call: Call, data: Array) -> Array:
    """Softmax before version 13: of all axes from one on, taken as one."""
    return _softmax(data, _from_axis(call, data))


def log_softmax(call: Call, data: Array) -> Array:
    """LogSoftmax of one axis."""
    return _log_softmax(data, (call.get("axis", -1),))


def log_softmax_flat(call: Call, data: Array) -> Array:
    """LogSoftmax before version 13."""
    return _log_softmax(data, _from_axis(call, data))


def hardmax_flat(call: Call, data: Array) -> Array:
    """Hardmax before version 13: one 1 per row of the matrix that the axis divides."""
    axis = call.get("axis", 1) % max(data.ndim, 1)
    matrix = data.reshape(prod(data.shape[:axis]), -1)
    result = np.zeros(matrix.shape, dtype=data.dtype)
    result[np.arange(len(matrix)), matrix.argmax(axis=1)] = 1
    return result.reshape(data.shape)


def _from_axis(call: Call, data: Array) -> tuple[int, ...]:
    return tuple(range(call.get("axis", 1) % max(data.ndim, 1), data.ndim))


def _softmax(data: Array, axes: tuple[int, ...]) -> Array:
    if data.size == 0:
        return data.copy()
    wide = _wide(data)
    raised = np.exp(wide - wide.max(axis=axes, keepdims=True))
    found: Array = raised / raised.sum(axis=axes, keepdims=True)
    return found.astype(data.dtype, copy=False)


def _log_softmax(data: Array, axes: tuple[int, ...]) -> Array:
    if data.size == 0:
        return data.copy()
    wide = _wide(data)
    shifted = wide - wide.max(axis=axes, keepdims=True)
    found: Array = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))
    return found.astype(data.dtype, copy=False)


def _wide(data: Array) -> Array:
    return data.astype(np.float32) if data.dtype.itemsize < 4 else data


def local_response(call: Call, data: Array) -> Array:
    """LRN: squares summed over neighbouring channels."""
    size = call.get("size")
    before = (size - 1) // 2
    squares = np.pad(
        np.square(data.astype(np.float64)),
        [(0, 0), (before, size - 1 - before), *((0, 0) for _ in data.shape[2:])],
    )
    total = sum(squares[:, at : at + data.shape[1]] for at in range(size))
    factor = call.get("bias", 1.0) + call.get("alpha", 1e-4) / size * total
    found: Array = data / factor ** call.get("beta", 0.75)
    return found.astype(data.dtype)
