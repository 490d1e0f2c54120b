"""Arguments of the Python front door that are no what they should be: one clear error each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder
from ge_core.errors import GeError, UsageError


def graph() -> Graph:
    """An input, a variable that is read and stored into, one output."""
    build = GraphBuilder("n")
    x, v = build.data("x", (2, 4)), build.op("Variable", name="v", shape=(2, 4))
    read = build.op("Add", x, v, name="read")
    build.op("Assign", v, read, name="back", reuse_input=0)
    build.net_output(read)
    return build.graph


@pytest.mark.parametrize("model", [5, None, b"n.json", {}, ["n.json"]], ids=repr)
def test_a_model_is_a_path_or_a_graph(model: Any) -> None:
    """What was given is said, and what to give."""
    with pytest.raises(UsageError, match="model is a") as caught:
        ge.compile(model)
    assert "give a path or a Graph" == caught.value.hint


@pytest.mark.parametrize("what", ["options", "input_shapes", "origins"])
@pytest.mark.parametrize("value", [5, "a=b", [("a", "b")]], ids=repr)
def test_tables_are_tables(what: str, value: Any) -> None:
    """The argument is named."""
    facts: dict[str, Any] = {what: value}
    with pytest.raises(UsageError, match=f"{what} is a"):
        ge.compile(graph(), **facts)


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_timeout_is_no_less_than_nothing(timeout: float) -> None:
    """Neither is it no number."""
    with pytest.raises(UsageError, match="timeout .* is no number of seconds"):
        ge.compile(graph(), timeout=timeout)


FEEDS: dict[str, tuple[Any, str]] = {
    "a list": ([1], "inputs are given as a list"),
    "a text": ({"x": "a"}, "input 'x' is .* given 'a': could not convert"),
    "a stray name": ({"x": np.ones((2, 4), np.float32), "zz": 1}, "no input 'zz'"),
    "a short list": ({"x": [1, 2]}, "input 'x' is"),
    "another variable": (
        {"x": np.ones((2, 4), np.float32), "v": np.ones((1, 4), np.float32)},
        "input 'v' is",
    ),
}


@pytest.mark.parametrize("how", ["run", "check"])
@pytest.mark.parametrize("case", FEEDS)
def test_inputs_that_do_not_fit_are_named(case: str, how: str) -> None:
    """Running and checking agree on what may be given."""
    feeds, text = FEEDS[case]
    result = ge.compile(graph())
    with pytest.raises(GeError, match=text):
        getattr(result, how)(feeds)


def test_a_variable_may_be_given_its_value() -> None:
    """By name, to a run and to a check alike."""
    result = ge.compile(graph())
    ones = np.ones((2, 4), np.float32)
    (out,) = result.run({"x": ones, "v": ones}).values()
    assert np.array_equal(ones + ones, out)
    assert result.check({"x": ones, "v": ones}).ok
