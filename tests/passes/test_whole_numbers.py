"""Whole numbers in texts: one reading everywhere, and no text that ends in a traceback."""

from __future__ import annotations

import pytest

from ge_core.digits import whole_number
from ge_core.errors import InputFileError, OptionError
from ge_core.ir import GraphBuilder
from ge_core.ir.normalise import mem_type
from ge_core.memory import PlanOptions
from ge_core.session.front import compile as compile_graph

ODD = ["\u0661", "\uff11", "\u00b2", "9" * 5000, "-1", "1.0", " 1", "+1", "1_0", ""]


@pytest.mark.parametrize("text", ODD)
def test_only_plain_digits_are_a_number(text: str) -> None:
    """Neither digits of other scripts, nor superscripts, nor what is longer than any size."""
    assert None is whole_number(text)
    assert 17 == whole_number("17")


@pytest.mark.parametrize("text", ["\u0661", "\uff11", "\u00b2", "9" * 5000])
def test_planner_and_checks_read_indexes_alike(text: str) -> None:
    """What the proof does not take for an index is none for the planner, and an error if strict."""
    assert frozenset() == PlanOptions.read({"ge.exec.inputReuseMemIndexes": text}).offered_inputs
    pair = {"ge.exec.outputReuseInputMemIndexes": f"0,{text}"}
    assert () == PlanOptions.read(pair).shared_io
    build = GraphBuilder()
    build.net_output(build.op("Relu", build.data("x", (4,))))
    with pytest.raises(OptionError):
        compile_graph(build.graph, options={"ge.exec.inputReuseMemIndexes": text})


def test_memory_kinds_by_odd_numbers_are_refused() -> None:
    """A superscript is no number of a memory kind."""
    with pytest.raises(InputFileError, match="unknown memory kind"):
        mem_type("\u00b2")
