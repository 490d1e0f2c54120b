"""What the caller declared, read as tolerantly as GE reads it."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import GraphBuilder
from ge_tensormove.reuse_options import Declarations, lists_input, parse_pairs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, []),
        ("", []),
        ("0,0|1,2", [(0, 0), (1, 2)]),
        ("junk|3|-1,0|x,0|0,-0||0,0", [(0, 0)]),
        ("0x,1", [(0, 1)]),
        ("0,1,2", [(0, 1)]),
        (" +7,\t8 9", [(7, 8)]),
        (",1|1,", []),
        ("9223372036854775807,0", [(9223372036854775807, 0)]),
        ("9223372036854775808,0", []),
        (f"{'9' * 5000},0|1,1", [(1, 1)]),
        ("0000000000000000000000003,1", [(3, 1)]),
        ("+,1", []),
        ("\u0663,1", []),
    ],
)
def test_pairs(text: str | None, expected: list[tuple[int, int]]) -> None:
    """Bad pairs are passed over one by one; the others count."""
    assert expected == parse_pairs(text)


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        (None, 0, False),
        ("", 0, False),
        ("0", 0, True),
        ("1,,0", 0, True),
        ("0,abc", 0, True),
        ("abc,0", 0, False),
        ("1x,0", 0, False),
        (" 1,0", 0, True),
        ("+2", 2, True),
        ("-2", 2, False),
        ("-0", 0, True),
        ("-", 0, False),
        ("-2147483648,0", 0, True),
        ("-2147483649,0", 0, False),
        ("2147483648,0", 0, False),
        ("999999999999999999999999,0", 0, False),
        (f"{'9' * 5000},0", 0, False),
        ("0001", 1, True),
    ],
)
def test_lists(text: str | None, index: int, expected: bool) -> None:
    """The first token that is no 32-bit number ends the list."""
    assert expected == lists_input(text, index)


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
