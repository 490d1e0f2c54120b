"""Work stays linear in the graph, counted in steps of the trace and the order."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, OutputAnchor


def chain(count: int) -> Graph:
    """Copies and views in a row."""
    b = GraphBuilder()
    last = b.op("Relu", b.data("x"))
    for at in range(count):
        last = b.op(
            "Reshape", b.op("TensorMove", last, name=f"m{at}"), name=f"v{at}", reuse_input=0
        )
    b.net_output(b.op("Exp", last))
    return b.graph


def fan(count: int) -> Graph:
    """One value, copied for each of many readers."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    b.net_output(*[b.op("Exp", b.op("TensorMove", act, name=f"m{at}")) for at in range(count)])
    return b.graph


def stores(count: int) -> Graph:
    """Copies in front of stores, each beside readers on either side of it in the listing."""
    b = GraphBuilder()
    last = b.op("Relu", b.data("x"))
    for at in range(count):
        mv = b.op("TensorMove", last, name=f"m{at}")
        early = b.op("Exp", last, name=f"e{at}")
        stored = b.op("Assign", mv, early, name=f"s{at}", reuse_input=0)
        late = b.op("Exp", last, name=f"l{at}")
        last = b.op("Add", stored, late, name=f"a{at}")
    b.net_output(last)
    return b.graph


def refused(count: int) -> Graph:
    """Stores that run before readers beside their copies: each copy needs a search, and stays."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    sides: list[OutputAnchor] = []
    for at in range(count):
        stored = b.op("Assign", b.op("TensorMove", act), b.data(f"x{at}"), reuse_input=0)
        sides.append(b.op("Add", act, b.op("Tanh", stored)))
    b.net_output(*sides)
    return b.graph


@pytest.mark.parametrize(
    ("build", "removed"), [(chain, True), (fan, True), (stores, True), (refused, False)]
)
def test_steps_grow_with_the_graph(build: Any, removed: bool, delete: Any) -> None:
    """Four times the graph costs about four times the steps, and few per node."""
    steps = []
    for count in (200, 800):
        graph = build(count)
        size = len(graph)
        env = delete(graph)
        run = env.analyses.get("ge_tensormove", lambda: None)
        assert removed == (not graph.nodes_of("TensorMove"))
        steps.append(run.tracer.steps + run.order.steps + run.listing.steps)
        assert steps[-1] < 20 * size
    assert steps[1] < 5 * steps[0]


def test_nothing_is_prepared_for_a_graph_without_copies(delete: Any) -> None:
    """No analysis is made where there is nothing to judge."""
    b = GraphBuilder()
    b.net_output(b.op("Relu", b.data("x")))
    env = delete(b.graph)
    assert None is env.analyses.get("ge_tensormove", lambda: None)
