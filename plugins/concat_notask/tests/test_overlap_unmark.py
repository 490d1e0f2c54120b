"""Marks that come with a graph are taken back where they put tensors on one another."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import ge_core
from ge_concat_notask import is_marked
from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc

JOIN = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
    "concat_dim": 0,
}
SPLIT = {
    "_no_task": True,
    "_no_padding_continuous_output": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
    "split_dim": 0,
}
PIECE = TensorDesc.make("float32", (16,))


def cut(b: GraphBuilder, whole: OutputAnchor) -> Sequence[OutputAnchor]:
    """Two marked pieces."""
    return b.node("SplitD", whole, name="split", outputs=[PIECE] * 2, attrs=SPLIT).outputs


def block(b: GraphBuilder, op: str = "ConcatD", *, keep: bool = True) -> OutputAnchor:
    """Cut in two, computed from the second piece, and joined; the result is read."""
    x = b.op("Exp", b.data("in", (32,)), name="x", shape=(32,))
    p0, p1 = cut(b, x)
    y = b.op("Exp", b.op("Exp", p1, name="mid"), name="y")
    first = p0 if keep else b.op("Exp", p0, name="other")
    return b.op("Abs", b.op(op, first, y, name="join", shape=(32,), attrs=JOIN), name="end")


def remarks(graph: Graph, **facts: str) -> list[tuple[str, str, str]]:
    """(pass, node, code) of what the pass says when a graph is compiled, proved."""
    result = ge_core.compile(graph, **{"level": "O4", **facts})
    result.check_proof()
    return [
        (remark.pass_name, remark.node, remark.code)
        for remark in result.remarks
        if remark.pass_name == "OverlapUnmarkPass"
    ]


def test_a_join_over_the_bytes_of_a_piece_is_an_ordinary_one_again() -> None:
    """Said with both who have the bytes; and so is the split that cuts the buffer."""
    b = GraphBuilder()
    b.net_output(block(b))
    result = ge_core.compile(b.graph, pipeline="OverlapUnmarkPass")
    said = [r for r in result.remarks if r.pass_name == "OverlapUnmarkPass"]
    assert [(one.node, one.code, one.bytes) for one in said] == [
        ("split", "MARKS_TAKEN_BACK", 128),
        ("join", "MARKS_TAKEN_BACK", 128),
    ]
    assert [blame.anchor for blame in said[0].blame] == ["x:0", "y:0"]
    assert not is_marked(result.graph.node("join")) and not is_marked(result.graph.node("split"))


def test_what_is_compiled_again_stays_as_it_is() -> None:
    """The marks that are taken back are set again: nothing is copied the second time."""
    b = GraphBuilder()
    b.net_output(block(b))
    once = ge_core.compile(b.graph, level="O4")
    again = ge_core.compile(once.graph, level="O4")
    for result in (once, again):
        result.check_proof()
        assert all(is_marked(result.graph.node(name)) for name in ("split", "join"))
        assert result.graph.node("join").inputs[0].source.node.name == "split"


def test_only_the_level_beyond_ge_takes_marks_back() -> None:
    """Below it GE's layout rules put a copy in front of the join."""
    b = GraphBuilder()
    b.net_output(block(b))
    taken = [("OverlapUnmarkPass", name, "MARKS_TAKEN_BACK") for name in ("split", "join")]
    assert remarks(b.graph) == taken
    assert remarks(b.graph, level="O3") == []


def test_a_join_beside_what_was_cut_keeps_its_marks() -> None:
    """No piece is an operand, so the join has a buffer of its own."""
    b = GraphBuilder()
    b.net_output(block(b, keep=False))
    assert remarks(b.graph) == []


def test_a_join_without_a_kernel_keeps_its_marks() -> None:
    """A PhonyConcat can't run."""
    b = GraphBuilder()
    b.net_output(block(b, "PhonyConcat"))
    result = ge_core.compile(b.graph, pipeline="OverlapUnmarkPass")
    assert is_marked(result.graph.node("join")) and not is_marked(result.graph.node("split"))


def test_what_is_updated_where_it_lies_is_no_second_tensor() -> None:
    """A piece that an op updates in place is the piece."""
    b = GraphBuilder()
    x = b.op("Exp", b.data("in", (32,)), name="x", shape=(32,))
    p0, p1 = cut(b, x)
    update = b.op("AssignAdd", p1, b.data("by", (16,)), name="update", reuse_input=0)
    b.net_output(b.op("Abs", b.op("ConcatD", p0, update, name="join", shape=(32,), attrs=JOIN)))
    assert remarks(b.graph) == []


def test_marks_inside_a_subgraph_are_looked_at() -> None:
    """A called graph's buffers are planned like any other."""
    b = GraphBuilder()
    sub = b.subgraph("g")
    p0, p1 = cut(sub, sub.op("Exp", sub.data("g/in", (32,)), name="g/x", shape=(32,)))
    y = sub.op("Exp", sub.op("Exp", p1, name="g/mid"), name="g/y")
    sub.net_output(sub.op("ConcatD", p0, y, name="join", shape=(32,), attrs=JOIN))
    made = b.op("Exp", b.data("in", (32,)), name="x", shape=(32,))
    b.net_output(b.op("Abs", b.op("PartitionedCall", made, subgraphs={"f": sub}, shape=(32,))))
    assert remarks(b.graph)[-1] == ("OverlapUnmarkPass", "join", "MARKS_TAKEN_BACK")


@pytest.mark.parametrize("level", ["O0", "O3", "O4"])
def test_marks_that_contradict_each_other_are_taken_back(level: str) -> None:
    """One tensor can't lie at two places of a buffer; GE's rules copy it, O4 asks anew."""
    b = GraphBuilder()
    one, two = (b.op("Exp", b.data(f"in{at}", (16,)), name=f"p{at}") for at in range(2))
    for name, parts in (("join", (one, two)), ("turned", (two, one))):
        b.op("ConcatD", *parts, name=name, shape=(32,), attrs=JOIN)
    b.net_output(*(b.op("Abs", b.graph.node(name).outputs[0]) for name in ("join", "turned")))
    found = remarks(b.graph, level=level)
    both = [("OverlapUnmarkPass", name, "MARKS_CONTRADICT") for name in ("join", "turned")]
    assert found == (both if level == "O4" else [])
