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


def overtaking() -> Graph:
    """Two collectives on two streams; the copy that the second one waits for stands between them.

    Taking out the first copy would let the first collective write what the second copy reads, and
    so hold it back behind that copy: nothing would then put it before the second collective.
    """
    build = GraphBuilder("root")
    zero, one = {"stream_id": 0}, {"stream_id": 1}
    writes = {"_input_mutable": True}
    made = build.op("Relu", build.data("x", (64,)), name="made", attrs=zero)
    early = build.op("TensorMove", made, name="early", attrs=one)
    build.op("HcomAllReduce", early, name="first", attrs={**zero, **writes})
    late = build.op("TensorMove", made, name="late", attrs=zero)
    build.net_output(build.op("HcomAllReduce", late, name="second", attrs={**one, **writes}))
    return build.graph


@pytest.mark.parametrize("level", ["O3", "O4"])
def test_a_node_held_back_keeps_its_place_before_what_waits_for_its_stream(level: str) -> None:
    """The edge that a removal needs is refused where streams meet at what it would let pass."""
    result = ge.compile(overtaking(), level=level, verify_each=True)
    assert result.proof is not None
    assert () == result.proof.violations
    why = {"O3": "R4_CONFLICT", "O4": "O4_LISTED_ORDER"}
    assert why[level] == result.remarks.final("early").code
    assert result.check().ok


def waiting_inside() -> Graph:
    """A call on stream 0 that waits, by a copy alone, for what stream 1 did before it."""
    build = GraphBuilder("root")
    zero, one = {"stream_id": 0}, {"stream_id": 1}
    x = build.data("x", (64,))
    start = build.op("Relu", x, name="start", attrs=zero)
    build.op("Sum", build.op("Relu", x, name="far", attrs=one), name="spent", shape=(1,), attrs=one)
    sub = build.subgraph("g")
    moved = sub.op("TensorMove", sub.data("d", (64,), index=0), name="moved", attrs=one)
    inner = sub.op("Relu", moved, name="inner", attrs=zero)
    sub.net_output(sub.op("Relu", inner, name="last", attrs=zero))
    call = build.op("PartitionedCall", start, name="call", subgraphs={"f": sub}, attrs=zero)
    build.net_output(call)
    return build.graph


@pytest.mark.parametrize("level", ["O3", "O4"])
def test_a_call_that_begins_by_waiting_is_proved(level: str) -> None:
    """The wait comes before the first task of the call, which reuses the bytes waited for."""
    result = ge.compile(waiting_inside(), level=level, verify_each=True)
    assert "TensorMove" not in result.after.by_op
    assert result.plan.explain("far:0", "call/inner:0").may_share
    far, inner = result.plan.find("far:0"), result.plan.find("call/inner:0")
    assert (far.pool, far.offset) == (inner.pool, inner.offset)
    assert result.proof is not None
    assert () == result.proof.violations
