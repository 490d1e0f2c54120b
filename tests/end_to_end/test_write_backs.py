"""Functionalised updates get all their copies back, and compute what they did in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ge_core as ge
from ge_core.ir import Graph
from ge_core.session.execution import make_executor

from .functionalised import told

SAMPLE = 24
CAMPAIGN = 2_000
CHUNK = 4
STEPS = 2


def check(seed: int, *, shuffle: bool) -> None:
    """One program: nothing is copied, and in two steps every form has the same values."""
    plain, functional = told(seed, shuffle=shuffle)
    result = ge.compile(functional, level="O4")
    assert result.proof is not None
    assert result.proof.ok, f"seed {seed}: {result.proof.violations[0]}"
    by_op = result.after.by_op
    assert [] == [op for op in ("Assign", "TensorMove") if op in by_op], f"seed {seed}"
    assert [] == differences(plain, result, seed), f"seed {seed}"


def differences(plain: Graph, result: ge.Result, seed: int) -> list[tuple[int, str, str]]:
    """What differs from the program in place: step, form and name."""
    assert result.kernel is not None
    runner: Any = make_executor("numpy")
    known = {"ops": result.kernel.ops, "kernels": result.kernel.registries.kernels}
    kept: list[dict[str, Any]] = [{}, {}, {}]
    found: list[tuple[int, str, str]] = []
    for step in range(STEPS):
        feeds = runner.make_feeds(plain, STEPS * seed + step, ops=result.kernel.ops)
        runs = (
            runner.reference(plain, {**feeds, **kept[0]}, **known),
            runner.reference(result.original, {**feeds, **kept[1]}, **known),
            runner.run(result.graph, result.plan, result.tasks, {**feeds, **kept[2]}, **known),
        )
        want = {**runs[0].outputs, **runs[0].variables}
        for form, ran in zip(("functionalised", "compiled"), runs[1:], strict=True):
            got = {**ran.outputs, **ran.variables}
            found += [
                (step, form, name)
                for name, value in want.items()
                if not np.array_equal(value, got[name], equal_nan=True)
            ]
        kept = [dict(ran.variables) for ran in runs]
    return found


@pytest.mark.parametrize("first", range(0, SAMPLE, CHUNK))
@pytest.mark.parametrize("shuffle", [False, True], ids=["listed", "shuffled"])
def test_a_sample_loses_every_copy(first: int, shuffle: bool) -> None:
    """However the nodes are listed: readers of old values are brought forward."""
    for seed in range(first, first + CHUNK):
        check(seed, shuffle=shuffle)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SAMPLE, CAMPAIGN, 50))
def test_the_campaign_loses_every_copy(first: int) -> None:
    """The same for many more."""
    for seed in range(first, min(first + 50, CAMPAIGN)):
        check(seed, shuffle=bool(seed % 2))
