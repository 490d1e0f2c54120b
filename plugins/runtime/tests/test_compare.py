"""Comparing results bit for bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ge_runtime.compare import bit_exact, compare, differing_reads, max_abs_diff
from ge_runtime.machine import Reads

F = np.float32
QUIET = np.array([0x7FC00000], np.uint32).view(F)
OTHER = np.array([0x7FC00001], np.uint32).view(F)


@pytest.mark.parametrize(
    ("a", "b", "exact", "diff"),
    [
        (np.array([1, 2], F), np.array([1, 2], F), True, 0.0),
        (np.array([1, 2], F), np.array([1, 4], F), False, 2.0),
        (np.array([0.0], F), np.array([-0.0], F), False, 0.0),
        (QUIET, QUIET.copy(), True, 0.0),
        (QUIET, OTHER, False, 0.0),
        (QUIET, np.array([1], F), False, float("inf")),
        (np.array([np.inf], F), np.array([np.inf], F), True, 0.0),
        (np.array([1], F), np.array([1], np.float64), False, 0.0),
        (np.array([1], F), np.array([[1]], F), False, None),
        (np.array([], F), np.array([], F), True, 0.0),
        (np.array([1], ml_dtypes.bfloat16), np.array([2], ml_dtypes.bfloat16), False, 1.0),
        (np.array([1 + 1j]), np.array([1 - 1j]), False, 2.0),
        (np.array(["a"], object), np.array(["a"], object), True, None),
        (np.array(["a"], object), np.array(["b"], object), False, None),
        ([np.array([1], F)], [np.array([3], F)], False, 2.0),
        ([np.array([1], F)], [], False, None),
        (None, None, True, None),
        (None, np.array([1], F), False, None),
    ],
)
def test_pairs(a: Any, b: Any, exact: bool, diff: float | None) -> None:
    """Exact means type, shape and every bit; the difference is the largest of two elements."""
    assert exact == bit_exact(a, b)
    assert diff == max_abs_diff(a, b)


def test_outputs_by_name() -> None:
    """Shape and dtype are the first's; a name that only one has is not exact."""
    found = compare({"x": np.ones((2, 3), F), "y": None}, {"x": np.ones((2, 3), F), "z": None})
    assert [
        ("x", (2, 3), "float32", True, 0.0),
        ("y", None, None, False, None),
        ("z", None, None, False, None),
    ] == [(c.name, c.shape, c.dtype, c.bit_exact, c.max_abs_diff) for c in found]


def test_reads_are_compared_where_both_have_them() -> None:
    """Copies that only one run has are left out; another content or number of runs is not."""
    a: Reads = {((), "x", 0): [b"1"], ((), "y", 0): [b"1", b"2"], ((), "gone", 0): [b"1"]}
    b: Reads = {((), "x", 0): [b"1"], ((), "y", 0): [b"1"], ((), "new", 0): [b"1"]}
    assert [((), "y", 0)] == differing_reads(a, b)
