"""Pools: one pass per element of the window, over all windows at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call
from ge_onnx.kernels.windows import Windows, windows_of


def max_pool(call: Call, data: Array) -> Any:
    """MaxPool, with the places of the maxima where they are asked for."""
    windows = windows_of(
        call, data.shape, call.get("kernel_shape"), ceil=bool(call.get("ceil_mode", 0))
    )
    padded = windows.pad(data, _lowest(data.dtype))
    wants_places = len(call.outputs) > 1 and call.outputs[1]
    best: Array | None = None
    winner: Array | None = None
    for tap, place in windows.positions():
        part = padded[(slice(None), slice(None), *place)]
        if best is None:
            best = part.copy()
            winner = np.zeros(best.shape, dtype=np.int64) if wants_places else None
            continue
        if winner is not None:
            winner[part > best] = tap
        np.maximum(best, part, out=best)
    assert best is not None
    if winner is None:
        return best
    return best, _places(call, data, windows, winner)


def _places(call: Call, data: Array, windows: Windows, winner: Array) -> Array:
    """Flat indices into the input of the winning elements."""
    sizes = data.shape[2:]
    taps = np.unravel_index(winner, windows.kernel)
    coordinates = []
    for axis, tap in enumerate(taps):
        first = np.arange(windows.out[axis]) * windows.strides[axis] - windows.before[axis]
        shape = [1] * winner.ndim
        shape[2 + axis] = windows.out[axis]
        coordinates.append(first.reshape(shape) + tap * windows.dilations[axis])
    flat = np.zeros(winner.shape, dtype=np.int64)
    axes = list(range(len(sizes)))
    for axis in reversed(axes) if call.get("storage_order", 0) else axes:
        flat = flat * sizes[axis] + coordinates[axis]
    area = int(np.prod(sizes, dtype=np.int64))
    images = np.arange(data.shape[0] * data.shape[1], dtype=np.int64) * area
    found: Array = flat + images.reshape(data.shape[0], data.shape[1], *(1 for _ in sizes))
    return found


def average_pool(call: Call, data: Array) -> Array:
    """AveragePool; the sum of a window is taken in double precision."""
    windows = windows_of(
        call, data.shape, call.get("kernel_shape"), ceil=bool(call.get("ceil_mode", 0))
    )
    total = _sums(windows.pad(data, 0).astype(np.float64), windows)
    ones = np.ones((1, 1, *data.shape[2:]))
    if call.get("count_include_pad", 0):
        widths = [(0, 0), (0, 0), *zip(windows.before, windows.after, strict=True)]
        ones = np.pad(ones, widths, constant_values=1)
        # Padding that a node declares counts; what a rounded-up last window reaches does not.
        bare = Windows(
            windows.kernel,
            windows.strides,
            windows.dilations,
            (0,) * len(windows.out),
            (0,) * len(windows.out),
            windows.out,
        )
        count = _sums(bare.pad(ones, 0), windows)
    else:
        count = _sums(windows.pad(ones, 0), windows)
    return (total / np.maximum(count, 1)).astype(data.dtype)


def _sums(padded: Array, windows: Windows) -> Array:
    total = np.zeros((*padded.shape[:2], *windows.out), dtype=np.float64)
    for _, place in windows.positions():
        total += padded[(slice(None), slice(None), *place)]
    return total


def global_average_pool(call: Call, data: Array) -> Array:
    """GlobalAveragePool, summed in double precision."""
    axes = tuple(range(2, data.ndim))
    mean: Array = data.mean(axis=axes, keepdims=True, dtype=np.float64)
    return mean.astype(data.dtype)


def global_lp_pool(call: Call, data: Array) -> Array:
    """GlobalLpPool."""
    power = call.get("p", 2)
    axes = tuple(range(2, data.ndim))
    total = (np.abs(data).astype(np.float64) ** power).sum(axis=axes, keepdims=True)
    found: Array = total ** (1.0 / power)
    return found.astype(data.dtype)


def _lowest(dtype: np.dtype[Any]) -> Any:
    """What padding counts as: the smallest finite number, as in runtimes."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return np.finfo(dtype).min if dtype.kind == "f" else -np.inf
