"""Single facts that the comparison with the plain telling of the rules brought to light."""

from __future__ import annotations

from typing import Any

import ge_core
from ge_core.api import GraphBuilder

STORE = {"reference": True}
SCRIBBLE = {"_input_mutable": True}


def test_a_copy_that_nobody_can_read_goes_beside_a_store(delete: Any) -> None:
    """It has no reader that would have to come before the store, and is nobody's sibling later."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    b.node("TensorMove", act, name="unread", outputs=[])
    b.op("Foo", b.op("TensorMove", act, name="mv"), name="s", attrs=STORE, reuse_input=0)
    delete(b.graph)
    assert [] == b.graph.nodes_of("TensorMove")
    assert [] == list(b.graph.node("s").control_inputs)


def test_a_store_beside_an_unread_copy_does_not_keep_it(delete: Any) -> None:
    """Nor does it stop the pass."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    b.node("TensorMove", act, name="unread", outputs=[])
    b.op("Foo", act, name="s", attrs={"rw": {"inputs": {"0": "write"}}})
    delete(b.graph)
    assert b.graph.find("unread") is None


def test_a_call_that_stores_inside_waits_for_the_siblings(delete: Any) -> None:
    """It is a direct reader that overwrites; the store inside needs no order of its own."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    sub = b.subgraph("g")
    sub.net_output(sub.op("Foo", sub.data("d", index=0), name="s", attrs=STORE, reuse_input=0))
    mv = b.op("TensorMove", act, name="mv")
    call = b.op("PartitionedCall", mv, name="call", subgraphs={"f": sub})
    side = b.op("Exp", act, name="side")
    b.net_output(call, side)
    delete(b.graph)
    assert b.graph.find("mv") is None
    assert [side.node] == list(call.node.control_inputs)


def test_the_matrix_is_asked_before_what_only_the_listing_orders(delete: Any) -> None:
    """A copy that GE keeps by its own rules says which of them."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    seen = b.op("Reshape", mv, name="v", reuse_input=0)
    b.op("HcomAllReduce", mv, name="s", attrs=SCRIBBLE)
    b.op("Exp", seen, name="peek")
    b.op("Exp", act, name="side")
    assert "R4_CONFLICT" == delete(b.graph).remarks.final("mv").code


def test_what_an_opaque_call_hands_through_may_be_read(delete: Any) -> None:
    """A constant inside is as special as one outside: its copy goes where it is only read."""
    b = GraphBuilder()
    sub = b.subgraph("g")
    sub.net_output(sub.op("Const", name="c"), sub.op("Variable", name="w"))
    x = b.data("x")
    call = b.node(
        "StatefulPartitionedCall", x, subgraphs={"f": sub}, outputs=[x.desc, x.desc]
    ).outputs
    b.op("Exp", b.op("TensorMove", call[0], name="const"), name="e")
    b.op("Exp", b.op("TensorMove", call[1], name="var"), name="f")
    b.op("Reshape", b.op("TensorMove", call[0], name="handed"), name="v", reuse_input=0)
    remarks = delete(b.graph).remarks
    codes = [remarks.final(name).code for name in ("const", "var", "handed")]
    assert ["REMOVED", "REMOVED", "R1_FIXED_INSIDE"] == codes


def test_a_store_into_what_an_opaque_call_hands_through(delete: Any) -> None:
    """Between the copy and its reader the variable changes by its own name."""
    b = GraphBuilder()
    sub = b.subgraph("g")
    w = sub.op("Variable", name="w")
    stored = sub.op("Assign", w, sub.data("d", index=0), name="in", reuse_input=0)
    sub.net_output(w, stored)
    x = b.data("x")
    call = b.node(
        "StatefulPartitionedCall", x, subgraphs={"f": sub}, outputs=[x.desc, x.desc]
    ).outputs
    mv = b.op("TensorMove", call[0], name="mv")
    b.op("Assign", call[1], b.op("Relu", x), name="s", reuse_input=0)
    b.op("Exp", mv, name="late")
    assert "R1_FIXED_INSIDE" == delete(b.graph).remarks.final("mv").code


def test_a_declared_input_is_used_up_behind_a_view() -> None:
    """The caller has given it away; only a direct reader is asked about scratch memory."""
    b = GraphBuilder()
    view = b.op("Reshape", b.op("TensorMove", b.data("x"), name="mv"), name="v", reuse_input=0)
    b.net_output(b.op("HcomAllReduce", view, name="s", attrs=SCRIBBLE))
    options = {"ge.exec.inputReuseMemIndexes": "0"}
    result = ge_core.compile(b.graph, level="O3", options=options, objective="copies")
    assert result.graph.find("mv") is None
    result.check_proof()


def test_an_empty_name_is_nobodys_memory(delete: Any) -> None:
    """A view that says it is a variable may be written by that name; an empty name says nothing."""
    codes = []
    for name in ("", "w"):
        b = GraphBuilder()
        act = b.op("Relu", b.data("x"), name="act")
        b.op("Exp", act, name="side")
        mv = b.op("TensorMove", act, name="mv")
        b.op("Squeeze", mv, name="v", reuse_input=0, attrs={"ref_var_src_var_name": name})
        codes.append(delete(b.graph).remarks.final("mv").code)
    assert ["REMOVED", "R3_WRITER_BEHIND_VIEW"] == codes


def test_neighbours_are_not_made_one_memory(delete: Any) -> None:
    """A value can't lie at two places of one row: the second copy of it stays."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    both = [b.op("TensorMove", act, name=f"mv{at}") for at in range(2)]
    row = b.node("HcomAllGather", *both, name="row", attrs={"continuous_input": True})
    b.net_output(row.outputs[0])
    final = delete(b.graph).remarks.final("mv1")
    assert "R5_TWO_PLACES" == final.code
    assert ["row@0", "row@1"] == [blamed.anchor for blamed in final.blame[:2]]
    assert ["mv1"] == [node.name for node in b.graph.nodes_of("TensorMove")]
