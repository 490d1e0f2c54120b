"""Plans whose rows lie over one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ge_core.ir import GraphBuilder
from ge_core.memory import Plan, Strided
from ge_core.proof import ProofResult


@pytest.mark.parametrize("strided", [Strided(16, 0, 4), Strided(8, 0, 1 << 40), Strided(0, 0, 4)])
def test_rows_without_a_pitch_are_refused(
    strided: Strided, prove: Callable[..., ProofResult], planned: Callable[..., Plan]
) -> None:
    """However many they are said to be, the answer is a violation and comes at once."""
    build = GraphBuilder()
    made = build.op("Relu", build.data("x", (4, 4)), name="made")
    build.net_output(build.op("Relu", made, name="reader"))
    plan = planned(build.graph)
    tensors = [replace(t, strided=strided) if t.node == "made" else t for t in plan.tensors]
    assert not prove(build.graph, plan=replace(plan, tensors=tensors)).ok
