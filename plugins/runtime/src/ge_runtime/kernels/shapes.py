"""Transposes, and ops whose result is their input in another shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ge_core.api import KernelContext, Node
from ge_runtime.dtypes import Array, numpy_dtype
from ge_runtime.kernels.layout import fits
from ge_runtime.kernels.standin import compute as stand_in


def transpose(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Axes in the order of `perm`, an attribute or input 1; the stand-in's where neither fits."""
    value = inputs[0] if inputs else None
    if not isinstance(value, np.ndarray) or len(node.outputs) != 1:
        return stand_in(node, inputs, ctx)
    perm: Any = node.attrs.get("perm")
    if perm is None and len(inputs) == 2 and isinstance(inputs[1], np.ndarray):
        perm = inputs[1].reshape(-1).tolist()
    if not isinstance(perm, (list, tuple)) or sorted(map(str, perm)) != sorted(
        map(str, range(value.ndim))
    ):
        return stand_in(node, inputs, ctx)
    return _answer(node, inputs, ctx, np.ascontiguousarray(np.transpose(value, perm)))


def reshape(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The elements of input 0 in the declared shape, of which one dimension may be open."""
    value = inputs[0] if inputs else None
    if not isinstance(value, np.ndarray) or len(node.outputs) != 1:
        return stand_in(node, inputs, ctx)
    shape = node.outputs[0].desc.shape
    if (shape is None or shape.count(-1) > 1) and node.op == "Reshape" and len(inputs) == 2:
        shape = _asked(inputs[1])
    if shape is None or not _holds(shape, value.size):
        return stand_in(node, inputs, ctx)
    return _answer(node, inputs, ctx, value.reshape(shape))


def _asked(value: Any) -> tuple[int, ...] | None:
    """The shape that a Reshape is given; GE reads a zero as "as before", which is left alone."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
        return None
    shape = tuple(value.reshape(-1).tolist())
    return None if 0 in shape else shape


def _holds(shape: tuple[int, ...], size: int) -> bool:
    known = prod(dim for dim in shape if dim >= 0)
    if shape.count(-1) == 0:
        return known == size and all(dim >= 0 for dim in shape)
    return shape.count(-1) == 1 and known > 0 and size % known == 0


def _answer(node: Node, inputs: list[Any], ctx: KernelContext, result: Array) -> Sequence[Any]:
    """The result, if it is what the node declares; else the stand-in's."""
    desc = node.outputs[0].desc
    if ctx.writes or desc.dtype == "undefined" or result.dtype != numpy_dtype(desc.dtype):
        return stand_in(node, inputs, ctx)
    if desc.shape is not None and not fits(result.shape, desc.shape):
        return stand_in(node, inputs, ctx)
    return [result]
