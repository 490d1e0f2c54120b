"""What every pass and every trace rule promises, held against this package."""

from __future__ import annotations

import pytest

from ge_core.testing import GraphKnobs, pass_conformance, trace_rule_conformance

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

test_removal_campaign = pytest.mark.soak(
    pass_conformance("TensorMoveDeletePass", knobs=MOVES, idempotent=AS_IN_GE, samples=1500)
)
