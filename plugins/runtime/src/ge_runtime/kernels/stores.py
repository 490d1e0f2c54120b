"""Ops that update an input in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ge_core.api import KernelContext, Node
from ge_runtime.dtypes import Array
from ge_runtime.kernels.standin import compute as stand_in


def _store(
    node: Node, inputs: list[Any], ctx: KernelContext, change: Callable[[Array, Array], Array]
) -> Sequence[Any]:
    """Put `change(target, value)` into input 0, or answer it where the op writes nothing.

    An op whose output is not marked as input 0 has a result of its own.
    """
    if len(inputs) < 2 or not all(isinstance(value, np.ndarray) for value in inputs[:2]):
        return stand_in(node, inputs, ctx)
    target, value = inputs[:2]
    if (
        value.dtype != target.dtype
        or value.size != target.size
        or tuple(ctx.writes) not in ((), (0,))
    ):
        return stand_in(node, inputs, ctx)
    try:
        result = change(target, value.reshape(target.shape))
    except TypeError:  # a dtype without the operation
        return stand_in(node, inputs, ctx)
    answers: list[Any] = []
    for output in node.outputs:
        fits = output.desc.data_bytes in (None, target.nbytes)
        if output.index not in ctx.aliases and not fits:
            return stand_in(node, inputs, ctx)
        answers.append(None if output.index in ctx.aliases else result)
    if ctx.writes:
        target[...] = result
    return answers


def assign(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Input 0 becomes input 1."""
    return _store(node, inputs, ctx, lambda target, value: value)


def assign_add(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Input 0 grows by input 1."""
    return _store(node, inputs, ctx, np.add)


def assign_sub(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
    """Input 0 shrinks by input 1."""
    return _store(node, inputs, ctx, np.subtract)
