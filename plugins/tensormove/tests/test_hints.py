"""Hints that no example shows: a hint is the one change that lets a copy go, or there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.api import GraphBuilder
from ge_core.session.hints import follow, options_of


def other_output(b: GraphBuilder) -> None:
    """A graph input that becomes two results."""
    mv = b.op("TensorMove", b.data("x"), name="mv")
    b.net_output(mv, b.op("Reshape", mv, name="v", reuse_input=0))


def listed_first(b: GraphBuilder) -> None:
    """What uses the copy up is made to run before a sibling, by an edge of order alone."""
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    used = b.op("HcomAllReduce", mv, name="s", attrs={"rw": {"inputs": {"0": "write"}}})
    b.op("Exp", act, name="side", control=[used])


@pytest.mark.parametrize(
    ("build", "options", "expected"),
    [
        (
            other_output,
            {"ge.exec.outputReuseInputMemIndexes": "0,7"},
            "ge.exec.outputReuseInputMemIndexes=0,7|0,0|0,1",
        ),
        (listed_first, {}, "s -> side"),
    ],
)
def test_following_a_hint_lets_the_copy_go(
    build: Callable[[GraphBuilder], None], options: dict[str, str], expected: str, delete: Any
) -> None:
    """Set what it says to set, cut the edge that it names."""
    b = GraphBuilder()
    build(b)
    hint = delete(b.graph, options).remarks.final("mv").hint
    assert expected == hint.value
    again = GraphBuilder()
    build(again)
    changed = options_of(hint)
    assert bool(changed) != follow(hint, again.graph)
    assert "REMOVED" == delete(again.graph, {**options, **changed}).remarks.final("mv").code


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
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    b.op("Exp", mv, name="use")
    b.op("HcomAllReduce", act, name="s", attrs={"_input_mutable": True})
    b.op("Exp", mv, name="second")
    remark = delete(b.graph).remarks.final("mv")
    assert ("R3_WRITER_UNORDERED", None) == (remark.code, remark.hint)


def test_no_hint_where_two_marks_reserve(delete: Any) -> None:
    """Taking one off would leave the other."""
    b = GraphBuilder()
    marks = {"_cannot_be_deleted": True, "no_need_constant_folding": True}
    b.op("Exp", b.op("TensorMove", b.op("Relu", b.data("x")), name="mv", attrs=marks))
    remark = delete(b.graph).remarks.final("mv")
    assert ("R0_CANNOT_BE_DELETED", None) == (remark.code, remark.hint)


def test_no_hint_where_two_nodes_wait(delete: Any) -> None:
    """Either would keep the copy."""
    b = GraphBuilder()
    mv = b.op("TensorMove", b.op("Relu", b.data("x")), name="mv")
    later = [b.op("Relu", b.data(n), name=f"after_{n}", control=[mv]) for n in ("y", "z")]
    b.net_output(mv, *later)
    remark = delete(b.graph).remarks.final("mv")
    assert ("R3_AFTER_COPY_OUTPUT", None) == (remark.code, remark.hint)
