"""What a node destroys for its own use is copied where somebody would see it, and only there."""

from __future__ import annotations

from typing import Any

import pytest

import ge_core
from ge_core.api import GraphBuilder, OutputAnchor, clone

PASS = "ScribbleGuardPass"
SCRIBBLES = {"_input_mutable": True}


def scribbler(b: GraphBuilder, value: OutputAnchor, name: str = "reduce") -> OutputAnchor:
    """A collective that destroys its input."""
    return b.op("HcomAllReduce", value, name=name, attrs=SCRIBBLES)


def guarded(b: GraphBuilder) -> list[str]:
    """Who is given a copy, as listed; the graph keeps its values."""
    before = clone(b.graph)
    result = ge_core.compile(before, pipeline=PASS)
    result.check_proof()
    nodes = [n for n in result.graph.all_nodes() if n.op == "Identity" and n.origin == ()]
    return [node.outputs[0].readers[0].node.name for node in nodes]


def behind_a_view(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """The value is read by its own name after a view of it has been destroyed."""
    act = b.op("Relu", x, name="act")
    view = b.op("Reshape", act, name="view", reuse_input=0)
    return [scribbler(b, view), b.op("Exp", act, name="late")]


def view_of_a_constant(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """A constant lasts."""
    k = b.const("k", bytes(64), (1, 16))
    return [scribbler(b, b.op("Reshape", k, name="view", reuse_input=0))]


def store_into_a_view_of_a_constant(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """So it does where a store hits it."""
    view = b.op("Reshape", b.const("k", bytes(64), (1, 16)), name="view", reuse_input=0)
    return [b.op("Assign", view, x, name="reduce", reuse_input=0, attrs={"reference": True})]


def inner_input(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """The caller reads its value after the call."""
    g = b.subgraph("g")
    g.net_output(scribbler(g, g.data("g/d")))
    act = b.op("Relu", x, name="act")
    call = b.op("PartitionedCall", act, name="call", subgraphs={"f": g})
    return [call, b.op("Exp", act, name="late")]


def loops_output(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """What a loop delivers has two readers."""
    cond, body = b.subgraph("c"), b.subgraph("g")
    cond.net_output(cond.op("Less", cond.data("c/d"), name="c/t"))
    body.net_output(body.op("Exp", body.data("g/d"), name="g/r"))
    act = b.op("Relu", x, name="act")
    loop = b.op("While", act, name="loop", subgraphs={"cond": cond, "body": body})
    return [scribbler(b, loop), b.op("Exp", loop, name="late")]


def in_a_body(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """A turn reads its value after it has been destroyed."""
    cond, body = b.subgraph("c"), b.subgraph("g")
    cond.net_output(cond.op("Less", cond.data("c/d"), name="c/t"))
    d = body.data("g/d")
    red = scribbler(body, d)
    body.net_output(body.op("Add", red, d, name="g/r"))
    act = b.op("Relu", x, name="act")
    return [b.op("While", act, name="loop", subgraphs={"cond": cond, "body": body})]


@pytest.mark.parametrize(
    "how",
    [
        behind_a_view,
        view_of_a_constant,
        store_into_a_view_of_a_constant,
        inner_input,
        loops_output,
        in_a_body,
    ],
)
def test_who_would_be_seen_gets_a_copy(how: Any) -> None:
    """Wherever the memory is read again: by another name, in the caller, in a turn."""
    b = GraphBuilder()
    b.net_output(*how(b, b.data("x")))
    assert ["reduce"] == guarded(b)


def test_who_comes_last_gets_none() -> None:
    """Others have read the value by then; and of two that destroy it only the first is copied."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    early = b.op("Exp", act, name="early")
    view = b.op("Reshape", act, name="view", reuse_input=0)
    b.net_output(early, scribbler(b, view, "first"), scribbler(b, act, "last"))
    assert ["first"] == guarded(b)


def test_a_private_value_is_left_alone() -> None:
    """Nobody else reads it, and nothing is edited."""
    b = GraphBuilder()
    b.net_output(scribbler(b, b.op("Relu", b.data("x"))))
    version = b.graph.version
    result = ge_core.compile(b.graph, pipeline=PASS, prove=True)
    assert [] == result.graph.nodes_of("Identity")
    assert version == b.graph.version


def test_an_input_that_the_graph_updates_is_no_scratch() -> None:
    """The caller finds there what was stored, as in any compile."""
    b = GraphBuilder()
    x, y = b.data("x"), b.data("y")
    st = b.op("Mul", x, y, name="st", reuse_input=0, attrs={"reference": True})
    b.net_output(scribbler(b, st))
    assert ["reduce"] == guarded(b)
