"""Copies in graphs from ONNX, where each was an Identity."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import GraphBuilder, OutputAnchor


def identity(b: GraphBuilder, source: OutputAnchor, name: str = "mv") -> OutputAnchor:
    """An Identity as the frontend reads it."""
    return b.op("TensorMove", source, name=name, attrs={"_source_op": "Identity"})


def final(delete: Any, b: GraphBuilder, options: dict[str, str] | None = None) -> str:
    """How the copy ended."""
    code: str = delete(b.graph, options).remarks.final("mv").code
    return code


def test_between_ordinary_ops_it_goes(delete: Any) -> None:
    """Nothing writes in such a graph."""
    b = GraphBuilder(source="onnx")
    b.net_output(b.op("Relu", identity(b, b.op("Relu", b.data("x")))))
    assert "REMOVED" == final(delete, b)


@pytest.mark.parametrize("kind", ["input", "initializer"])
def test_from_an_input_or_initializer_to_an_output_it_stays(kind: str, delete: Any) -> None:
    """A result must not lie in memory that the caller handed in, or in a constant."""
    b = GraphBuilder(source="onnx")
    source = b.data("x") if kind == "input" else b.const("k", bytes(16), (4,))
    b.net_output(identity(b, source))
    assert ("R2_NOT_DECLARED" if kind == "input" else "R1_SPECIAL_TO_OUTPUT") == final(delete, b)


def test_a_permitted_input_may_become_an_output(delete: Any) -> None:
    """The caller has declared the pair."""
    b = GraphBuilder(source="onnx")
    b.net_output(identity(b, b.data("x")))
    assert "REMOVED" == final(delete, b, {"ge.exec.outputReuseInputMemIndexes": "0,0"})


def test_an_initializer_that_is_read_needs_no_copy(delete: Any) -> None:
    """Reading leaves it as it is."""
    b = GraphBuilder(source="onnx")
    b.net_output(b.op("Relu", identity(b, b.const("k", bytes(16), (4,)))))
    assert "REMOVED" == final(delete, b)


def test_a_captured_value_in_a_branch_keeps_its_copy(delete: Any) -> None:
    """The way to its source leads out of an If."""
    b = GraphBuilder(source="onnx")
    subs = {}
    for label in ("then_branch", "else_branch"):
        sub = b.subgraph(label)
        d = sub.data(f"{label}/d", index=1)
        sub.net_output(identity(sub, d, "mv" if label == "then_branch" else "other"))
        subs[label] = sub
    x = b.op("Relu", b.data("x"))
    b.net_output(b.op("If", b.data("c"), x, subgraphs=subs, attrs={"captured": 1}))
    assert "R3_CONTROL_FLOW" == final(delete, b)


def test_a_loop_s_result_keeps_its_copy_and_its_body_s_own_values_do_not(delete: Any) -> None:
    """A Loop ends a trace as a While does; inside a turn copies go as everywhere."""
    b = GraphBuilder(source="onnx")
    body = b.subgraph("b")
    body.data("b/i")
    cond, slot = body.data("b/c"), body.data("b/s")
    own = identity(body, body.op("Relu", slot, name="b/r"), "inner")
    body.net_output(cond, body.op("Exp", own, name="b/e"))
    loop = b.op(
        "Loop", b.data("m"), b.data("c"), b.data("v"), name="loop", subgraphs={"body": body}
    )
    b.op("Exp", identity(b, loop), name="use")
    assert "R1_CONTROL_FLOW" == final(delete, b)
    assert b.graph.find("inner") is None


@pytest.mark.parametrize("index", [0, 1, 2])
def test_what_a_loop_hands_in_has_no_source_outside(index: int, delete: Any) -> None:
    """Neither the turn's number, nor the condition, nor a carried value is the loop's input."""
    b = GraphBuilder(source="onnx")
    body = b.subgraph("b")
    ends = [body.data(f"b/d{at}") for at in range(3)]
    body.net_output(ends[1], body.op("Exp", identity(body, ends[index]), name="b/e"))
    b.op("Loop", b.data("m"), b.data("c"), b.data("v"), name="loop", subgraphs={"body": body})
    env = delete(b.graph)
    assert "R1_TRACE_STOPPED" == env.remarks.final("mv").code
    assert "each turn of the loop hands it in" in env.remarks.final("mv").reason
