"""A hint is the one change that lets a copy go: following it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.api import GraphBuilder


def undeclared(b: GraphBuilder) -> None:
    """A graph input that nobody declared."""
    b.op("Relu", b.op("TensorMove", b.data("x"), name="mv"))


def other_output(b: GraphBuilder) -> None:
    """A graph input that becomes two results."""
    mv = b.op("TensorMove", b.data("x"), name="mv")
    b.net_output(mv, b.op("Reshape", mv, name="v", reuse_input=0))


def unordered_writer(b: GraphBuilder) -> None:
    """A sibling uses the source up."""
    act = b.op("Relu", b.data("x"), name="act")
    b.op("Exp", b.op("TensorMove", act, name="mv"), name="use")
    b.op("HcomAllReduce", act, name="s", attrs={"_input_mutable": True})


def hidden_writer(b: GraphBuilder) -> None:
    """A store behind a view of the copy."""
    act = b.op("Relu", b.data("x"), name="act")
    b.op("Exp", act, name="side")
    view = b.op("Reshape", b.op("TensorMove", act, name="mv"), name="v", reuse_input=0)
    b.op("Foo", view, name="s", attrs={"reference": True}, reuse_input=0)


@pytest.mark.parametrize(
    ("build", "options", "expected"),
    [
        (undeclared, {}, "ge.exec.inputReuseMemIndexes=0"),
        (
            other_output,
            {"ge.exec.outputReuseInputMemIndexes": "0,7"},
            "ge.exec.outputReuseInputMemIndexes=0,7|0,0|0,1",
        ),
        (unordered_writer, {}, "use -> s"),
        (hidden_writer, {}, "side -> s"),
    ],
)
def test_following_a_hint_lets_the_copy_go(
    build: Callable[[GraphBuilder], None], options: dict[str, str], expected: str, delete: Any
) -> None:
    """Set what it says to set, add the edge it names."""
    b = GraphBuilder()
    build(b)
    hint = delete(b.graph, options).remarks.final("mv").hint
    assert expected == hint.value
    again = GraphBuilder()
    build(again)
    if hint.kind == "set":
        name, _, value = hint.value.partition("=")
        options = {**options, name: value}
    else:
        first, second = hint.value.split(" -> ")
        again.graph.add_control(again.graph.node(first), again.graph.node(second))
    assert "REMOVED" == delete(again.graph, options).remarks.final("mv").code


def test_no_hint_where_another_rule_would_keep_the_copy(delete: Any) -> None:
    """Declaring the input would not be enough: a sibling is a result."""
    b = GraphBuilder()
    x = b.data("x")
    b.op("Relu", b.op("TensorMove", x, name="mv"))
    b.net_output(x)
    remark = delete(b.graph).remarks.final("mv")
    assert ("R2_NOT_DECLARED", None) == (remark.code, remark.hint)


def test_no_hint_where_two_edges_are_missing(delete: Any) -> None:
    """A hint is one change."""
    b = GraphBuilder()
    unordered_writer(b)
    b.op("Exp", b.graph.node("mv").outputs[0], name="second")
    remark = delete(b.graph).remarks.final("mv")
    assert ("R3_WRITER_UNORDERED", None) == (remark.code, remark.hint)
