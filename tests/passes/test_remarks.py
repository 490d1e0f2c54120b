"""Remarks: their record, and which one is final."""

from __future__ import annotations

import io
import json

import pytest

from ge_core.ir import GraphBuilder
from ge_core.passes import Blame, Hint, Remark, RemarkKind, Remarks, write_json_lines

APPLIED, MISSED, ANALYSIS, FAILED = (
    RemarkKind.APPLIED,
    RemarkKind.MISSED,
    RemarkKind.ANALYSIS,
    RemarkKind.FAILED,
)


def remark(kind: RemarkKind, pass_name: str = "P", code: str = "C", node: str = "n") -> Remark:
    """A remark on node n."""
    return Remark(kind, pass_name, "pkg 1.0", "root", node, "TensorMove", code, "why")


def final(*given: Remark) -> str | None:
    """The code of the final remark on n."""
    remarks = Remarks()
    for one in given:
        remarks.add(one)
    last = remarks.final("n")
    return None if last is None else last.code


def test_the_last_decisive_remark_is_final() -> None:
    """A later pass's reason replaces an earlier one's."""
    assert "B" == final(remark(MISSED, "P", "A"), remark(FAILED, "Q", "B"))


def test_an_analysis_decides_nothing() -> None:
    """It neither is nor replaces a final remark."""
    assert final(remark(ANALYSIS)) is None
    assert "A" == final(remark(MISSED, "P", "A"), remark(ANALYSIS, "Q", "B"))


def test_applied_stays_whatever_others_say() -> None:
    """A later pass that misses a node which is gone already doesn't count."""
    assert "A" == final(remark(APPLIED, "P", "A"), remark(MISSED, "Q", "B"))


def test_a_pass_may_take_back_what_it_applied() -> None:
    """The placement that cost too much memory is a miss in the end."""
    assert "B" == final(remark(APPLIED, "P", "A"), remark(MISSED, "P", "B"))


def test_taking_back_restores_the_earlier_final_remark() -> None:
    """What was said while edits were made goes with them."""
    remarks = Remarks()
    remarks.add(remark(MISSED, "P", "A"))
    mark = remarks.mark()
    remarks.add(remark(APPLIED, "Q", "B"))
    remarks.take_back(mark)
    assert ["A"] == [one.code for one in remarks]
    assert ["A"] == [one.code for one in remarks.finals()]


def test_what_is_open_again_is_decided_by_whoever_speaks_next() -> None:
    """A placement that another pass undid is a miss in the end; a rollback brings it back."""
    remarks = Remarks()
    remarks.add(remark(APPLIED, "P", "A"))
    mark = remarks.mark()
    remarks.reopen("n")
    assert remarks.final("n") is None
    remarks.add(remark(MISSED, "Q", "B"))
    later = remarks.mark()
    remarks.add(remark(MISSED, "Q", "C"))
    assert ["C"] == [one.code for one in remarks.finals()]
    remarks.take_back(later)
    assert ["B"] == [one.code for one in remarks.finals()]
    remarks.take_back(mark)
    assert ["A"] == [one.code for one in remarks.finals()]


def test_counts_are_of_nodes() -> None:
    """A node that two passes missed counts once."""
    remarks = Remarks()
    for one in (remark(MISSED, "P"), remark(MISSED, "Q"), remark(APPLIED, node="m")):
        remarks.add(one)
    assert (1, 1) == (remarks.count(MISSED), remarks.count(APPLIED))


def test_the_record_of_a_remark() -> None:
    """One JSON object per line, versioned, with anchors and the one change that would help."""
    one = Remark(
        MISSED,
        "P",
        "pkg 1.0",
        "root",
        "n",
        "TensorMove",
        "C",
        "why",
        (Blame("x", "x:0"),),
        64,
        Hint("set", "a=1"),
        "R3",
        {"size": 3},
    )
    stream = io.StringIO()
    write_json_lines([one], stream)
    assert {
        "schema": "ge-remark/1",
        "kind": "missed",
        "pass": "P",
        "owner": "pkg 1.0",
        "graph": "root",
        "node": "n",
        "op": "TensorMove",
        "code": "C",
        "reason": "why",
        "blame": [{"node": "x", "anchor": "x:0"}],
        "bytes": 64,
        "hint": {"set": "a=1"},
        "rule": "R3",
        "data": {"size": 3},
    } == json.loads(stream.getvalue())


def test_what_can_be_blamed() -> None:
    """Nodes, outputs, inputs and names."""
    builder = GraphBuilder()
    relu = builder.node("Relu", builder.data("x"), name="r")
    assert [Blame("r"), Blame("r", "r:0"), Blame("r", "r@0"), Blame("z")] == [
        Blame.of(relu),
        Blame.of(relu.outputs[0]),
        Blame.of(relu.inputs[0]),
        Blame.of("z"),
    ]


def test_forms_of_hints() -> None:
    """A sentence, a mapping with one key, or nothing; an unknown kind is an error."""
    assert Hint("text", "do it") == Hint.of("do it")
    assert Hint("edge", "a -> b") == Hint.of({"edge": "a -> b"})
    assert Hint.of(None) is None
    with pytest.raises(ValueError, match="a hint is one of 'set', 'edge'"):
        Hint.of({"wish": "x"})
