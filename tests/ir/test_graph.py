"""The graph's edits: both ends of every edge, order, control edges, rollback."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import GraphError
from ge_core.ir import Graph, GraphBuilder, clone, structural_hash, verify, write_graph
from ge_core.testing.choices import SeededChoices
from ge_core.testing.random_graphs import GraphKnobs, random_graph


def chain(*ops: str) -> Graph:
    """Data -> ops -> NetOutput."""
    build = GraphBuilder()
    last = build.data("x")
    for op in ops:
        last = build.op(op, last, name=op.lower())
    build.net_output(last)
    return build.graph


def names(graph: Graph) -> list[str]:
    """Node names in order."""
    return [node.name for node in graph.nodes]


def test_nodes_keep_their_order_and_can_be_placed() -> None:
    """A node added before or after another one stands there; removal closes the gap."""
    graph = chain("Relu", "Exp")
    graph.add_node("A", "a", before=graph.node("relu"))
    graph.add_node("B", "b", after=graph.node("exp"))
    assert ["x", "a", "relu", "exp", "b", "NetOutput"] == names(graph)
    graph.remove(graph.node("a"))
    assert ["x", "relu", "exp", "b", "NetOutput"] == names(graph)
    verify(graph)


def test_iteration_survives_the_removal_of_what_it_stands_on() -> None:
    """Removing the current node, or the next ones, leads on to the nodes that are left."""
    graph = Graph()
    for name in "abcdef":
        graph.add_node("NoOp", name)
    seen = []
    for node in graph.nodes:
        seen.append(node.name)
        if node.name == "b":
            for gone in "bcd":
                graph.remove(graph.node(gone))
    assert ["a", "b", "e", "f"] == seen


def test_bypass_links_readers_to_the_source_and_keeps_order() -> None:
    """Readers move to what feeds the node; its predecessors stay ordered before its successors."""
    build = GraphBuilder()
    x = build.data("x")
    first = build.node("NoOp", name="first", outputs=[])
    move = build.node("TensorMove", x, name="move", control=[first])
    relu = build.op("Relu", move.outputs[0], name="relu")
    last = build.node("NoOp", name="last", outputs=[], control=[move])
    build.net_output(relu)
    graph = build.graph
    graph.bypass(move)
    verify(graph)
    assert x is graph.node("relu").inputs[0].source
    assert {"first"} == {n.name for n in graph.node("relu").control_inputs}
    assert {"x", "first"} == {n.name for n in last.control_inputs}


def test_bypass_uses_one_barrier_for_many_pairs() -> None:
    """Forty predecessors and forty successors are ordered through one NoOp, not 1,600 edges."""
    build = GraphBuilder()
    x = build.data("x")
    before = [build.node("NoOp", name=f"p{i}", outputs=[]) for i in range(40)]
    move = build.node("TensorMove", x, name="move", control=before)
    for i in range(40):
        build.node("NoOp", name=f"s{i}", outputs=[], control=[move])
    graph = build.graph
    graph.bypass(move)
    barrier = graph.node("move_noop")
    assert 41 == len(barrier.control_inputs)
    assert 40 == len(barrier.control_outputs)
    assert () == barrier.origin


def test_bypass_keeps_what_a_call_meant_to_a_stream_inside() -> None:
    """The node's stream and the caller's waited for each other before the call and behind it."""
    build = GraphBuilder()
    x = build.data("x")
    inner = build.subgraph("g")
    given = inner.data("d", index=0)
    copies = [inner.op("TensorMove", given, name=f"m{at}", attrs={"stream_id": 0}) for at in "ab"]
    inner.net_output(*copies)
    call = build.node(
        "PartitionedCall", x, name="call", subgraphs={"f": inner}, attrs={"stream_id": 1}
    )
    build.net_output(*call.outputs)
    graph = build.graph
    for copy in copies:
        inner.graph.bypass(copy.node)
    verify(graph)
    (ahead,), (behind,) = call.control_inputs, call.control_outputs
    assert [ahead, call, behind] == [n for n in graph.nodes if n.op in ("NoOp", "PartitionedCall")]
    assert [("NoOp", 0)] * 2 == [(tie.op, tie.attrs["stream_id"]) for tie in (ahead, behind)]


def test_a_node_that_is_read_can_not_be_removed() -> None:
    """The error names the node and its reader; nothing has changed."""
    graph = chain("Relu", "Exp")
    before = write_graph(graph)
    with pytest.raises(GraphError, match=r"node 'relu': still read by exp@0"):
        graph.remove(graph.node("relu"))
    assert before == write_graph(graph)


def test_names_are_unique_below_the_root() -> None:
    """A second node of one name is refused, also in a subgraph."""
    build = GraphBuilder()
    build.data("x")
    with pytest.raises(GraphError, match="'x'.*used twice"):
        build.subgraph("g").data("x")


def test_an_edge_can_not_cross_graphs() -> None:
    """Feeding a node from another graph is refused and names both."""
    build = GraphBuilder()
    x = build.data("x")
    with pytest.raises(GraphError, match="x:0 lies in another graph"):
        build.subgraph("g").op("Relu", x, name="inner")


def test_rollback_takes_back_a_failed_edit() -> None:
    """An exception inside a transaction leaves the graph as it was."""
    graph = chain("Relu", "TensorMove", "Exp")
    before = structural_hash(graph)
    with pytest.raises(ZeroDivisionError), graph.transaction():
        graph.bypass(graph.node("tensormove"))
        raise ZeroDivisionError
    assert before == structural_hash(graph)
    verify(graph)


def random_edit(graph: Graph, pick: SeededChoices) -> None:
    """One random, valid edit."""
    parts = graph.all_graphs()
    part = pick.pick(parts)
    nodes = list(part.nodes)
    if not nodes:
        return
    node = pick.pick(nodes)
    kind = pick.integer(0, 7)
    if kind == 0 and node.outputs and node.op in ("TensorMove", "Identity"):
        part.bypass(node)
    elif kind == 1:
        part.set_attr(node, "k", pick.integer(0, 9))
    elif kind == 2:
        part.del_attr(node, "k")
    elif kind == 3:
        fresh = part.add_node("NoOp", before=node)
        later = nodes[-1]
        if later is not node:
            part.add_control(fresh, later)
    elif kind == 4 and node.control_inputs:
        part.remove_control(pick.pick(node.control_inputs), node)
    elif kind == 5 and node.outputs:
        part.set_desc(node.outputs[0], node.outputs[0].desc.with_attr("t", pick.integer(0, 9)))
    elif kind == 6 and not any(o.readers for o in node.outputs):
        part.remove(node)
    elif kind == 7 and node.inputs and node.inputs[0].source is not None:
        source = node.inputs[0].source
        part.disconnect(node.inputs[0])
        part.connect(source, node.inputs[0])


@given(st.integers(0, 10_000))
def test_any_edits_roll_back(seed: int) -> None:
    """After any sequence of edits, nested or not, rollback restores the graph to the byte."""
    graph = random_graph(seed, GraphKnobs(nodes=8))
    pick = SeededChoices(seed)
    before, text = structural_hash(graph), write_graph(graph)
    readers = [[repr(r) for o in n.outputs for r in o.readers] for n in graph.all_nodes()]
    with graph.transaction() as outer:
        for _ in range(6):
            random_edit(graph, pick)
        with graph.transaction() as inner:
            middle = structural_hash(graph)
            for _ in range(6):
                random_edit(graph, pick)
            inner.rollback()
            assert middle == structural_hash(graph)
        verify(graph)
        outer.rollback()
    assert before == structural_hash(graph)
    assert text == write_graph(graph)
    assert readers == [[repr(r) for o in n.outputs for r in o.readers] for n in graph.all_nodes()]
    verify(graph)


@given(st.integers(0, 10_000))
def test_a_clone_is_equal_and_apart(seed: int) -> None:
    """A clone equals its original; edits of one don't reach the other."""
    graph = random_graph(seed)
    copy = clone(graph)
    verify(copy)
    assert structural_hash(graph) == structural_hash(copy)
    before = structural_hash(graph)
    for _ in range(5):
        random_edit(copy, SeededChoices(seed))
    assert before == structural_hash(graph)


def test_nodes_are_counted_by_op_through_every_edit() -> None:
    """Adding, removing, renaming, listing anew, and taking all of that back."""
    graph = chain("Relu", "Exp")
    graph.add_node("Relu", "second", [graph.node("exp").outputs[0]], [])

    def counted() -> dict[str, int]:
        return {op: graph.count_of(op) for op in ("Relu", "Exp", "Neg")}

    def looked_at() -> dict[str, int]:
        return {op: len(graph.nodes_of(op)) for op in ("Relu", "Exp", "Neg")}

    before = looked_at()
    assert before == counted()
    with graph.transaction() as edits:
        new = graph.add_node("Neg", "new", [], [])
        graph.set_op(graph.nodes_of("Exp")[0], "Neg")
        graph.reorder(list(graph.nodes)[::-1])
        assert looked_at() == counted() != before
        graph.remove(new)
        assert looked_at() == counted()
        edits.rollback()
    assert before == counted() == looked_at()
    assert 3 == graph.count_of("Relu", "Exp")
