"""The walk of node passes: GE's order, re-visits, subgraphs, and its bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, GraphBuilder, Node
from ge_core.passes.walker import MANY_PREDECESSORS, MAX_DEPTH, VISITS_PER_NODE, Walk
from ge_core.testing import GraphKnobs, random_graph


def walked(
    graph: Graph,
    visit: Callable[[Walk, Node, bool], None] | None = None,
    only: frozenset[str] = frozenset(),
) -> tuple[list[str], list[str]]:
    """Names in the order of visits (`name+` after its subgraphs), and warnings."""
    seen: list[str] = []
    warnings: list[str] = []

    def on_visit(node: Node, graph: Graph, after: bool) -> None:
        seen.append(node.name + ("+" if after else ""))
        if visit is not None:
            visit(walk, node, after)

    walk = Walk(on_visit, warnings.append, only)
    walk.run(graph)
    return seen, warnings


def chain(*names: str) -> Graph:
    """x -> names[0] -> names[1] ..."""
    builder = GraphBuilder()
    feed = builder.data("x")
    for name in names:
        feed = builder.node("Relu", feed, name=name).outputs[0]
    return builder.graph


def test_producers_come_before_consumers_whatever_the_listing() -> None:
    """A node waits for all its producers, data and control."""
    builder = GraphBuilder()
    x, y = builder.data("x"), builder.data("y")
    late = builder.node("Relu", y, name="late")
    early = builder.node("Add", x, late.outputs[0], name="both")
    builder.node("Relu", x, name="waits", control=[early])
    assert ["x", "y", "late", "both", "waits"] == walked(builder.graph)[0]


def test_a_wish_is_met_once_the_queue_has_drained() -> None:
    """The node comes again at the end; a visit before that cancels the wish."""
    asked: list[str] = []

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "b" and not asked:
            asked.append("x")
            walk.revisit(node.in_nodes[0])
            walk.revisit(node.out_nodes[0])

    assert ["x", "a", "b", "c", "a"] == walked(chain("a", "b", "c"), visit)[0]


def test_an_immediate_wish_goes_to_the_front() -> None:
    """Only for a node that was visited."""
    asked: list[str] = []

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "b" and not asked:
            asked.append("x")
            walk.revisit(node.in_nodes[0], now=True)
            walk.revisit(node.out_nodes[0], now=True)

    assert ["x", "a", "b", "a", "c"] == walked(chain("a", "b", "c"), visit)[0]


def test_a_removed_node_passes_its_successors_on() -> None:
    """They are visited although nothing leads to them from the node any more."""

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "b":
            walk.revisit_neighbours(node)
            graph = node.graph
            assert graph is not None
            graph.bypass(node)

    assert ["x", "a", "b", "c", "a"] == walked(chain("a", "b", "c"), visit)[0]


def test_a_node_removed_before_its_visit_is_skipped() -> None:
    """Its readers are not."""

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "a":
            graph = node.graph
            assert graph is not None
            graph.bypass(graph.node("b"))

    assert ["x", "a", "c"] == walked(chain("a", "b", "c"), visit)[0]


def test_nodes_that_a_pass_adds_are_visited() -> None:
    """Where they follow a visited node."""

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "a":
            graph = node.graph
            assert graph is not None
            graph.add_node("Relu", "new", [node.outputs[0]], [node.outputs[0].desc])

    assert ["x", "a", "b", "new"] == walked(chain("a", "b"), visit)[0]


def test_a_node_put_between_what_is_done_and_what_is_not_stops_nobody() -> None:
    """All that feeds it has been visited, so nobody is left to lead to it but its own visit."""
    builder = GraphBuilder()
    x = builder.data("x")
    first, gone = builder.op("Relu", x, name="first"), builder.op("Exp", x, name="gone")
    builder.op("Relu", builder.op("Relu", gone, name="late"), name="last")

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "gone":
            graph, late = builder.graph, builder.graph.node("late")
            graph.bypass(node)
            barrier = graph.add_node("NoOp", "barrier")
            graph.add_control(first.node, barrier)
            graph.add_control(barrier, late)

    assert ["x", "first", "gone", "barrier", "late", "last"] == walked(builder.graph, visit)[0]


def test_a_node_with_very_many_producers_waits_until_the_end() -> None:
    """Then its consumers follow."""
    builder = GraphBuilder()
    feeds = [builder.data(f"x{at}") for at in range(MANY_PREDECESSORS + 1)]
    wide = builder.node("AddN", *feeds, name="wide")
    builder.node("Relu", wide.outputs[0], name="after")
    builder.node("Relu", feeds[0], name="aside")
    assert ["aside", "wide", "after"] == walked(builder.graph)[0][-3:]


def called(callers: int = 1) -> Graph:
    """Calls one after the other of one subgraph x -> r."""
    builder = GraphBuilder()
    feed = builder.data("x")
    inner = builder.subgraph("g")
    inner.node("Relu", inner.data("d"), name="r")
    for at in range(callers):
        call = builder.node("PartitionedCall", feed, name=f"c{at}", subgraphs={"f": inner})
        feed = call.outputs[0]
    return builder.graph


def test_a_caller_is_visited_before_and_after_its_subgraphs() -> None:
    """Each subgraph completely in between."""
    assert ["x", "c0", "d", "r", "c0+"] == walked(called())[0]


def test_an_unchanged_shared_subgraph_is_walked_once() -> None:
    """So that nested shared calls can't multiply the work."""
    assert ["x", "c0", "d", "r", "c0+", "c1", "c1+", "c2", "c2+"] == walked(called(3))[0]


def test_a_shared_subgraph_is_walked_again_after_an_edit() -> None:
    """What changed since may matter inside."""

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "c0" and after:
            assert node.graph is not None
            node.graph.set_attr(node, "seen", True)

    assert ["x", "c0", "d", "r", "c0+", "c1", "d", "r", "c1+"] == walked(called(2), visit)[0]


def test_subgraphs_nested_too_deeply_are_an_error() -> None:
    """The error says what to do, long before Python's own stack ends."""
    root = GraphBuilder()
    builder = root
    for depth in range(MAX_DEPTH + 2):
        inner = builder.subgraph(f"g{depth}")
        builder.node("PartitionedCall", name=f"c{depth}", subgraphs={"f": inner})
        builder = inner
    with pytest.raises(LimitExceeded, match=f"nested deeper than {MAX_DEPTH}"):
        walked(root.graph)


def test_a_pass_that_never_has_enough_is_stopped_with_a_warning() -> None:
    """After ten visits per node."""
    graph = chain("a", "b")

    def visit(walk: Walk, node: Node, after: bool) -> None:
        walk.revisit(node)

    seen, warnings = walked(graph, visit)
    assert VISITS_PER_NODE * len(graph) == len(seen)
    assert [
        "the walk over graph 'root' stopped after 10 visits per node; 10 of them were of 'x' (Data)"
    ] == warnings


def test_an_immediate_wish_during_the_first_visit_is_none() -> None:
    """As in GE: a node that was not visited before isn't visited again at once."""

    def visit(walk: Walk, node: Node, after: bool) -> None:
        walk.revisit(node, now=True)

    assert (["x", "a"], []) == walked(chain("a"), visit)


def test_a_wish_for_a_node_of_a_graph_that_is_not_being_walked() -> None:
    """Says nothing: that graph is walked whole when its turn comes."""

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "x":
            assert node.graph is not None
            walk.revisit(node.graph.node("r"))

    assert ["x", "c0", "d", "r", "c0+"] == walked(called(), visit)[0]


def test_from_a_subgraph_an_outer_node_can_be_asked_for() -> None:
    """It comes when the outer walk goes on."""
    asked: list[str] = []

    def visit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "r" and not asked:
            asked.append("x")
            assert node.graph is not None
            walk.revisit(node.graph.node("x"))

    assert ["x", "c0", "d", "r", "c0+", "x"] == walked(called(), visit)[0]


def test_a_next_iteration_counts_as_seen() -> None:
    """Otherwise a loop in the graph would never start."""
    graph = chain("a", "b")
    back = graph.add_node("NextIteration", "n", [graph.node("b").outputs[0]])
    graph.add_control(back, graph.node("a"))
    assert ["x", "a", "b", "n"] == walked(graph)[0]


@pytest.mark.parametrize("seed", range(40))
def test_a_pass_that_names_its_ops_sees_them_as_it_would_among_all(seed: int) -> None:
    """The others are passed over; what is visited, how often and in which order, is the same."""

    def edit(walk: Walk, node: Node, after: bool) -> None:
        if node.op != "TensorMove" or node.graph is None or seed % 2:
            return
        if node.inputs[0].source is not None and len(node.outputs[0].readers) == 1:
            walk.revisit_neighbours(node)
            node.graph.bypass(node)

    facts = GraphKnobs(nodes=15, moves=40, rare=("calls",))
    all_seen = walked(random_graph(seed, facts), edit)[0]
    moves = {node.name for node in random_graph(seed, facts).all_nodes() if node.op == "TensorMove"}
    seen = walked(random_graph(seed, facts), edit, frozenset({"TensorMove"}))[0]
    assert list(dict.fromkeys(n for n in all_seen if n in moves)) == list(dict.fromkeys(seen))


def test_a_subgraph_without_any_of_the_named_ops_is_not_walked() -> None:
    """It is again when a visit has put one there."""
    build = GraphBuilder()
    x = build.data("x")
    inner = build.subgraph("g")
    inner.net_output(inner.op("Relu", inner.data("d", index=0), name="i"))
    for at in range(3):
        build.op("Call", build.op("TensorMove", x, name=f"m{at}"), subgraphs={"f": inner})

    def edit(walk: Walk, node: Node, after: bool) -> None:
        if node.name == "m1":
            inner.graph.add_node("TensorMove", "new", [inner.graph.node("d").outputs[0]], [])

    assert ["m0", "m1", "m2", "new"] == sorted(
        walked(build.graph, edit, frozenset({"TensorMove"}))[0]
    )
