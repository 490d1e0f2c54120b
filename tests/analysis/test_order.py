"""What comes before what, against brute force."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import Order, TopoOrder, listed_order
from ge_core.analysis.clocks import has_task
from ge_core.errors import GraphError
from ge_core.ir import Graph, GraphBuilder, Node
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.testing.choices import SeededChoices
from ge_core.testing.random_graphs import GraphKnobs, random_graph

SEEDS = st.integers(0, 10_000)


def registry() -> OpRegistry:
    """The kernel's ops."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    return ops


OPS = registry()


def followers(node: Node) -> list[Node]:
    """Direct successors by any edge."""
    return [*node.out_nodes, *node.control_outputs]


def closure(graph: Graph) -> dict[Node, set[Node]]:
    """Per node everything that a path of one edge or more leads to."""
    reached: dict[Node, set[Node]] = {}
    for node in reversed(listed_order(graph)):
        reached[node] = set()
        for other in followers(node):
            reached[node] |= {other} | reached[other]
    return reached


def loose_nodes(count: int) -> tuple[Graph, list[Node]]:
    """Nodes without edges."""
    graph = Graph()
    return graph, [graph.add_node("NoOp", f"n{at}") for at in range(count)]


def check_labels(order: Order, graph: Graph) -> None:
    """Labels grow along every edge."""
    for node in graph.nodes:
        for other in followers(node):
            assert order.label(node) < order.label(other)


def test_new_nodes_can_be_told_apart() -> None:
    """However many are placed with nothing to go by, or between the same two."""
    graph, (first, last) = loose_nodes(2)
    graph.add_control(first, last)
    order = Order(graph, OPS)
    assert order.depends(first, last)
    added = []
    for at in range(200):
        ends = [first] if at % 2 else []
        added.append(graph.add_node("NoOp", f"new{at}", control_inputs=ends))
        if at % 4 == 3:
            graph.add_control(added[-1], last)
        order.vouch()
    assert len(added) == len({order.label(node) for node in added})
    for one, other in pairwise(reversed(added)):
        assert order.add_control(one, other)
    check_labels(order, graph)
    assert not order.add_control(added[0], added[-1])


def test_the_listed_order_is_kept_where_it_is_one() -> None:
    """A listing that agrees with the edges is its own topological order."""
    graph, nodes = loose_nodes(6)
    graph.add_control(nodes[1], nodes[4])
    assert nodes == listed_order(graph)


def test_an_edge_against_the_listing_delays_only_what_waits() -> None:
    """The earliest listed node that may run comes next."""
    graph, nodes = loose_nodes(5)
    graph.add_control(nodes[3], nodes[0])
    assert [nodes[at] for at in (1, 2, 3, 0, 4)] == listed_order(graph)


def test_a_cycle_is_an_error_that_names_a_node() -> None:
    """No order exists for nodes that wait for one another."""
    graph, nodes = loose_nodes(2)
    graph.add_control(nodes[0], nodes[1])
    graph.add_control(nodes[1], nodes[0])
    with pytest.raises(GraphError, match="n0"):
        listed_order(graph)


@given(SEEDS)
def test_added_edges_keep_the_order_and_close_no_cycle(seed: int) -> None:
    """An edge is admitted exactly when no path leads the other way; labels stay topological."""
    pick = SeededChoices(seed)
    graph, nodes = loose_nodes(pick.integer(2, 12))
    order = Order(graph, OPS)
    for _ in range(30):
        before, after = pick.pick(nodes), pick.pick(nodes)
        allowed = before is not after and before not in closure(graph)[after]
        assert allowed == order.add_control(before, after)
        assert not allowed or after in before.control_outputs
        check_labels(order, graph)


@given(SEEDS)
def test_a_rollback_takes_edges_and_order_back(seed: int) -> None:
    """After a rollback labels fit the old graph, and answers are those for it."""
    pick = SeededChoices(seed)
    graph, nodes = loose_nodes(8)
    order = Order(graph, OPS)
    for _ in range(6):
        order.add_control(pick.pick(nodes), pick.pick(nodes))
    before = {node: set(node.control_outputs) for node in nodes}
    with graph.transaction() as edits:
        for _ in range(6):
            order.add_control(pick.pick(nodes), pick.pick(nodes))
        edits.rollback()
    assert before == {node: set(node.control_outputs) for node in nodes}
    check_labels(order, graph)
    reached = closure(graph)
    for one in nodes:
        assert reached[one] == {other for other in nodes if order.depends(one, other)}


@given(SEEDS)
def test_depends_agrees_with_the_closure(seed: int) -> None:
    """Inside one graph `depends` is reachability over data and control edges."""
    graph = random_graph(seed, GraphKnobs(nodes=14, streams=1 + seed % 3, control_flow=False))
    order = Order(graph, OPS)
    reached = closure(graph)
    for one in graph.nodes:
        assert reached[one] == {other for other in graph.nodes if order.depends(one, other)}


@given(SEEDS)
def test_one_search_answers_for_many(seed: int) -> None:
    """`path`, `stray` and `missed` agree with asking about every pair."""
    pick = SeededChoices(seed)
    graph = random_graph(seed, GraphKnobs(nodes=12, streams=2, control_flow=False))
    order, reached, nodes = Order(graph, OPS), closure(graph), list(graph.nodes)
    ones = list(dict.fromkeys(pick.pick(nodes) for _ in range(3)))
    others = list(dict.fromkeys(pick.pick(nodes) for _ in range(3)))
    found = order.path(ones, others)
    pairs = [(a, b) for a in ones for b in others if b in reached[a]]
    assert (found is None) == (not pairs)
    assert found is None or found in pairs
    target = others[0]
    assert order.stray(ones, target) in [None, *(n for n in ones if target not in reached[n])]
    assert (order.stray(ones, target) is None) == all(target in reached[n] for n in ones)
    source = ones[0]
    assert (order.missed(source, others) is None) == all(n in reached[source] for n in others)


def brute_before(graph: Graph) -> dict[Node, set[Node]]:
    """Who has finished before each node starts: edges, and stream order of nodes with tasks."""
    order = listed_order(graph)
    done: dict[Node, set[Node]] = {}
    last: dict[int, Node] = {}
    for node in order:
        waits = [*node.in_nodes, *node.control_inputs]
        if has_task(node, OPS) and node.stream_id in last:
            waits.append(last[node.stream_id])
        done[node] = set(waits).union(*(done[other] for other in waits))
        if has_task(node, OPS):
            last[node.stream_id] = node
    return done


@given(SEEDS)
def test_clocks_agree_with_edges_and_streams(seed: int) -> None:
    """`before` is reachability over edges and the order on each stream."""
    graph = random_graph(seed, GraphKnobs(nodes=14, streams=1 + seed % 4, control_flow=False))
    order, done = Order(graph, OPS), brute_before(graph)
    for node in graph.nodes:
        for other in graph.nodes:
            if has_task(other, OPS):
                assert (other in done[node]) == order.before(other, node), (other, node)


def nested() -> tuple[Graph, GraphBuilder, GraphBuilder]:
    """x -> if(a: inner1) -> after, with a node beside it."""
    build = GraphBuilder()
    x = build.data("x")
    arms = {}
    for label in ("then_branch", "else_branch"):
        arm = build.subgraph(label)
        d = arm.data(f"{label}/d", index=1)
        arm.net_output(arm.op("Relu", d, name=f"{label}/r"))
        arms[label] = arm
    first = build.op("Relu", x, name="first")
    chosen = build.op("If", first, x, name="if", subgraphs=arms)
    build.op("Relu", chosen, name="after")
    build.op("Relu", x, name="beside")
    return build.graph, arms["then_branch"], arms["else_branch"]


def test_inner_nodes_stand_for_their_caller() -> None:
    """A node inside a subgraph comes after what its caller waits for, and before its readers."""
    graph, _, _ = nested()
    order = Order(graph, OPS)
    inner = graph.node("then_branch/r")
    assert order.depends(graph.node("first"), inner)
    assert order.depends(inner, graph.node("after"))
    assert not order.depends(inner, graph.node("beside"))
    assert order.before(inner, graph.node("beside")), "one stream runs them in listed order"


def test_neither_of_a_node_and_its_caller_has_finished_first() -> None:
    """A caller is not ordered with what it contains."""
    graph, _, _ = nested()
    order, inner, caller = Order(graph, OPS), graph.node("then_branch/r"), graph.node("if")
    assert not order.depends(caller, inner) and not order.depends(inner, caller)
    assert not order.before(caller, inner) and not order.before(inner, caller)


def test_arms_of_one_conditional_exclude_each_other() -> None:
    """Nodes in different arms never both run; nodes of one arm do."""
    graph, _, _ = nested()
    order = Order(graph, OPS)
    one, other = graph.node("then_branch/r"), graph.node("else_branch/r")
    assert order.exclusive(one, other)
    assert not order.exclusive(one, graph.node("then_branch/d"))
    assert not order.exclusive(one, graph.node("after"))
    assert not order.before(one, other)


def test_a_caller_of_other_streams_orders_by_edges_alone() -> None:
    """A call that runs things on another stream says nothing of their end by its own place."""
    build = GraphBuilder()
    x = build.data("x")
    sub = build.subgraph("g")
    inside = sub.op("Relu", sub.data("g/d"), name="g/r", attrs={"stream_id": 1})
    sub.net_output(inside)
    call = build.op("PartitionedCall", x, name="call", subgraphs={"f": sub})
    build.op("Relu", x, name="later")
    build.op("Relu", call, name="reader")
    order = Order(build.graph, OPS)
    inner = build.graph.node("g/r")
    assert not order.before(inner, build.graph.node("later"))
    assert order.before(inner, build.graph.node("reader"))


def test_a_view_on_another_stream_carries_no_order_of_that_stream() -> None:
    """Nothing runs for a view, so what ran before it on its stream is not waited for."""
    build = GraphBuilder()
    x = build.op("Relu", build.data("x"), name="made", attrs={"stream_id": 0})
    build.op("Relu", build.data("y"), name="other", attrs={"stream_id": 1})
    view = build.op("Reshape", x, name="view", attrs={"stream_id": 1}, reuse_input=0)
    build.op("Relu", view, name="reader", attrs={"stream_id": 2})
    order = Order(build.graph, OPS)
    node = build.graph.node
    assert order.before(node("made"), node("reader"))
    assert not order.before(node("other"), node("reader"))


def test_a_shared_subgraph_comes_first_only_if_all_its_calls_do() -> None:
    """A node of a subgraph with two callers precedes what both callers precede."""
    build = GraphBuilder()
    x = build.data("x")
    sub = build.subgraph("g")
    sub.net_output(sub.op("Relu", sub.data("g/d"), name="g/r"))
    one = build.op("PartitionedCall", x, name="one", subgraphs={"f": sub})
    other = build.op("PartitionedCall", x, name="other", subgraphs={"f": sub})
    build.op("Relu", one, name="after_one")
    build.op("Add", one, other, name="after_both")
    order, node = Order(build.graph, OPS), build.graph.node
    assert order.depends(node("g/r"), node("after_both"))
    assert not order.depends(node("g/r"), node("after_one"))


def test_edges_cross_no_graphs() -> None:
    """A control edge between two graphs is an error, and nothing is added."""
    graph, arm, _ = nested()
    with pytest.raises(GraphError, match="another graph"):
        Order(graph, OPS).add_control(graph.node("first"), arm.graph.node("then_branch/r"))


def test_new_nodes_find_a_place_and_foreign_edits_are_noticed() -> None:
    """Nodes and edges that others add are in the answers."""
    graph, nodes = loose_nodes(3)
    order = Order(graph, OPS)
    graph.add_control(nodes[2], nodes[0])
    assert order.depends(nodes[2], nodes[0])
    between = graph.add_node("NoOp", "between", control_inputs=[nodes[2]])
    graph.add_control(between, nodes[0])
    assert order.depends(nodes[2], between) and order.depends(between, nodes[0])
    check_labels(order, graph)


def test_a_new_node_between_two_takes_a_label_without_renumbering() -> None:
    """A node placed while the order is kept leaves all other labels alone."""
    graph, nodes = loose_nodes(4)
    order = TopoOrder(graph)
    labels = [order.label(node) for node in nodes]
    barrier = graph.add_node("NoOp", "barrier", control_inputs=nodes[:2])
    for node in nodes[2:]:
        graph.add_control(barrier, node)
    assert labels[1] < order.label(barrier) < labels[2]
    assert labels == [order.label(node) for node in nodes]


def test_edges_along_the_order_cost_no_search() -> None:
    """Ten thousand edges that agree with the order look at nothing."""
    graph, nodes = loose_nodes(10_001)
    order = Order(graph, OPS)
    for one, other in pairwise(nodes):
        assert order.add_control(one, other)
    assert 0 == order.steps


def test_a_search_stays_between_the_labels_of_its_ends() -> None:
    """Whether two neighbours depend on each other is answered without walking the long chain."""
    graph, nodes = loose_nodes(10_000)
    for one, other in pairwise(nodes):
        graph.add_control(one, other)
    order = Order(graph, OPS)
    assert order.depends(nodes[5000], nodes[5002])
    assert not order.depends(nodes[5002], nodes[5000])
    assert order.steps < 20
