"""Slices as byte ranges: cuts along one axis after the other."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ge_core.ir import Node, TensorDesc
from ge_core.ir.dtypes import bits
from ge_core.proof.literals import constant_ints
from ge_core.proof.pieces import is_plain


@dataclass(frozen=True, slots=True)
class Window:
    """One step of a slice: of each of `rows` rows of `pitch` bytes, those from `start` on."""

    start: int
    row: int
    pitch: int
    rows: int


def slice_windows(node: Node) -> list[Window] | None:
    """A slice as cuts along one axis after the other, the outermost first."""
    if not node.inputs or node.inputs[0].desc is None:
        return None
    source, out = node.inputs[0].desc, node.outputs[0].desc
    ranges = _slice_ranges(node, source)
    width = bits(source.dtype)
    if ranges is None or width is None or width % 8 or not source.is_static:
        return None
    if not (is_plain(source) and is_plain(out)) or source.dtype != out.dtype:
        return None
    shape = list(source.shape or ())
    if out.shape != tuple(high - low for low, high in ranges):
        return None
    windows: list[Window] = []
    for axis, (low, high) in enumerate(ranges):
        inner = prod(shape[axis + 1 :]) * width // 8
        if (low, high) != (0, shape[axis]):
            rows = prod(shape[:axis])
            windows.append(Window(low * inner, (high - low) * inner, shape[axis] * inner, rows))
            shape[axis] = high - low
    return windows


def _slice_ranges(node: Node, source: TensorDesc) -> list[tuple[int, int]] | None:
    """[low, high) per axis; None where it isn't known or steps over elements."""
    shape = source.shape
    if shape is None:
        return None
    if not _is_onnx(node):
        return _ge_slice(node, shape)
    given = _onnx_slice(node)
    if given is None:
        # What the frontend worked out of computed bounds is a fact of the graph, as shapes are.
        return _stated(node.attrs.get("offsets"), node.attrs.get("size"), shape)
    ranges = [(0, dim) for dim in shape]
    starts, ends, axes, steps = given
    if not len(starts) == len(ends) == len(axes) == len(steps):
        return None
    for low, high, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step != 1 or not -len(shape) <= axis < len(shape):
            return None
        dim = shape[axis]
        low = min(max(low + dim if low < 0 else low, 0), dim)
        high = min(max(high + dim if high < 0 else high, low), dim)
        ranges[axis] = (low, high)
    return ranges


def _is_onnx(node: Node) -> bool:
    return node.graph is not None and node.graph.source == "onnx"


def _onnx_slice(node: Node) -> tuple[list[int], list[int], list[int], list[int]] | None:
    attrs = node.attrs
    if "onnx.starts" in attrs and "onnx.ends" in attrs:
        starts, ends = list(attrs["onnx.starts"]), list(attrs["onnx.ends"])
        axes = list(attrs.get("onnx.axes", range(len(starts))))
        return starts, ends, axes, [1] * len(starts)
    low, high = constant_ints(node, 1), constant_ints(node, 2)
    if low is None or high is None:
        return None
    axes_given = _optional_ints(node, 3, list(range(len(low))))
    steps = _optional_ints(node, 4, [1] * len(low))
    if axes_given is None or steps is None:
        return None
    return low, high, axes_given, steps


def _optional_ints(node: Node, at: int, default: list[int]) -> list[int] | None:
    if at >= len(node.inputs) or node.inputs[at].source is None:
        return default
    return constant_ints(node, at)


def _ge_slice(node: Node, shape: tuple[int, ...]) -> list[tuple[int, int]] | None:
    offsets, sizes = node.attrs.get("offsets"), node.attrs.get("size")
    if len(node.inputs) >= 3:
        offsets, sizes = constant_ints(node, 1), constant_ints(node, 2)
    return _stated(offsets, sizes, shape)


def _stated(offsets: object, sizes: object, shape: tuple[int, ...]) -> list[tuple[int, int]] | None:
    if not isinstance(offsets, list) or not isinstance(sizes, list):
        return None
    if len(offsets) != len(shape) or len(sizes) != len(shape):
        return None
    ranges = []
    for low, size, dim in zip(offsets, sizes, shape, strict=True):
        high = dim if size < 0 else low + size
        if not 0 <= low <= high <= dim:
            return None
        ranges.append((low, high))
    return ranges
