"""Joins of many operands cost passes steps that grow with their edges, not with pairs of joins."""

from __future__ import annotations

import pytest

import ge_core as ge
from benchmarks.joins import build


def pairs_asked(result: ge.Result) -> int:
    """Pairs of anchors that layout rules were asked about."""
    return sum(run.counters.get("pairs_asked", 0) for run in result.passes)


@pytest.mark.parametrize("shape", ["prefixes", "windows", "nested"])
def test_no_pair_of_joins_of_one_tensor_is_asked_about(shape: str) -> None:
    """A tensor that many joins have: who placed them has answered for each two of them."""
    result = ge.compile(build(shape, 400, 40, 40), level="O4", objective="copies")
    assert result.after.total.count < result.before.total.count
    assert pairs_asked(result) == 0
