"""Nodes that lose their task on one of several streams: the order that hung on them stays."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.ir import Graph, GraphBuilder


def updated(kind: str) -> Graph:
    """A variable read on stream 1 and updated on stream 0; only a copy or a join orders the two."""
    build = GraphBuilder("root")
    one, other = {"stream_id": 0}, {"stream_id": 1}
    x = build.data("x", (64,))
    node = build.node("Variable", name="var", shape=(64,), dtype="float32")
    variable = node.outputs[0]
    made = build.op("Relu", x, name="made", attrs=one)
    read = build.op("Relu", variable, name="read", attrs=other)
    if kind == "TensorMove":
        moved = build.op("TensorMove", made, name="moved", attrs=other)
    else:
        more = build.op("Relu", x, name="more", attrs=one)
        joined = {**other, "concat_dim": 0}
        moved = build.op("ConcatD", made, more, name="moved", shape=(128,), attrs=joined)
    used = build.op("Mul", moved, name="used", attrs=one)
    value = build.op("Sum", used, name="value", shape=(64,), attrs=one)
    updates = variable.desc.replace(reuse_input=0)
    build.node("Assign", variable, value, name="update", outputs=[updates], attrs=one)
    build.net_output(read)
    return build.graph


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("kind", ["TensorMove", "ConcatD"])
def test_an_update_stays_behind_the_reads_before_it(kind: str, level: str) -> None:
    """Taking the task away takes no order away."""
    result = ge.compile(updated(kind), level=level, verify_each=True)
    assert kind not in result.after.by_op
    assert result.proof is not None
    assert () == result.proof.violations
    assert result.check().ok


def test_a_bare_graph_is_read_the_same_way() -> None:
    """The proof of a graph and a plan without a task list knows of the same order."""
    from ge_core.proof import verify_compile

    original = updated("ConcatD")
    result = ge.compile(original, level="O3")
    assert result.kernel is not None
    proof = verify_compile(original, result.graph, result.plan, None, ops=result.kernel.ops)
    assert () == proof.violations


def called() -> Graph:
    """A collective behind a call, ordered behind one before it by a copy in a subgraph alone."""
    build = GraphBuilder("root")
    one, other = {"stream_id": 0}, {"stream_id": 1}
    writes = {"_input_mutable": True}
    x = build.data("x", (64,))
    made = build.op("Relu", x, name="made", attrs=one)
    build.op("HcomAllReduce", made, name="first", attrs={**one, **writes})
    start = build.op("Relu", x, name="start", attrs=other)
    sub = build.subgraph("g")
    inner = sub.op("Relu", sub.data("d", (64,), index=0), name="inner", attrs=other)
    moved = sub.op("TensorMove", inner, name="moved", attrs=one)
    sub.net_output(sub.op("HcomAllReduce", moved, name="second", attrs={**other, **writes}))
    call = build.op("PartitionedCall", start, name="call", subgraphs={"f": sub}, attrs=other)
    build.net_output(call)
    return build.graph


@pytest.mark.parametrize("level", ["O3", "O4"])
def test_collectives_in_subgraphs_stay_behind_those_outside(level: str) -> None:
    """A copy that stood alone on its stream inside a call had waited for that stream outside."""
    result = ge.compile(called(), level=level, verify_each=True)
    assert "TensorMove" not in result.after.by_op
    assert result.proof is not None
    assert () == result.proof.violations
    assert result.check().ok
