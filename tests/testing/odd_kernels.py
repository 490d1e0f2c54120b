"""Kernels that the traits of their ops fit, and kernels that they don't fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

_numbers = itertools.count()


def twice(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Element by element."""
    return [inputs[0] + inputs[0]]


def cumulative(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Each element is the sum of all before it."""
    return [np.cumsum(inputs[0]).reshape(inputs[0].shape).astype(inputs[0].dtype)]


def spoils(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Uses its input as scratch."""
    result = inputs[0] * 2
    if inputs[0].flags.writeable:
        inputs[0][...] = 0
    return [result]


def window(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Its input's memory."""
    return [None]


def copies(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Something else than its input."""
    return [inputs[0] + 1]


def sum_of_shape(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Looks at the shape."""
    return [np.full(inputs[0].shape, sum(inputs[0].shape), inputs[0].dtype)]


def draws(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Random numbers from the seed."""
    return [np.random.default_rng(ctx.seed).random(inputs[0].shape).astype(inputs[0].dtype)]


def numbers(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """Another number every time."""
    return [np.full(inputs[0].shape, next(_numbers), inputs[0].dtype)]


def too_small(node: Any, inputs: list[Any], ctx: Any) -> list[Any]:
    """A result of another shape."""
    return [inputs[0][:1]]
