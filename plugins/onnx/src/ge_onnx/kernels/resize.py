"""Resize and Upsample: one axis after the other, all positions of it at once.

Coordinates are computed in single precision, as runtimes do: which of two neighbours is the nearest
is decided by the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call


@dataclass
class _Axis:
    """How one axis is resized."""

    size: int
    out: int
    scale: np.float32
    start: float
    end: float


def resize(
    call: Call,
    data: Array,
    roi: Array | None = None,
    scales: Array | None = None,
    sizes: Array | None = None,
) -> Any:
    """Resize since version 11; anti-aliasing is left to the reference."""
    if call.get("antialias", 0):
        return NotImplemented
    axes = [axis % data.ndim for axis in call.get("axes") or range(data.ndim)]
    plan = _plan(call, data, axes, roi, scales, sizes)
    coordinates = call.get("coordinate_transformation_mode", "half_pixel")
    return _apply(call, data, plan, coordinates, call.get("nearest_mode", "round_prefer_floor"))


def upsample(call: Call, data: Array, scales: Array | None = None) -> Array:
    """Upsample, and Resize of version 10: positions divided by the scale, rounded down.

    Where an axis shrinks they are rounded up, as the op's own example does.
    """
    factors = call.get("scales") if scales is None else scales
    plan = {axis: _scaled(data.shape[axis], factor) for axis, factor in enumerate(factors)}
    return _apply(call, data, plan, "asymmetric", "of version 10")


def _scaled(size: int, factor: Any) -> _Axis:
    scale = np.float32(factor)
    return _Axis(size, int(np.floor(np.float32(size) * scale)), scale, 0.0, 1.0)


def _plan(
    call: Call,
    data: Array,
    axes: Sequence[int],
    roi: Array | None,
    scales: Array | None,
    sizes: Array | None,
) -> dict[int, _Axis]:
    if scales is not None and scales.size:
        plan = {
            axis: _scaled(data.shape[axis], factor)
            for axis, factor in zip(axes, scales, strict=True)
        }
    elif sizes is not None:
        wanted = _kept_aspect(call, data, axes, [int(size) for size in sizes])
        plan = {
            axis: _Axis(
                data.shape[axis], out, np.float32(out) / np.float32(data.shape[axis]), 0.0, 1.0
            )
            for axis, out in zip(axes, wanted, strict=True)
        }
    else:
        raise ValueError("neither scales nor sizes are given")
    if roi is not None and roi.size:
        for at, axis in enumerate(axes):
            plan[axis].start = float(roi[at])
            plan[axis].end = float(roi[at + len(axes)])
    return plan


def _kept_aspect(call: Call, data: Array, axes: Sequence[int], sizes: list[int]) -> list[int]:
    policy = call.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes
    ratios = [size / data.shape[axis] for axis, size in zip(axes, sizes, strict=True)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [int(np.floor(ratio * data.shape[axis] + 0.5)) for axis in axes]


def _apply(
    call: Call, data: Array, plan: dict[int, _Axis], coordinates: str, nearest: str
) -> Array:
    mode = call.get("mode", "nearest")
    kind = data.dtype
    result = (
        data if mode == "nearest" else data.astype(np.float64 if kind == np.float64 else np.float32)
    )
    outside: dict[int, Array] = {}
    for axis, how in plan.items():
        places = _coordinates(how, coordinates)
        if coordinates == "tf_crop_and_resize":
            outside[axis] = (places < 0) | (places > how.size - 1)
        if how.size == how.out and np.array_equal(places, np.arange(how.out)):
            continue
        if mode == "nearest":
            result = result.take(_nearest(places, nearest, how), axis)
        elif mode == "linear":
            result = _linear(result, axis, places, how.size)
        elif mode == "cubic":
            result = _cubic(call, result, axis, places, how.size)
        else:
            raise ValueError(f"unknown mode {mode!r}")
    for axis, gone in outside.items():
        shape = [1] * data.ndim
        shape[axis] = -1
        fill = call.get("extrapolation_value", 0.0)
        result = np.where(gone.reshape(shape), np.asarray(fill, result.dtype), result)
    return result.astype(kind, copy=False)


def _coordinates(how: _Axis, mode: str) -> Array:
    """The place in the input of each output position."""
    at = np.arange(how.out, dtype=np.float32)
    size, out, half = np.float32(how.size), np.float32(how.out), np.float32(0.5)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and how.out > 1):
        found = (at + half) / how.scale - half
    elif mode == "pytorch_half_pixel":
        found = np.zeros_like(at)
    elif mode == "half_pixel_symmetric":
        shrink = out / (how.scale * size)
        found = size / 2 * (1 - shrink) + (at + half) / how.scale - half
    elif mode == "asymmetric":
        found = at / how.scale
    elif mode == "tf_half_pixel_for_nn":
        found = (at + half) / how.scale
    elif mode == "align_corners":
        found = at * (size - 1) / (out - 1) if how.out > 1 else np.zeros_like(at)
    elif mode == "tf_crop_and_resize":
        start, end = np.float32(how.start), np.float32(how.end)
        if how.out > 1:
            found = start * (size - 1) + at * (end - start) * (size - 1) / (out - 1)
        else:
            found = np.full_like(at, half * (start + end) * (size - 1))
    else:
        raise ValueError(f"unknown coordinate transformation {mode!r}")
    return np.asarray(found, dtype=np.float32)


def _nearest(places: Array, mode: str, how: _Axis) -> Array:
    if mode == "of version 10":
        mode = "ceil" if how.scale < 1 else "floor"
    if mode == "floor":
        found = np.floor(places)
    elif mode == "ceil":
        found = np.ceil(places)
    elif mode == "round_prefer_ceil":
        found = np.floor(places + np.float32(0.5))
    else:
        found = np.ceil(places - np.float32(0.5))
    picked: Array = np.clip(found, 0, how.size - 1).astype(np.int64)
    return picked


def _linear(data: Array, axis: int, places: Array, size: int) -> Array:
    places = np.clip(places, 0, size - 1)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    share = _along(places - low, axis, data)
    found: Array = data.take(low, axis) * (1 - share) + data.take(high, axis) * share
    return found


def _cubic(call: Call, data: Array, axis: int, places: Array, size: int) -> Array:
    a = np.float32(call.get("cubic_coeff_a", -0.75))
    low = np.floor(places).astype(np.int64)
    s = places - low
    far, near = s + 1, 1 - s
    weights = np.stack(
        [
            ((a * far - 5 * a) * far + 8 * a) * far - 4 * a,
            ((a + 2) * s - (a + 3)) * s * s + 1,
            ((a + 2) * near - (a + 3)) * near * near + 1,
            ((a * (near + 1) - 5 * a) * (near + 1) + 8 * a) * (near + 1) - 4 * a,
        ]
    )
    taps = np.stack([low - 1, low, low + 1, low + 2])
    if call.get("exclude_outside", 0):
        weights = np.where((taps < 0) | (taps >= size), 0, weights)
        weights = weights / weights.sum(axis=0)
    taps = np.clip(taps, 0, size - 1)
    result: Array = data.take(taps[0], axis) * _along(weights[0], axis, data)
    for tap, weight in zip(taps[1:], weights[1:], strict=True):
        result += data.take(tap, axis) * _along(weight, axis, data)
    return result


def _along(values: Array, axis: int, data: Array) -> Array:
    shape = [1] * data.ndim
    shape[axis] = -1
    return values.reshape(shape).astype(data.dtype, copy=False)
