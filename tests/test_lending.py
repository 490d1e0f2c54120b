"""The options by which callers lend memory: how each text is read, told and refused."""

from __future__ import annotations

import pytest

import ge_core
from ge_core.api import Graph, GraphBuilder
from ge_core.errors import OptionError
from ge_core.lending import INPUTS_OPTION, OUTPUTS_OPTION, PAIRS_OPTION, read_indexes, read_pairs

LEFT_OUT = "is no pair input,output and is left out"


@pytest.mark.parametrize(
    ("text", "expected", "told"),
    [
        (None, [], []),
        ("", [], []),
        ("0,0|2,2", [(0, 0), (2, 2)], []),
        ("1,2", [(1, 2)], ["'1,2' is read as input 1, output 2"]),
        (
            "junk|3|-1,0|x,0|0,-0||0,0",
            [(0, 0)],
            [
                *(f"{part!r} {LEFT_OUT}" for part in ("junk", "3", "-1,0", "x,0", "0,-0", "")),
            ],
        ),
        ("0x,1", [(0, 1)], ["'0x,1' is read as input 0, output 1"]),
        ("0,1,2", [(0, 1)], ["'0,1,2' is read as input 0, output 1"]),
        (" +7,\t8 9", [(7, 8)], ["' +7,\\t8 9' is read as input 7, output 8"]),
        (",1|1,", [], [f"',1' {LEFT_OUT}", f"'1,' {LEFT_OUT}"]),
        ("9223372036854775807,0", [(9223372036854775807, 0)], None),
        ("9223372036854775808,0", [], [f"'9223372036854775808,0' {LEFT_OUT}"]),
        (f"{'9' * 5000},0|1,1", [(1, 1)], [f"'{'9' * 40}...' {LEFT_OUT}"]),
        ("0000000000000000000000003,1", [(3, 1)], None),
        ("+,1", [], [f"'+,1' {LEFT_OUT}"]),
        ("\u0663,1", [], None),
        ("in:0,out:1", [(0, 1)], ["'in:0,out:1' is read as input 0, output 1"]),
        ("out:1,in:0|2,2", [(0, 1), (2, 2)], ["'out:1,in:0' is read as input 0, output 1"]),
        ("in:0,1", [], [f"'in:0,1' {LEFT_OUT}"]),
        ("in:0,in:1", [], [f"'in:0,in:1' {LEFT_OUT}"]),
    ],
)
def test_pairs(text: str | None, expected: list[tuple[int, int]], told: list[str] | None) -> None:
    """Bad pairs are left out one by one, and told; the others count."""
    found = read_pairs(text)
    assert expected == list(found.pairs)
    assert told is None or told == list(found.told)
    assert found.pairs == read_pairs(str(found)).pairs


@pytest.mark.parametrize(
    ("text", "expected", "told"),
    [
        (None, [], []),
        ("", [], []),
        ("0,2", [0, 2], []),
        ("1,,0", [1, 0], ["an empty index is left out"]),
        ("0,abc,1", [0], ["'abc' is no index: it and what follows it are left out"]),
        ("abc,0", [], ["'abc' is no index: it and what follows it are left out"]),
        ("1x,0", [], None),
        ("0 ,1", [], None),
        (" 1,0", [1, 0], ["' 1' is read as 1"]),
        ("+2,2", [2], ["'+2' is read as 2"]),
        ("-2,0", [0], ["'-2' is below 0 and is left out"]),
        ("-0", [0], ["'-0' is read as 0"]),
        ("-", [], None),
        ("-2147483648,0", [0], None),
        ("-2147483649,0", [], None),
        ("2147483647,0", [2147483647, 0], []),
        ("2147483648,0", [], None),
        (f"{'9' * 5000},0", [], None),
        ("0001", [1], ["'0001' is read as 1"]),
        ("\u0661", [], None),
    ],
)
def test_lists(text: str | None, expected: list[int], told: list[str] | None) -> None:
    """The first token that is no 32-bit number ends the list."""
    found = read_indexes(text)
    assert expected == list(found.indexes)
    assert told is None or told == list(found.told)
    assert found.indexes == read_indexes(str(found)).indexes


# ---- in a compile -------------------------------------------------------------------------------


def copied(results: int = 2) -> Graph:
    """Input 0 is copied into output 0."""
    b = GraphBuilder()
    mv = b.op("TensorMove", b.data("x"), name="mv")
    other = b.op("Relu", b.data("y"))
    b.net_output(*[mv, other][:results])
    return b.graph


def removed(options: dict[str, str]) -> tuple[bool, list[str]]:
    """Whether the copy goes, proved; and what is told of options."""
    result = ge_core.compile(copied(), options=options, objective="copies")
    result.check_proof()
    told = [warning for warning in result.warnings if warning.startswith("option")]
    return result.graph.find("mv") is None, told


TOLERANT = {"ge.strictOptions": "false"}


@pytest.mark.parametrize("text", ["0,0", "in:0,out:0", "1,1|out:0,in:0"])
def test_plain_pairs_lend_where_reading_is_strict(text: str) -> None:
    """GE's form, and the one that says which number is which."""
    assert removed({PAIRS_OPTION: text})[0]


@pytest.mark.parametrize("text", ["0x,0", "0,0,1", "junk|0,0", " 0,0", "0,0|"])
def test_odd_pairs_lend_where_reading_is_tolerant(text: str) -> None:
    """Passes, planner and proof read them alike, and each odd reading is told once."""
    with pytest.raises(OptionError, match="must be pairs"):
        removed({PAIRS_OPTION: text})
    gone, told = removed({PAIRS_OPTION: text, **TOLERANT})
    assert gone
    assert [f"option {PAIRS_OPTION}: {what}" for what in read_pairs(text).told] == told


@pytest.mark.parametrize(("text", "gone"), [("0,abc", True), ("abc,0", False), (",0", True)])
def test_odd_lists_lend_where_reading_is_tolerant(text: str, gone: bool) -> None:
    """What follows the first token that is no number lends nothing, in the proof as well."""
    with pytest.raises(OptionError, match="comma list"):
        removed({INPUTS_OPTION: text})
    found, told = removed({INPUTS_OPTION: text, **TOLERANT})
    assert gone == found
    assert [f"option {INPUTS_OPTION}: {what}" for what in read_indexes(text).told] == told


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,0|2,0", "there is no graph input 2"),
        ("0,2", "there is no graph output 2"),
        ("in:1,out:7", "there is no graph output 7"),
    ],
)
def test_pairs_beyond_the_graph_are_refused(text: str, words: str, strict: str) -> None:
    """As GE's API refuses them, however malformed pairs are read."""
    with pytest.raises(OptionError, match=words) as caught:
        removed({PAIRS_OPTION: text, "ge.strictOptions": strict})
    assert "the graph has 2" in str(caught.value.hint)


def test_indexes_beyond_the_graph_are_told() -> None:
    """The planner leaves them out, and the compile's warnings say so."""
    _, told = removed({INPUTS_OPTION: "7", OUTPUTS_OPTION: "9"})
    assert [
        f"option {INPUTS_OPTION}: there is no graph input 7",
        f"option {OUTPUTS_OPTION}: there is no graph output 9",
    ] == told


def test_which_number_is_the_input_is_told() -> None:
    """Old notes have the output first; equal numbers mean the same either way."""
    assert (False, [f"option {PAIRS_OPTION}: '0,1' is read as input 0, output 1"]) == removed(
        {PAIRS_OPTION: "0,1"}
    )
    assert (True, []) == removed({PAIRS_OPTION: "0,0"})


@pytest.mark.parametrize("text", ["in:0,out:1", "out:1,in:0", "in:0,out:1|1,0"])
def test_labelled_pairs_are_told_once(text: str) -> None:
    """What the planner reads is the text as it was given, not as it was read before."""
    assert [f"option {PAIRS_OPTION}: {what}" for what in read_pairs(text).told] == removed(
        {PAIRS_OPTION: text}
    )[1]
