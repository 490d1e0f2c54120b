"""What the caller declared, and which copies may go because of it."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import GraphBuilder
from ge_tensormove.reuse_options import Declarations


def test_a_pair_names_an_input_for_that_output_only() -> None:
    """Where the input's memory becomes a result, the pair has to say which."""
    declared = Declarations("0,1", None)
    assert declared.names(0) and not declared.names(1)
    assert [] == declared.undeclared_outputs(0, [])
    assert [2, 3] == declared.undeclared_outputs(0, [1, 2, 3])


def test_the_list_has_no_condition_on_outputs() -> None:
    """It also stands in where a pair names another output."""
    assert [] == Declarations("0,1", "0").undeclared_outputs(0, [7])


def test_a_hint_keeps_what_is_declared_already() -> None:
    """The setting that it names adds to the one in force."""
    assert "ge.exec.inputReuseMemIndexes=2" == Declarations(None, None).with_input(2)
    assert "ge.exec.inputReuseMemIndexes=2,0" == Declarations(None, "0").with_input(2)
    added = Declarations("0,1", None).with_outputs(0, [2, 3])
    assert "ge.exec.outputReuseInputMemIndexes=0,1|0,2|0,3" == added


@pytest.mark.parametrize(
    ("pairs", "gone"), [("0,0", True), ("0,1", False), ("0,1|0,0", True), ("1,0", False)]
)
def test_a_pair_must_name_the_output_that_the_copy_becomes(
    pairs: str, gone: bool, delete: Any
) -> None:
    """GE takes any pair that begins with the input. A view before the result changes nothing."""
    b = GraphBuilder()
    mv = b.op("TensorMove", b.data("x"), name="mv")
    b.net_output(b.op("Reshape", mv, name="v", reuse_input=0), b.data("y"))
    delete(b.graph, {"ge.exec.outputReuseInputMemIndexes": pairs})
    assert gone == (b.graph.find("mv") is None)
