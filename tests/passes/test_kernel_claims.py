"""The kernel's own claims: what each forbids, and what it does not."""

from __future__ import annotations

import pytest

from ge_core.ir import Graph, GraphBuilder
from ge_core.passes.claims import Breach
from ge_core.passes.kernel_claims import STREAM_LABEL, kernel_claims
from ge_core.plugin.registries import builtin_registries


def model() -> Graph:
    """x -> TensorMove m -> Relu r -> out, and a subgraph with one Identity."""
    builder = GraphBuilder()
    inner = builder.subgraph("g")
    inner.node("Identity", inner.data("d"), name="i")
    move = builder.node("TensorMove", builder.data("x"), name="m")
    relu = builder.node("Relu", move.outputs[0], name="r")
    builder.node("PartitionedCall", relu.outputs[0], name="call", subgraphs={"f": inner})
    return builder.graph


def verdict(name: str, graph: Graph, edit: object) -> str | None:
    """What a claim says of an edit."""
    claim = kernel_claims()[name]
    assert claim.remember is not None and callable(edit)
    before = claim.remember(graph)
    edit(graph)
    found = claim.check(graph, before)
    assert found is None or isinstance(found, Breach)
    return None if found is None else str(found)


def add_relu(graph: Graph) -> None:
    """A Relu behind m."""
    feed = graph.node("m").outputs[0]
    graph.add_node("Relu", "new", [feed], [feed.desc])


def drop_inner(graph: Graph) -> None:
    """The Identity of the subgraph."""
    inner = graph.node("i")
    assert inner.graph is not None
    inner.graph.remove(inner)


def move_last_first(graph: Graph) -> None:
    """List m before x."""
    order = list(graph.nodes)
    graph.reorder([order[1], order[0], *order[2:]])


@pytest.mark.parametrize(
    ("name", "edit", "expected"),
    [
        ("nodes_stay", lambda g: g.bypass(g.node("r")), "node 'r' (Relu) is gone"),
        ("nodes_stay", drop_inner, "node 'i' (Identity) is gone"),
        ("nodes_stay", add_relu, None),
        ("no_new_nodes", add_relu, "node 'new' (Relu) is new"),
        ("no_new_nodes", lambda g: g.bypass(g.node("r")), None),
        ("moves_stay", lambda g: g.bypass(g.node("m")), "node 'm' (TensorMove) is gone"),
        ("moves_stay", drop_inner, "node 'i' (Identity) is gone"),
        ("moves_stay", lambda g: g.bypass(g.node("r")), None),
        ("moves_stay", lambda g: g.set_op(g.node("m"), "Identity"), None),
        (
            "moves_stay",
            lambda g: g.set_op(g.node("m"), "Relu"),
            "node 'm' was a TensorMove and is a Relu",
        ),
        ("order_frozen", add_relu, "node 'new' (Relu) is new"),
        ("order_frozen", drop_inner, "node 'i' (Identity) is gone"),
        ("order_frozen", move_last_first, "node 'm' stands elsewhere in the listed order"),
        ("order_frozen", lambda g: g.set_attr(g.node("m"), "a", 1), None),
    ],
)
def test_what_a_claim_says(name: str, edit: object, expected: str | None) -> None:
    """The first node at fault in listed order, below the root too."""
    assert expected == verdict(name, model(), edit)


def test_a_new_node_takes_its_neighbours_stream_label() -> None:
    """Where the neighbours have none, or the new node is a source of values, it needs none."""
    graph = model()
    assert verdict("stream_labels", graph, add_relu) is None
    labelled = model()
    labelled.set_attr(labelled.node("m"), STREAM_LABEL, "s1")
    text = "node 'new' (Relu) is new and has no _stream_label, as its neighbour 'm'"
    assert text == verdict("stream_labels", labelled, add_relu)
    labelled.set_attr(labelled.node("new"), STREAM_LABEL, "s1")
    assert verdict("stream_labels", labelled, lambda g: None) is None

    def feed_by_constant(graph: Graph) -> None:
        desc = graph.node("m").outputs[0].desc
        constant = graph.add_node("Const", "c", [], [desc])
        graph.rewire(graph.node("m").inputs[0], constant.outputs[0])

    assert verdict("stream_labels", labelled, feed_by_constant) is None


def test_a_barrier_that_a_removal_leaves_needs_no_label() -> None:
    """It has no data neighbours."""
    graph = model()
    for name in ("m", "r"):
        graph.set_attr(graph.node(name), STREAM_LABEL, "s1")
    graph.set_attr(graph.node("m"), "stream_id", 1)
    assert verdict("stream_labels", graph, lambda g: g.bypass(g.node("m"))) is None
    assert any(node.op == "NoOp" for node in graph.nodes)


def test_they_are_registered_like_a_plugins() -> None:
    """A listing shows them, and nobody can take their names."""
    registered = builtin_registries().passes.claims
    assert sorted(kernel_claims()) == registered.names()
    assert {"graph-engine-core"} == {e.owner.distribution for e in registered.entries()}
