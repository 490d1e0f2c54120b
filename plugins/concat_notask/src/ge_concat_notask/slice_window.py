"""Which bytes of its input a slice gives: from numbers that are known when compiling."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from ge_core.api import Node, Piece, TensorDesc, bits

SLICES: Final = ("Slice", "SliceD")
"""Types of op that cut one box out of a tensor."""

_NUMBERS: Final = {"int32": 4, "int64": 8}
_MOST_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Box:
    """What a slice takes of each axis: from `low` up to `high`, every `step`-th."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    step: tuple[int, ...]


def box_of(node: Node) -> Box | None:
    """The box of a slice; None where its bounds are not known, or make no sense."""
    source = node.inputs[0].desc if node.inputs else None
    if source is None or source.shape is None or not source.is_static:
        return None
    if node.graph is not None and node.graph.source == "onnx":
        return _onnx_box(node, source.shape)
    return _ge_box(node, source.shape)


def piece_of(node: Node, box: Box) -> Piece | None:
    """Where the result of a slice of step one lies in its input, as rows of bytes.

    None where that takes more than one run of equally spaced rows, or rows end within a byte.
    """
    source = node.inputs[0].desc
    assert source is not None
    shape = source.shape
    width = bits(source.dtype)
    assert shape is not None
    if width is None:
        return None
    sizes = [high - low for low, high in zip(box.low, box.high, strict=True)]
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    # Inside the innermost axis that is cut, everything is taken.
    inner = max((axis for axis, size in enumerate(sizes) if size != shape[axis]), default=0)
    counting = [axis for axis in range(inner) if sizes[axis] != 1]
    split = counting[-1] + 1 if counting else 0
    if counting and any(sizes[a] != shape[a] for a in range(counting[0] + 1, split)):
        return None  # rows would not be equally spaced
    row = prod(sizes[split:]) * width
    pitch = steps[split - 1] * width if counting else row
    start = sum(low * step for low, step in zip(box.low, steps, strict=True)) * width
    if start % 8 or row % 8 or pitch % 8:
        return None
    return Piece(start // 8, row // 8, pitch // 8, prod(sizes[:split]))


def is_plain(desc: TensorDesc) -> bool:
    """Whether a tensor is stored as its origin shape says, axis by axis."""
    return desc.format == desc.origin_format and desc.shape == desc.origin_shape


def _onnx_box(node: Node, shape: tuple[int, ...]) -> Box | None:
    given = _onnx_bounds(node)
    if given is None:
        # Computed, but the frontend found them fixed.
        return _stated_box(node.attrs.get("offsets"), node.attrs.get("size"), shape)
    starts, ends, axes, steps = given
    if not len(starts) == len(ends) == len(axes) == len(steps):
        return None
    low, high, step = [0] * len(shape), list(shape), [1] * len(shape)
    for start, end, axis, by in zip(starts, ends, axes, steps, strict=True):
        at = axis + len(shape) if axis < 0 else axis
        if not 0 <= at < len(shape) or by == 0:
            return None
        step[at] = by
        if by != 1:
            continue
        low[at] = _clamped(start, shape[at])
        high[at] = max(_clamped(end, shape[at]), low[at])
    return Box(tuple(low), tuple(high), tuple(step))


def _clamped(bound: int, size: int) -> int:
    return min(max(bound + size if bound < 0 else bound, 0), size)


def _onnx_bounds(node: Node) -> tuple[list[int], list[int], list[int], list[int]] | None:
    attrs = node.attrs
    if "onnx.starts" in attrs and "onnx.ends" in attrs:
        starts, ends = list(attrs["onnx.starts"]), list(attrs["onnx.ends"])
        return starts, ends, list(attrs.get("onnx.axes", range(len(starts)))), [1] * len(starts)
    found_starts, found_ends = _ints(node, 1), _ints(node, 2)
    if found_starts is None or found_ends is None:
        return None
    count = len(found_starts)
    axes = _ints(node, 3) if _is_given(node, 3) else list(range(count))
    steps = _ints(node, 4) if _is_given(node, 4) else [1] * count
    if axes is None or steps is None:
        return None
    return found_starts, found_ends, axes, steps


def _ge_box(node: Node, shape: tuple[int, ...]) -> Box | None:
    offsets, sizes = node.attrs.get("offsets"), node.attrs.get("size")
    if len(node.inputs) >= 3:
        offsets, sizes = _ints(node, 1), _ints(node, 2)
    return _stated_box(offsets, sizes, shape)


def _stated_box(offsets: object, sizes: object, shape: tuple[int, ...]) -> Box | None:
    if not isinstance(offsets, (list, tuple)) or not isinstance(sizes, (list, tuple)):
        return None
    if len(offsets) != len(shape) or len(sizes) != len(shape):
        return None
    # A size of -1 goes up to the end.
    ends = [
        dim if size < 0 else low + size
        for low, size, dim in zip(offsets, sizes, shape, strict=True)
    ]
    if not all(0 <= low <= end <= dim for low, end, dim in zip(offsets, ends, shape, strict=True)):
        return None
    return Box(tuple(offsets), tuple(ends), (1,) * len(shape))


def _is_given(node: Node, at: int) -> bool:
    return at < len(node.inputs) and node.inputs[at].source is not None


def _ints(node: Node, at: int) -> list[int] | None:
    """The whole numbers of a constant that feeds an input."""
    source = node.inputs[at].source if at < len(node.inputs) else None
    value = None if source is None else source.node.value
    if source is None or value is None or value.nbytes > _MOST_BYTES:
        return None
    size = _NUMBERS.get(source.desc.dtype)
    if size is None:
        return None
    data = value.read()
    starts = range(0, len(data), size)
    return [int.from_bytes(data[start : start + size], "little", signed=True) for start in starts]
