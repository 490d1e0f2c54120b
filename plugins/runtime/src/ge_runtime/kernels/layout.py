"""Joins, splits and slices: ops that only move data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ge_core.api import InputAnchor, KernelContext, Node, TensorDesc
from ge_runtime.dtypes import Array, Bytes, from_storage
from ge_runtime.kernels.standin import compute as stand_in
from ge_runtime.kernels.standin import storage_of

_JOIN_AXIS = ("concat_dim", "axis", "dim")
_SPLIT_AXIS = ("split_dim", "axis", "dim")


def join(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Concatenation along the declared axis.

    Where the operands don't fit along it (the axis is one of the original shape, the tensors have
    another layout), the only axis along which they do is taken; where there is none their bytes
    are put one behind the other.
    """
    parts = [(anchor, value) for anchor, value in zip(node.inputs, inputs, strict=True)]
    axis = declared_axis(node, _JOIN_AXIS)
    tensors = [(a, v) for a, v in parts if not _is_axis_input(node, a, v)]
    if len(tensors) < len(parts):
        given = next(v for a, v in parts if _is_axis_input(node, a, v))
        axis = int(np.asarray(given).reshape(-1)[0])
    arrays = [value for _, value in tensors if isinstance(value, np.ndarray)]
    desc = node.outputs[0].desc
    at = fitting_axis([array.shape for array in arrays], desc.shape, axis)
    if at is not None:
        return [np.concatenate(arrays, axis=at)]
    return [_flat(_all_bytes(tensors), 0, desc)]


def pack(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Stacking along a new axis; bytes one behind the other where the shapes don't fit."""
    arrays = [value for value in inputs if isinstance(value, np.ndarray)]
    desc = node.outputs[0].desc
    axis = declared_axis(node, ("axis",)) or 0
    if arrays and all(array.shape == arrays[0].shape for array in arrays):
        rank = arrays[0].ndim + 1
        if -rank <= axis < rank:
            stacked = np.stack(arrays, axis=axis)
            if desc.shape is None or fits(stacked.shape, desc.shape):
                return [stacked]
    return [_flat(_all_bytes(list(zip(node.inputs, inputs, strict=True))), 0, desc)]


def split(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Pieces along the declared axis, with the sizes that the outputs declare.

    Chooses the axis as `join` does; without a fitting one it cuts the bytes.
    """
    source = _split_source(node, inputs)
    value = inputs[source]
    descs = [output.desc for output in node.outputs]
    axis = declared_axis(node, _SPLIT_AXIS)
    shapes = _piece_shapes(node, value, axis)
    at = fitting_axis(shapes, value.shape, axis)
    if at is not None:
        ends = np.cumsum([shape[at] for shape in shapes])
        return list(np.split(value, ends[:-1].tolist(), axis=at))
    raw = storage_of(value, node.inputs[source].desc)
    starts = [0]
    for desc in descs:
        starts.append(starts[-1] + (desc.data_bytes or 0))
    return [_flat(raw, start, desc) for start, desc in zip(starts, descs, strict=False)]


def cut(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A window: offsets and sizes from inputs 1 and 2, or from attributes."""
    offsets, sizes = node.attrs.get("offsets"), node.attrs.get("size")
    if len(inputs) >= 3 and inputs[1] is not None and inputs[2] is not None:
        offsets, sizes = inputs[1].reshape(-1).tolist(), inputs[2].reshape(-1).tolist()
    value = inputs[0] if inputs else None
    if offsets is None or sizes is None or value is None or len(offsets) != value.ndim:
        return stand_in(node, inputs, ctx)
    window = tuple(
        slice(start, None if size < 0 else start + size)
        for start, size in zip(offsets, sizes, strict=True)
    )
    result = value[window]
    shape = node.outputs[0].desc.shape
    return [result] if shape is None or fits(result.shape, shape) else stand_in(node, inputs, ctx)


def declared_axis(node: Node, names: Sequence[str]) -> int | None:
    """The axis that the node's attributes name; None where they name none."""
    for name in names:
        value = node.attrs.get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def fits(shape: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    """Whether a shape is a declared one, whose dimensions may be open."""
    return len(shape) == len(declared) and all(
        want in (-1, dim) for dim, want in zip(shape, declared, strict=True)
    )


def fitting_axis(
    pieces: Sequence[tuple[int, ...]], whole: tuple[int, ...] | None, declared: int | None
) -> int | None:
    """The axis along which the pieces make up the whole, the declared one first; None for none."""
    if not pieces:
        return None
    rank = len(pieces[0])
    axes = list(range(rank))
    if declared is not None and -rank <= declared < rank:
        axes.insert(0, declared % rank)
    return next((axis for axis in axes if _joins_along(pieces, whole, axis)), None)


def _joins_along(
    pieces: Sequence[tuple[int, ...]], whole: tuple[int, ...] | None, axis: int
) -> bool:
    first = pieces[0]
    for shape in pieces:
        if len(shape) != len(first):
            return False
        if any(a != b for at, (a, b) in enumerate(zip(shape, first, strict=True)) if at != axis):
            return False
    joined = (*first[:axis], sum(shape[axis] for shape in pieces), *first[axis + 1 :])
    return whole is None or fits(joined, whole)


def _is_axis_input(node: Node, anchor: InputAnchor, value: Any) -> bool:
    """Concat's axis comes first, ConcatV2's last, as a scalar integer beside tensors of a rank."""
    place = {"Concat": 0, "ConcatV2": len(node.inputs) - 1}.get(node.op)
    if anchor.index != place or not isinstance(value, np.ndarray):
        return False
    others = [other.desc for other in node.inputs if other is not anchor]
    return (
        value.dtype.kind in "iu"
        and value.size == 1
        and value.ndim == 0
        and bool(others)
        and all(desc is not None and desc.shape != () for desc in others)
    )


def _split_source(node: Node, inputs: list[Any]) -> int:
    """Split's axis comes before the tensor (as in TensorFlow), the others' arguments behind it."""
    if node.op == "Split" and len(inputs) == 2 and np.ndim(inputs[0]) == 0:
        return 1
    return 0


def _piece_shapes(node: Node, value: Array, axis: int | None) -> list[tuple[int, ...]]:
    """Declared shapes of the outputs; where they are open, equal shares of the axis."""
    shapes = []
    for output in node.outputs:
        shape = output.desc.shape
        if shape is None or any(dim < 0 for dim in shape):
            at = (axis or 0) % max(1, value.ndim)
            sizes = node.attrs.get("size_splits")
            share = sizes[output.index] if sizes else value.shape[at] // len(node.outputs)
            shape = (*value.shape[:at], int(share), *value.shape[at + 1 :])
        shapes.append(shape)
    return shapes


def _all_bytes(parts: Sequence[tuple[InputAnchor, Any]]) -> Bytes:
    pieces = [storage_of(value, anchor.desc) for anchor, value in parts]
    return np.concatenate(pieces) if pieces else np.empty(0, np.uint8)


def _flat(raw: Bytes, start: int, desc: TensorDesc) -> Array:
    """Bytes from `start` on as a tensor of that description, zeros where they end early."""
    size = desc.data_bytes
    if size is None:
        return raw[start:]
    padded = np.zeros(size, np.uint8)
    piece = raw[start : start + size]
    padded[: piece.size] = piece
    shape = desc.shape or ()
    assert prod(shape) == desc.elements
    return from_storage(padded, desc.dtype, shape)
