"""Copies for collectives: what they would destroy, what can't lie beside other inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ge_core
from ge_core.api import GraphBuilder, OutputAnchor, PassError, clone

Run = Callable[..., Any]
MEMCPY, CONTINUOUS = "HcclMemcpyPass", "HcclContinuousMemcpyPass"
DESTROYS = {"_input_mutable": True}
PACKED = {"continuous_input": True}


def facts(remark: Any) -> tuple[str, str, list[str | None], int | None]:
    """What a remark says: kind, code, the anchors to blame, bytes."""
    return (
        str(remark.kind),
        remark.code,
        [one.anchor or one.node for one in remark.blame],
        remark.bytes,
    )


def test_a_value_that_is_read_later_is_copied(run: Run) -> None:
    """By the GE name, with the folding mark; the copy takes over what the collective waits for."""
    b = GraphBuilder()
    x = b.data("x")
    first = b.op("Exp", x, name="first")
    red = b.op("HcomAllReduce", x, name="red", attrs=DESTROYS).node
    b.graph.add_control(first.node, red)
    b.net_output(red.outputs[0], b.op("Relu", x, name="late"))
    env = run(b.graph, MEMCPY)
    copy = b.graph.node("red_HcclMemcpyPass_Identity0")
    assert {"no_need_constant_folding": False} == dict(copy.attrs)
    assert [first.node] == list(copy.control_inputs)
    assert [] == list(red.control_inputs)
    expected = ("missed", "DESTROYS_BEFORE_READ", ["red@0", "late@0"], 64)
    assert expected == facts(env.remarks.final(copy.name))
    assert "_skip_rw_conflict" not in red.attrs


@pytest.mark.parametrize("op", ["Shape", "Reshape"])
def test_who_reads_shapes_only_needs_no_contents(run: Run, op: str) -> None:
    """The collective is marked as one that needs no copy."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    red = b.op("HcomAllReduce", act, name="red", attrs=DESTROYS)
    other = b.op(op, act, name="other")
    b.net_output(red, b.op("Shape", other, name="shape") if op == "Reshape" else other)
    run(b.graph, MEMCPY)
    assert [] == b.graph.nodes_of("Identity")
    assert True is red.node.attrs["_skip_rw_conflict"]


def test_lasting_memory_is_copied_once_per_input(run: Run) -> None:
    """A constant and a variable, also with a single reader; a second run adds nothing."""
    b = GraphBuilder()
    w = b.op("Variable", name="w")
    red = b.op("HcomAllReduce", b.const("k", bytes(64), (1, 16)), w, name="red", attrs=DESTROYS)
    b.net_output(red)
    env = run(b.graph, MEMCPY)
    copies = [node.name for node in b.graph.nodes_of("Identity")]
    assert ["red_HcclMemcpyPass_Identity0", "red_HcclMemcpyPass_Identity1"] == copies
    expected = ("missed", "DESTROYS_LASTING", ["red@1", "w:0"], 64)
    assert expected == facts(env.remarks.final(copies[1]))
    run(b.graph, MEMCPY)
    assert copies == [node.name for node in b.graph.nodes_of("Identity")]


def test_an_open_input_is_an_error(run: Run) -> None:
    """It names node and input."""
    b = GraphBuilder()
    b.data("x")
    b.graph.add_node("HcomAllReduce", "red", [None], [], attrs=DESTROYS)
    with pytest.raises(PassError, match="node 'red'.*input 0.*not connected"):
        run(b.graph, MEMCPY)


def broadcast(*, stored: bool = False) -> GraphBuilder:
    """A broadcast into a variable, and who reads its result or waits for it."""
    b = GraphBuilder()
    w = b.op("Variable", name="w")
    cast = b.op("HcomBroadcast", w, name="cast", attrs=DESTROYS)
    waits = b.op("Exp", b.data("x"), name="waits").node
    b.graph.add_control(cast.node, waits)
    if stored:
        b.op("Assign", w, cast, name="own", attrs={"reference": True}, reuse_input=0)
    b.net_output(b.op("Relu", cast, name="use"), waits.outputs[0])
    return b


@pytest.mark.parametrize(
    ("name", "store"), [(MEMCPY, "cast_Assign_0"), (CONTINUOUS, "w_Assign")], ids=str
)
def test_a_broadcast_still_fills_its_variable(run: Run, name: str, store: str) -> None:
    """Its result is stored back before anybody uses it; the proof is told that values change."""
    graph = broadcast().graph
    if name == CONTINUOUS:
        graph.set_attr(graph.node("cast"), "continuous_input", True)
    before = clone(graph)
    env = run(graph, name)
    assign = graph.node(store)
    assert ["w:0", "cast:0"] == [repr(anchor.source) for anchor in assign.inputs]
    assert {"use", "waits"} == {node.name for node in assign.control_outputs}
    assert 0 == assign.outputs[0].desc.reuse_input
    (remark,) = env.remarks.of(store)
    assert ("analysis", "BROADCAST_STORED", ["cast@0", "w:0"], 64) == facts(remark)
    result = ge_core.compile(before, pipeline=name)
    assert result.proof is not None and result.proof.ok
    assert f"{name} changed values; judged by what it left" in result.proof.assumptions


def test_a_variable_that_is_stored_already_is_left_alone(run: Run) -> None:
    """Nothing is stored twice."""
    graph = broadcast(stored=True).graph
    run(graph, MEMCPY)
    assert ["own"] == [node.name for node in graph.nodes_of("Assign")]


# ---- side by side --------------------------------------------------------------------------------


def test_one_value_lies_in_one_packed_area(run: Run) -> None:
    """Of two inputs of one node and one of another the last keeps the original."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    one = b.op("HcomAllGather", act, act, name="one", attrs=PACKED)
    b.net_output(one, b.op("HcomAllGather", act, one, name="two", attrs=PACKED))
    env = run(b.graph, CONTINUOUS)
    copies = [node.name for node in b.graph.nodes_of("Identity")]
    stem = "act_HcclContinuousMemcpyPass_Identity"
    assert [stem, f"{stem}_1"] == copies
    assert act is b.graph.node("two").inputs[0].source
    expected = ("missed", "PACKED_TWICE", ["one@0", "two@0"], 64)
    assert expected == facts(env.remarks.final(stem))
    assert (True, False) == tuple(b.graph.node(stem).attrs.values())


def test_a_copy_for_peer_memory_lies_there(run: Run) -> None:
    """A value with a home is copied, to the peer's memory; the kind may be given by name."""
    b = GraphBuilder()
    x = b.data("x")
    send = b.op("HcomSend", x, x, name="send", attrs={"_input_memory_type": [17, "P2P"]})
    b.net_output(send)
    env = run(b.graph, CONTINUOUS)
    copies = b.graph.nodes_of("Identity")
    assert ["P2P", "P2P"] == [node.outputs[0].desc.mem_type for node in copies]
    expected = ("missed", "PEER_HAS_HOME", ["send@0", "x:0"], 64)
    assert expected == facts(env.remarks.final(copies[0].name))


def test_values_with_a_home_are_copied(run: Run) -> None:
    """Inputs, constants of all kinds, variables; open inputs are passed over."""
    b = GraphBuilder()
    values = [b.data("x"), b.op("FileConstant", name="f"), b.op("Variable", name="w")]
    gather = b.op("HcomAllGather", *values, None, name="gather", attrs=PACKED)
    b.net_output(gather)
    env = run(b.graph, CONTINUOUS)
    assert ["Identity"] * 3 == [node.op for node in gather.node.in_nodes]
    name = gather.node.in_nodes[0].name
    expected = ("missed", "PACKED_HAS_HOME", ["gather@0", "x:0"], 64)
    assert expected == facts(env.remarks.final(name))


@pytest.mark.parametrize("count", [50, 200])
def test_copies_on_two_streams_are_ordered_by_few_edges(run: Run, count: int) -> None:
    """A copy waits for who destroys its value first, and is waited for: an edge per stream."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act", attrs={"stream_id": 0})
    ends: list[OutputAnchor] = []
    for at in range(count):
        on = {**DESTROYS, "stream_id": at % 2}
        red = b.op("HcomAllReduce", act, name=f"red{at}", attrs=on)
        if ends:
            b.graph.add_control(ends[-1].node, red.node)
        ends.append(red)
    b.net_output(*ends)
    before = clone(b.graph)
    run(b.graph, MEMCPY)
    copies = b.graph.nodes_of("Identity")
    assert count - 1 == len(copies)
    edges = [len(node.control_inputs) + len(node.control_outputs) for node in copies]
    assert max(edges) <= 3
    for level in ("O0", "O3"):
        ge_core.compile(clone(before), level=level).check_proof()
