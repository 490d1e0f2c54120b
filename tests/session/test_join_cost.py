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


def placement(result: ge.Result) -> dict[str, int]:
    """What the placement of whole graphs counted."""
    return dict(next(r.counters for r in result.passes if r.name == "TensorPlacementPass"))


@pytest.mark.parametrize("shape", ["one_operand", "competing", "cut_and_joined"])
def test_placing_a_graph_as_a_whole_takes_steps_that_grow_with_it(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once more tensors want one place than can be looked at closely, and without exact search."""
    monkeypatch.setattr("ge_concat_notask.tensor_placement.GRAPH_TURNS", 300)
    monkeypatch.setattr("ge_concat_notask.tensor_placement.GRAPH_STEPS", 0)
    monkeypatch.setattr("ge_concat_notask.placement.choose.MOST_RETRIES", 0)
    small, large = (
        placement(ge.compile(build(shape, joins * 10, joins, 40), level="O4", objective="copies"))
        for joins in (200, 400)
    )
    assert 0 < large["steps"] <= 2.5 * small["steps"]


def test_a_crowded_place_costs_bytes_and_says_how_many_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few pairs looked at closely: more is copied, never more than before, and it is told."""
    close = ge.compile(build("one_operand", 300, 30, 40), level="O4", objective="copies")
    monkeypatch.setattr("ge_concat_notask.tensor_placement.GRAPH_TURNS", 20)
    crowded = ge.compile(build("one_operand", 300, 30, 40), level="O4", objective="copies")
    assert placement(close)["unproved"] == 0 and placement(crowded)["unproved"] == 1
    assert close.after.total.bytes < crowded.after.total.bytes < crowded.before.total.bytes
    lost = crowded.after.total.bytes - close.after.total.bytes
    assert lost <= placement(crowded)["bytes_at_most"]
    assert crowded.proof is not None and crowded.proof.ok


@pytest.mark.parametrize("shape", ["competing", "one_operand", "cut_and_joined", "windows"])
def test_settling_distances_first_loses_no_more_than_is_told(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in large groups, without the exact search: proved, and within the bound of the optimum."""
    best = ge.compile(build(shape, 200, 20, 10), level="O4", objective="copies")
    monkeypatch.setattr("ge_concat_notask.placement.choose.LARGE", 0)
    monkeypatch.setattr("ge_concat_notask.tensor_placement.GRAPH_STEPS", 0)
    quick = ge.compile(build(shape, 200, 20, 10), level="O4", objective="copies")
    assert quick.proof is not None and quick.proof.ok
    lost = quick.after.total.bytes - best.after.total.bytes
    assert 0 <= lost <= placement(quick)["bytes_at_most"]
