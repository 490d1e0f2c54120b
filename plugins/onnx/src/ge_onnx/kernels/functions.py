"""Element-wise functions that numpy lacks, or that overflow when written naively."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from ge_onnx.kernels.call import Array, Call

_EDGES = (1.0, 2.0, 3.0, 4.5, 6.0)
"""Ends of the pieces on which erf is a polynomial; beyond the last it rounds to one."""


@cache
def _near() -> Array:
    """erf(x)/x as a polynomial of x squared, for |x| up to 1."""
    return _fit(
        lambda s: math.erf(math.sqrt(s)) / math.sqrt(s) if s > 0 else 2 / math.pi**0.5, 0, 1
    )


@cache
def _piece(at: int) -> Array:
    return _fit(math.erf, _EDGES[at], _EDGES[at + 1])


def _fit(function: Any, low: float, high: float) -> Array:
    """Chebyshev coefficients of a function on an interval, to double precision."""

    def on_unit(points: Array) -> Array:
        return np.array([function(low + (high - low) * (p + 1) / 2) for p in points])

    found: Array = chebyshev.chebinterpolate(on_unit, 20)
    return found


def erf_of(data: Array) -> Array:
    """The error function, in double precision."""
    size = np.abs(data.astype(np.float64))
    result = np.ones_like(size)
    near = size <= _EDGES[0]
    square = size[near] ** 2
    result[near] = size[near] * chebyshev.chebval(2 * square - 1, _near())
    for at, (low, high) in enumerate(pairwise(_EDGES)):
        inside = (size > low) & (size <= high)
        if inside.any():
            scaled = 2 * (size[inside] - low) / (high - low) - 1
            result[inside] = chebyshev.chebval(scaled, _piece(at))
    result[np.isnan(size)] = np.nan
    found: Array = np.copysign(result, data.astype(np.float64))
    return found


def erf(call: Call, data: Array) -> Array:
    """Erf."""
    return erf_of(data).astype(data.dtype)


def gelu(call: Call, data: Array) -> Array:
    """Gelu, exact or by tanh."""
    x = data.astype(np.float64)
    if call.get("approximate", "none") == "tanh":
        inner = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    else:
        inner = erf_of(x / math.sqrt(2))
    found: Array = 0.5 * x * (1 + inner)
    return found.astype(data.dtype)


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(x))
    found: Array = np.where(x >= 0, 1, small) / (1 + small)
    return found


def sigmoid(call: Call, data: Array) -> Array:
    """Sigmoid."""
    wide = data.astype(np.float32) if data.dtype.itemsize < 4 else data
    return logistic(wide).astype(data.dtype, copy=False)
