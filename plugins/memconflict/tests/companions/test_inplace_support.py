"""Marks on outputs that may lie where an input lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.api import GraphBuilder

Run = Callable[..., Any]
PASS, MARK = "InplaceSupportCheckPass", "_inplace_support_input_index"


def test_the_first_input_that_fits_is_marked(run: Run) -> None:
    """Computed, read by nobody else, alike; what came before it does not fit."""
    b = GraphBuilder()
    x = b.data("x")
    small = b.op("Relu", b.data("y", (2,)), name="small")
    shared = b.op("Relu", x, name="shared")
    own = b.op("Exp", shared, name="own")
    last = b.op("Foo", x, None, small, shared, own, name="last", outputs=[x.desc])
    b.net_output(last)
    run(b.graph, PASS)
    assert 4 == last.desc.attrs[MARK]
    assert [None, None] == [value.desc.attrs.get(MARK) for value in (shared, own)]


@pytest.mark.parametrize("op", ["Data", "Const", "Variable", "RefData", "FileConstant"])
def test_memory_with_a_home_is_nobodys_to_take(run: Run, op: str) -> None:
    """Inputs, constants and variables."""
    b = GraphBuilder()
    use = b.op("Relu", b.op(op, name="source"), name="use")
    b.net_output(use)
    run(b.graph, PASS)
    assert MARK not in use.desc.attrs


def test_on_a_device_nothing_is_marked(run: Run) -> None:
    """Only executors on the host look at the mark."""
    b = GraphBuilder()
    use = b.op("Relu", b.op("Exp", b.data("x")), name="use")
    b.net_output(use)
    run(b.graph, PASS, ge__exec__placement="DEVICE")
    assert MARK not in use.desc.attrs
    run(b.graph, PASS, ge__exec__placement="HOST")
    assert 0 == use.desc.attrs[MARK]
