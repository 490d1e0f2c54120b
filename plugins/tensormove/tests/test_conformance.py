"""What every pass and every trace rule promises, held against this package."""

from __future__ import annotations

import pytest

import ge_core
from ge_core.testing import GraphKnobs, pass_conformance, random_graph, trace_rule_conformance

MOVES = GraphKnobs(moves=50)
AS_IN_GE = "no fixed point is sought: a copy that goes late may free one that was looked at before"

test_removal = pass_conformance("TensorMoveDeletePass", knobs=MOVES, idempotent=AS_IN_GE)
test_removal_with_lent_inputs = pass_conformance(
    "TensorMoveDeletePass",
    knobs=MOVES,
    idempotent=AS_IN_GE,
    options={"ge.exec.inputReuseMemIndexes": "0"},
    samples=6,
)
test_trace_rules = trace_rule_conformance("tensormove")


@pytest.mark.parametrize("seed", range(12))
def test_removal_settles_when_it_is_repeated(seed: int) -> None:
    """A run may leave what a later one takes; a handful of runs leave nothing to take."""
    graph = random_graph(seed, GraphKnobs(nodes=24, moves=50))
    text = "repeat{limit=8}(TensorMoveDeletePass)"
    result = ge_core.compile(graph, pipeline=text, objective="copies")
    assert [] == [warning for warning in result.warnings if "repeat" in warning]
    assert {run.name for run in result.passes} == {"TensorMoveDeletePass"}
    assert not result.passes[-1].changed


test_removal_campaign = pytest.mark.soak(
    pass_conformance("TensorMoveDeletePass", knobs=MOVES, idempotent=AS_IN_GE, samples=1500)
)
