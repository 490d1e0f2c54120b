"""Simple ops with their real arithmetic where types and shapes fit, the stand-in where not.

Graphs from GE often carry runtime layouts in which an op's plain arithmetic means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ge_core.api import KernelContext, Node
from ge_runtime.dtypes import Array, numpy_dtype
from ge_runtime.kernels.layout import fits
from ge_runtime.kernels.standin import compute as stand_in


def _fitting(node: Node, inputs: list[Any], count: int) -> list[Array] | None:
    """The inputs as arrays of numbers of one dtype, if there are that many of them."""
    arrays = [value for value in inputs if isinstance(value, np.ndarray)]
    if len(arrays) != len(inputs) or len(arrays) != count or len(node.outputs) != 1:
        return None
    dtype = arrays[0].dtype
    if dtype.kind == "O" or any(array.dtype != dtype for array in arrays):
        return None
    return arrays


def _answer(node: Node, inputs: list[Any], ctx: KernelContext, result: Array) -> Sequence[Any]:
    """The result, if it is what the node declares; else the stand-in's."""
    desc = node.outputs[0].desc
    # The executor puts the answer where it belongs, also where that is an input's memory.
    is_update = tuple(ctx.aliases.values()) == tuple(ctx.writes)
    if not is_update or result.dtype != numpy_dtype(desc.dtype):
        return stand_in(node, inputs, ctx)
    if desc.shape is not None and not fits(result.shape, desc.shape):
        return stand_in(node, inputs, ctx)
    return [result]


def _elementwise(
    node: Node,
    inputs: list[Any],
    ctx: KernelContext,
    count: int,
    function: Callable[..., Array],
) -> Sequence[Any]:
    arrays = _fitting(node, inputs, count)
    if arrays is None or arrays[0].dtype.kind == "b":
        return stand_in(node, inputs, ctx)
    try:
        result = function(*arrays)
    except (ValueError, TypeError):  # shapes that don't broadcast, dtypes without the operation
        return stand_in(node, inputs, ctx)
    return _answer(node, inputs, ctx, np.asarray(result))


def relu(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Negative numbers become zero."""
    return _elementwise(node, inputs, ctx, 1, _without_negatives)


def _without_negatives(values: Array) -> Array:
    # Of 4-bit numbers the maximum comes in a wider dtype, though it always fits theirs.
    positive: Array = np.maximum(values, np.zeros((), values.dtype))
    return positive.astype(values.dtype, copy=False)


def add(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A sum of two."""
    return _elementwise(node, inputs, ctx, 2, np.add)


def sub(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A difference."""
    return _elementwise(node, inputs, ctx, 2, np.subtract)


def mul(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A product."""
    return _elementwise(node, inputs, ctx, 2, np.multiply)


def div(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A quotient; of integers the stand-in's, as GE's roundings differ by op."""
    return _elementwise(node, inputs, ctx, 2, np.divide)


def maximum(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The larger of two."""
    return _elementwise(node, inputs, ctx, 2, np.maximum)


def minimum(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The smaller of two."""
    return _elementwise(node, inputs, ctx, 2, np.minimum)


def absolute(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Without the sign."""
    return _elementwise(node, inputs, ctx, 1, np.abs)


def exp(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The exponential."""
    return _elementwise(node, inputs, ctx, 1, np.exp)


def neg(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """With the other sign."""
    return _elementwise(node, inputs, ctx, 1, np.negative)


def log(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The natural logarithm."""
    return _elementwise(node, inputs, ctx, 1, np.log)


def power(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The first to the power of the second; of integers the stand-in's for negative powers."""
    return _elementwise(node, inputs, ctx, 2, np.power)


def reciprocal(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """1 / x; of integers the stand-in's."""
    return _elementwise(node, inputs, ctx, 1, lambda x: np.divide(np.ones((), x.dtype), x))


def rsqrt(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """1 / sqrt(x)."""
    return _elementwise(node, inputs, ctx, 1, lambda x: np.divide(np.ones((), x.dtype), np.sqrt(x)))


def sigmoid(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """1 / (1 + exp(-x)), in the input's own type."""

    def logistic(x: Array) -> Array:
        one = np.ones((), x.dtype)
        result: Array = one / (one + np.exp(-x))
        return result

    return _elementwise(node, inputs, ctx, 1, logistic)


def sqrt(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The square root."""
    return _elementwise(node, inputs, ctx, 1, np.sqrt)


def square(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The square."""
    return _elementwise(node, inputs, ctx, 1, np.square)


def tanh(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The hyperbolic tangent."""
    return _elementwise(node, inputs, ctx, 1, np.tanh)


def add_n(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A sum of all inputs, from the first on."""

    def total(first: Array, *others: Array) -> Array:
        for other in others:
            first = np.add(first, other)
        return first

    return _elementwise(node, inputs, ctx, len(inputs), total) if inputs else []


def less(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Whether the first is smaller, element by element."""
    return _elementwise(node, inputs, ctx, 2, np.less)


def less_equal(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Whether the first is not larger, element by element."""
    return _elementwise(node, inputs, ctx, 2, np.less_equal)


def greater(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Whether the first is larger, element by element."""
    return _elementwise(node, inputs, ctx, 2, np.greater)


def greater_equal(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Whether the first is not smaller, element by element."""
    return _elementwise(node, inputs, ctx, 2, np.greater_equal)


def equal(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Whether two are equal, element by element."""
    return _elementwise(node, inputs, ctx, 2, np.equal)


def not_equal(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Whether two differ, element by element."""
    return _elementwise(node, inputs, ctx, 2, np.not_equal)


def mat_mul(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """A matrix product, with `transpose_x1` and `transpose_x2`; a third input is a bias."""

    def product(a: Array, b: Array, bias: Array | None = None) -> Array:
        if node.attrs.get("transpose_x1"):
            a = np.swapaxes(a, -1, -2)
        if node.attrs.get("transpose_x2"):
            b = np.swapaxes(b, -1, -2)
        result: Array = np.matmul(a, b)
        return result if bias is None else np.add(result, bias)

    if len(inputs) not in (2, 3) or any(np.ndim(value) < 2 for value in inputs[:2]):
        return stand_in(node, inputs, ctx)
    return _elementwise(node, inputs, ctx, len(inputs), product)


def cast(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Another element type."""
    desc = node.outputs[0].desc if node.outputs else None
    if desc is None or desc.dtype in ("string", "undefined"):
        return stand_in(node, inputs, ctx)
    return _elementwise(node, inputs, ctx, 1, lambda x: x.astype(numpy_dtype(desc.dtype)))


def top_k(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """The k largest of the last axis with their places, where k and the outputs fit together."""
    if len(inputs) != 2 or len(node.outputs) != 2 or not isinstance(inputs[0], np.ndarray):
        return stand_in(node, inputs, ctx)
    values, count = inputs
    indices_desc = node.outputs[1].desc
    if values.dtype.kind not in "fi" or indices_desc.dtype not in ("int32", "int64"):
        return stand_in(node, inputs, ctx)
    if np.size(count) != 1 or not values.ndim:
        return stand_in(node, inputs, ctx)
    k = int(np.reshape(count, -1)[0])
    if not 0 <= k <= values.shape[-1]:
        return stand_in(node, inputs, ctx)
    order = np.argsort(-values, axis=-1, kind="stable")[..., :k]
    results = [np.take_along_axis(values, order, axis=-1)]
    results.append(order.astype(numpy_dtype(indices_desc.dtype)))
    for output, result in zip(node.outputs, results, strict=True):
        shape = output.desc.shape
        if result.dtype != numpy_dtype(output.desc.dtype) or (
            shape and not fits(result.shape, shape)
        ):
            return stand_in(node, inputs, ctx)
    return results
