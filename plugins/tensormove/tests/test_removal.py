"""What a removal does to the graph: edges that keep the order, descriptions, later looks."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc, structural_hash

STORE = {"reference": True}


def control_edges(graph: Graph) -> set[tuple[str, str]]:
    """All control edges by name."""
    return {(n.name, after.name) for n in graph.all_nodes() for after in n.control_outputs}


def stored(b: GraphBuilder, target: OutputAnchor, name: str) -> OutputAnchor:
    """Overwrite in place."""
    return b.op("Foo", target, name=name, attrs=STORE, reuse_input=0)


def test_readers_beside_the_copy_come_before_what_overwrites_it(delete: Any) -> None:
    """Each sibling gets an edge to each of the copy's readers that stores in place."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    for at in range(2):
        b.op("Exp", act, name=f"side{at}")
    stored(b, mv, "s")
    b.op("Exp", mv, name="reader")
    delete(b.graph)
    assert b.graph.find("mv") is None
    assert {("side0", "s"), ("side1", "s")} == control_edges(b.graph)


def test_an_edge_that_is_there_is_not_added_again(delete: Any) -> None:
    """An existing order is taken as it is."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    side = b.op("Exp", act, name="side")
    b.op(
        "Assign", b.op("TensorMove", act, name="mv"), side, name="s", reuse_input=0, control=[side]
    )
    delete(b.graph)
    assert {("side", "s")} == control_edges(b.graph)


def test_many_siblings_before_many_writers_pass_one_barrier(delete: Any) -> None:
    """More than a thousand pairs are ordered through one node that does nothing."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    for at in range(60):
        b.op("Exp", act, name=f"side{at}")
    mv = b.op("TensorMove", act, name="mv")
    for at in range(20):
        stored(b, mv, f"s{at}")
    delete(b.graph)
    barrier = b.graph.node("mv_order")
    assert b.graph.find("mv") is None and "NoOp" == barrier.op
    assert [60, 20] == [len(barrier.control_inputs), len(barrier.control_outputs)]


def test_who_waits_for_the_copy_waits_for_its_readers(delete: Any) -> None:
    """Whoever came after the copy comes after its readers; who came before it, before them."""
    b = GraphBuilder()
    first = b.op("Exp", b.data("x"), name="first")
    act = b.op("Relu", b.data("y"), name="act")
    mv = b.op("TensorMove", act, name="mv", control=[first])
    b.op("Tanh", mv, name="use")
    b.op("Abs", b.data("z"), name="later", control=[mv])
    delete(b.graph)
    expected = {("first", "use"), ("first", "later"), ("act", "later"), ("use", "later")}
    assert expected == control_edges(b.graph)


def test_who_waits_for_the_copy_and_reads_it_needs_no_edges(delete: Any) -> None:
    """A reader comes after the copy anyway, so the other readers need not finish before it."""
    b = GraphBuilder()
    mv = b.op("TensorMove", b.op("Relu", b.data("x"), name="act"), name="mv")
    b.op("Exp", mv, name="one")
    b.op("Exp", mv, name="other", control=[mv])
    delete(b.graph)
    assert b.graph.find("mv") is None
    assert ("one", "other") not in control_edges(b.graph)


def test_a_refused_edge_leaves_the_graph_as_it_was(delete: Any) -> None:
    """Edges added on the way to a removal that fails are taken back."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    later = b.op("Exp", b.data("y"), name="later", control=[mv])
    stored(b, mv, "s")
    b.op("Exp", act, name="side", control=[later])
    before = structural_hash(b.graph)
    env = delete(b.graph)
    assert "R3_EDGE_REFUSED" == env.remarks.final("mv").code
    assert before == structural_hash(b.graph)


def test_a_shape_that_only_the_copy_knew_is_kept(delete: Any) -> None:
    """The source gets the copy's shape, or the tensor could no longer be planned."""
    b = GraphBuilder()
    unknown = b.op("Foo", b.data("x"), name="act", shape=(-1,))
    known = b.node("TensorMove", unknown, name="mv", outputs=[TensorDesc.make(shape=(3,))])
    b.op("Exp", known.outputs[0], name="use")
    delete(b.graph)
    assert (3,) == b.graph.node("act").outputs[0].desc.shape


def test_stacked_copies_go_one_after_the_other(delete: Any) -> None:
    """Each is the other's source until it goes; what saves bytes is said for each."""
    b = GraphBuilder()
    last = b.op("Relu", b.data("x", (4,)), name="act")
    for at in range(3):
        last = b.op("TensorMove", last, name=f"mv{at}")
    b.op("Exp", last, name="use")
    env = delete(b.graph)
    assert "act" == b.graph.node("use").in_nodes[0].name
    assert [("REMOVED", 16)] * 3 == [(r.code, r.bytes) for r in env.remarks.finals()]


def test_a_kept_copy_is_looked_at_again_when_a_neighbour_goes(delete: Any) -> None:
    """The scribbler's copy stays while its source is shared; the unread sibling waits for it."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    b.op("HcomAllReduce", mv, name="s", attrs={"_input_mutable": True})
    b.op("TensorMove", act, name="unread", control=[mv])
    env = delete(b.graph)
    assert ["R4_CONFLICT", "REMOVED"] == [r.code for r in env.remarks.of("mv")]


def test_a_copy_without_readers_goes(delete: Any) -> None:
    """Nobody can see it."""
    b = GraphBuilder()
    b.op("TensorMove", b.op("Relu", b.data("x")), name="mv")
    b.node("TensorMove", b.data("y"), name="no_output", outputs=[], attrs={"stream_id": 0})
    env = delete(b.graph, {"ge.exec.inputReuseMemIndexes": "1"})
    assert {"REMOVED"} == {r.code for r in env.remarks.finals()}
    assert [] == b.graph.nodes_of("TensorMove")


def test_a_listing_that_is_no_order_is_sorted_first(delete: Any) -> None:
    """As GE does before its walk; nodes move no further than their edges make them."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    mv = b.op("TensorMove", act, name="mv")
    b.op("Exp", mv, name="use")
    graph = b.graph
    graph.reorder([graph.node(n) for n in ("use", "x", "act", "mv")])
    delete(graph)
    assert ["x", "act", "use"] == [node.name for node in graph.nodes]


@pytest.mark.parametrize("copies", [1, 2])
def test_a_source_feeds_one_result_only(copies: int, delete: Any) -> None:
    """Two results may not share memory that they did not share before: one copy stays."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    results = [b.op("TensorMove", act, name=f"mv{at}") for at in range(copies)]
    b.net_output(*results)
    delete(b.graph)
    assert copies - 1 == len(b.graph.nodes_of("TensorMove"))
