"""Comparing the results of two runs, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ge_runtime.dtypes import Array
from ge_runtime.machine import Reads
from ge_runtime.values import digest


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output in two runs.

    Attributes:
        shape, dtype: of the first run's; None for what is no tensor.
        bit_exact: same dtype, shape and bytes, NaN payloads included.
        max_abs_diff: largest difference of two elements; infinite where one is a NaN and the other
            is not, None where the two can't be subtracted.
    """

    name: str
    shape: tuple[int, ...] | None
    dtype: str | None
    bit_exact: bool
    max_abs_diff: float | None


def compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Comparison]:
    """Compare outputs by name; one that only one run has is not exact."""
    found = []
    for name in dict.fromkeys((*a, *b)):
        one, other = a.get(name), b.get(name)
        array = one if isinstance(one, np.ndarray) else None
        found.append(
            Comparison(
                name,
                None if array is None else tuple(array.shape),
                None if array is None else str(array.dtype),
                name in a and name in b and bit_exact(one, other),
                max_abs_diff(one, other),
            )
        )
    return found


def bit_exact(a: Any, b: Any) -> bool:
    """Whether two values are the same bytes in the same type and shape."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(bit_exact(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and digest(a) == digest(b)
    return type(a) is type(b) and bool(a == b)


def max_abs_diff(a: Any, b: Any) -> float | None:
    """The largest difference of two elements; None where the two can't be subtracted."""
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return None
        diffs = [max_abs_diff(x, y) for x, y in zip(a, b, strict=True)]
        known = [diff for diff in diffs if diff is not None]
        return max(known, default=0.0) if len(known) == len(diffs) else None
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.shape != b.shape:
        return None
    x, y = _numbers(a), _numbers(b)
    if x is None or y is None:
        return None
    with np.errstate(all="ignore"):
        diff = np.abs(x - y)
    # Two equal infinities differ by NaN, and so do two NaNs; one NaN alone is infinitely far.
    diff = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, diff)
    diff = np.where(np.isnan(diff), np.inf, diff)
    return float(diff.max()) if diff.size else 0.0


def _numbers(array: Array) -> Array | None:
    if array.dtype.kind == "O":
        return None
    return array if array.dtype.kind == "c" else array.astype(np.float64)


def differing_reads(a: Reads, b: Reads) -> list[tuple[tuple[str, ...], str, int]]:
    """Inputs (call path, origin, input) that held something else in the other run.

    Nodes that only one run has are left out: a pass may add and remove copies.
    """
    return [key for key, seen in a.items() if key in b and b[key] != seen]
