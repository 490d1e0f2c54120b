"""Convolutions, as matrix products over gathered windows."""

from __future__ import annotations

from math import prod

import numpy as np

from ge_onnx.kernels.call import Array, Call
from ge_onnx.kernels.memory import aligned_empty
from ge_onnx.kernels.windows import Windows, windows_of


def conv(call: Call, data: Array, weight: Array, bias: Array | None = None) -> Array:
    """Conv. Types narrower than float32 are computed in float32."""
    kind = data.dtype
    data, weight = _widened(data), _widened(weight)
    group = call.get("group", 1)
    windows = windows_of(call, data.shape, call.get("kernel_shape") or weight.shape[2:])
    if data.shape[1] != weight.shape[1] * group or weight.shape[0] % group:
        raise ValueError(f"weights {weight.shape} in {group} groups for data {data.shape}")
    padded = windows.pad(data, 0)
    if weight.shape[1] == 1:
        result = _depthwise(padded, weight, windows, group)
    else:
        result = _grouped(padded, weight, windows, group)
    if bias is not None:
        result += _widened(bias).reshape(1, -1, *(1 for _ in windows.out))
    return result.astype(kind, copy=False)


def _grouped(padded: Array, weight: Array, windows: Windows, group: int) -> Array:
    """One matrix product per image and group."""
    batch, channels = padded.shape[:2]
    places = prod(windows.out)
    per_group = channels // group
    matrix = weight.reshape(group, weight.shape[0] // group, -1)
    columns = aligned_empty((batch, channels, windows.taps, *windows.out), padded.dtype)
    for tap, place in windows.positions():
        columns[:, :, tap] = padded[(slice(None), slice(None), *place)]
    gathered = columns.reshape(batch, group, per_group * windows.taps, places)
    result: Array = np.matmul(matrix, gathered)
    return result.reshape(batch, weight.shape[0], *windows.out)


def _depthwise(padded: Array, weight: Array, windows: Windows, group: int) -> Array:
    """One input channel per group: a sum of scaled shifts, without gathering anything."""
    multiplier = weight.shape[0] // group
    taps = weight.reshape(weight.shape[0], -1)
    result = np.zeros((padded.shape[0], weight.shape[0], *windows.out), dtype=padded.dtype)
    for tap, place in windows.positions():
        part = padded[(slice(None), slice(None), *place)]
        if multiplier > 1:
            part = np.repeat(part, multiplier, axis=1)
        result += part * taps[:, tap].reshape(1, -1, *(1 for _ in windows.out))
    return result


def conv_transpose(call: Call, data: Array, weight: Array, bias: Array | None = None) -> Array:
    """ConvTranspose: every input element adds a scaled kernel to the output."""
    kind = data.dtype
    data, weight = _widened(data), _widened(weight)
    rank = data.ndim - 2
    group = call.get("group", 1)
    batch, channels = data.shape[:2]
    kernel = tuple(call.get("kernel_shape") or weight.shape[2:])
    strides = tuple(call.get("strides") or [1] * rank)
    dilations = tuple(call.get("dilations") or [1] * rank)
    full = tuple(
        (size - 1) * s + (k - 1) * d + 1
        for size, s, k, d in zip(data.shape[2:], strides, kernel, dilations, strict=True)
    )
    extra, before, out = _transposed_places(call, data.shape[2:], strides, full)
    canvas_size = tuple(
        max(f + e, b + o) for f, e, b, o in zip(full, extra, before, out, strict=True)
    )
    made = weight.shape[1] * group
    windows = Windows(kernel, strides, dilations, (0,) * rank, (0,) * rank, data.shape[2:])
    flat = data.reshape(batch, group, channels // group, -1)
    matrix = weight.reshape(group, channels // group, weight.shape[1], -1)
    canvas = np.zeros((batch, made, *canvas_size), dtype=data.dtype)
    for tap, place in windows.positions():
        part = np.matmul(np.ascontiguousarray(matrix[..., tap].swapaxes(1, 2)), flat)
        canvas[(slice(None), slice(None), *place)] += part.reshape(batch, made, *data.shape[2:])
    crop = tuple(slice(b, b + o) for b, o in zip(before, out, strict=True))
    result = canvas[(slice(None), slice(None), *crop)]
    if bias is not None:
        result = result + _widened(bias).reshape(1, -1, *(1 for _ in out))
    return np.ascontiguousarray(result).astype(kind, copy=False)


def _transposed_places(
    call: Call, sizes: tuple[int, ...], strides: tuple[int, ...], full: tuple[int, ...]
) -> tuple[list[int], list[int], list[int]]:
    """Extra elements behind the canvas, what is cropped before it, and the output's size."""
    rank = len(sizes)
    extra = list(call.get("output_padding") or [0] * rank)
    wanted = call.get("output_shape")
    mode = call.get("auto_pad", "NOTSET")
    same = mode in ("SAME_UPPER", "SAME_LOWER")
    if wanted or same:
        target = (
            list(wanted)[-rank:]
            if wanted
            else [size * s for size, s in zip(sizes, strides, strict=True)]
        )
        before = []
        for size, more, goal in zip(full, extra, target, strict=True):
            total = max(size + more - goal, 0)
            # SAME_UPPER leaves the odd element at the end, everything else at the start.
            before.append(total // 2 if mode == "SAME_UPPER" else total - total // 2)
        return extra, before, target
    pads = [0] * (2 * rank) if mode == "VALID" else call.get("pads") or [0] * (2 * rank)
    out = [
        size + more - first - last
        for size, more, first, last in zip(full, extra, pads[:rank], pads[rank:], strict=True)
    ]
    return extra, list(pads[:rank]), out


def _widened(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.itemsize < 4 else array
