"""`equivalent`: graphs that compute the same, nearly the same, and something else."""

from __future__ import annotations

import pytest

from ge_core.api import Graph, GraphBuilder, PluginError
from ge_core.testing import assert_equivalent, equivalent


def graph(*ops: str, outputs: int = 1) -> Graph:
    """x -> ops -> results."""
    build = GraphBuilder()
    value = build.data("x", (4, 8))
    for op in ops:
        value = build.op(op, value)
    build.net_output(*[value] * outputs)
    return build.graph


def test_copies_make_no_difference() -> None:
    """Bit by bit."""
    found = equivalent(graph("Relu", "TensorMove"), graph("Relu"))
    assert found
    assert "1 outputs, equal" == str(found)


def test_other_work_is_told_apart() -> None:
    """By how much, per output."""
    found = equivalent(graph("Relu"), graph("Exp"))
    assert not found
    assert "differs by" in str(found)
    with pytest.raises(AssertionError, match="differs by"):
        assert_equivalent(graph("Relu"), graph("Exp"))


def test_a_tolerance_is_heeded() -> None:
    """What differs by no more counts as equal."""
    one, other = graph("Relu"), graph("Abs", "Relu", "Relu")
    strict = equivalent(one, other)
    assert not strict
    assert equivalent(one, other, tolerance=1e6)


def test_graphs_with_other_results_differ() -> None:
    """An output that only one of them has is named."""
    found = equivalent(graph("Relu"), graph("Relu", outputs=2))
    assert not found
    assert 1 == len(found.differing)


def test_an_executor_that_is_not_there_is_said_so() -> None:
    """Nothing is left out in silence."""
    with pytest.raises(PluginError, match="no executor 'abacus'"):
        equivalent(graph("Relu"), graph("Relu"), executor="abacus")
