"""Containers, inner graphs, and the ends of subgraphs."""

from __future__ import annotations

import pytest

from ge_core.analysis import Interfaces, containers, inner_graphs, interface_of, lift_both, lifted
from ge_core.ir import GraphBuilder


def nested() -> GraphBuilder:
    """root: call -> o: call -> i; root also calls i directly."""
    build = GraphBuilder()
    inner, outer = build.subgraph("i"), build.subgraph("o")
    inner.net_output(inner.op("Relu", inner.data("i/d"), name="i/r"))
    outer.net_output(
        outer.op("PartitionedCall", outer.data("o/d"), name="o/call", subgraphs={"f": inner})
    )
    x = build.data("x")
    build.op("PartitionedCall", x, name="call", subgraphs={"f": outer})
    build.op("PartitionedCall", x, name="direct", subgraphs={"f": inner})
    return build


def test_containers_name_every_caller_innermost_graph_first() -> None:
    """A node of a shared subgraph is contained in each of its callers, at every depth."""
    build = nested()
    node = build.graph.node
    found = containers(node("i/r"))
    assert ["i", "o", "root"] == [graph.name for graph in found]
    assert [(node("i/r"),), (node("o/call"),), (node("direct"), node("call"))] == [
        tuple(nodes) for nodes in found.values()
    ]
    assert (node("o/call"),) == lifted(node("i/r"), build.graph.subgraphs["o"])
    assert () == lifted(node("x"), build.graph.subgraphs["o"])


def test_two_nodes_meet_in_the_innermost_graph_that_holds_both() -> None:
    """A node inside a call meets a root node as the call."""
    build = nested()
    node = build.graph.node
    both = lift_both(node("o/call"), node("direct"))
    assert both == (build.graph, (node("call"),), (node("direct"),))
    alone = build.subgraph("alone").op("Relu", name="alone/r").node
    assert lift_both(alone, node("x")) is None


def test_a_removed_node_is_nowhere() -> None:
    """Asking for its containers is an error."""
    build = nested()
    node = build.graph.node("direct")
    build.graph.remove(node)
    with pytest.raises(ValueError, match="in no graph"):
        containers(node)


def test_inner_graphs_come_after_those_that_they_call() -> None:
    """Each once, callees first, without what is known already."""
    build = nested()
    call = build.graph.node("call")
    assert ["i", "o"] == [graph.name for graph in inner_graphs(call)]
    known = [build.graph.subgraphs["i"]]
    assert ["o"] == [graph.name for graph in inner_graphs(call, known)]


def test_the_ends_of_a_subgraph_are_found_by_index() -> None:
    """Inputs by parent input, results by parent output, and what has no index apart."""
    build = nested()
    sub = build.graph.subgraphs["i"]
    stray = sub.add_node("Data", "i/stray")
    ends = interface_of(sub)
    assert {0: [build.graph.node("i/d")]} == ends.data
    assert [stray] == ends.unplaced
    assert ["i/NetOutput@0"] == [str(anchor) for anchor in ends.results.values()]
    assert ends.blind_from is None


def test_ends_are_read_again_after_an_edit_unless_told_otherwise() -> None:
    """A lasting table is for somebody who changes no ends."""
    build = nested()
    sub = build.graph.subgraphs["i"]
    fresh, lasting = Interfaces(), Interfaces(lasting=True)
    assert [] == fresh.of(sub).unplaced == lasting.of(sub).unplaced
    sub.add_node("Data", "i/stray")
    assert 1 == len(fresh.of(sub).unplaced)
    assert 0 == len(lasting.of(sub).unplaced)
