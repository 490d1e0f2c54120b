"""Work stays linear in the graph, counted in steps of the trace and the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, Node, OutputAnchor


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


def scribbled(count: int) -> Graph:
    """Copies of one source, each used up behind a view while the others may still read."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    for at in range(count):
        seen = b.op("Reshape", b.op("TensorMove", act), name=f"v{at}", reuse_input=0)
        b.op("HcomAllReduce", seen, attrs={"_input_mutable": True})
    return b.graph


def unreadable(count: int) -> Graph:
    """Copies that nobody reads, of one source that somebody overwrites."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    b.op("Foo", act, attrs={"rw": {"inputs": {"0": "write"}}})
    for at in range(count):
        b.node("TensorMove", act, name=f"m{at}", outputs=[])
    return b.graph


def readers_and_writers(count: int) -> Graph:
    """Many readers beside one copy, which as many nodes overwrite one after the other."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    value = b.op("Exp", b.data("y"))
    for at in range(count):
        b.op("Exp", act, name=f"r{at}")
    mv = b.op("TensorMove", act, name="mv")
    last: list[OutputAnchor] = []
    for at in range(count):
        last = [b.op("Assign", mv, value, name=f"s{at}", reuse_input=0, control=last)]
    b.op("TensorMove", value, name="last")
    b.op("Relu", b.op("TensorMove", last[0], name="behind"), name="end")
    return b.graph


def nested(count: int) -> Graph:
    """Calls in calls, twenty deep, with copies before, in and behind each."""
    b = GraphBuilder()
    for line in range(count // 20):
        builders, feeds = [b], [b.data(f"x{line}")]
        for level in range(20):
            inner = builders[-1].subgraph(f"g{line}_{level}")
            builders.append(inner)
            feeds.append(inner.op("TensorMove", inner.data(f"d{line}_{level}", index=0)))
        at = builders[-1].op("Relu", feeds[-1])
        for level in range(20, 0, -1):
            builders[level].net_output(at)
            outer = builders[level - 1]
            feed = outer.op("Relu", feeds[level - 1])
            subs = {"f": builders[level]}
            call = outer.op("PartitionedCall", feed, subgraphs=subs)
            at = outer.op("TensorMove", call)
    return b.graph


def shared(count: int) -> Graph:
    """One subgraph with copies in it, called many times, a copy in front of each call."""
    b = GraphBuilder()
    inner = b.subgraph("g")
    at = inner.data("d", index=0)
    for _ in range(count):
        at = inner.op("Relu", inner.op("TensorMove", at))
    inner.net_output(at)
    act = b.op("Relu", b.data("x"))
    for _ in range(count):
        feed = b.op("Relu", b.op("TensorMove", act))
        b.op("PartitionedCall", feed, subgraphs={"f": inner})
    return b.graph


SHAPES = {
    chain: None,
    fan: None,
    stores: None,
    refused: "R3_WRITER_FIRST",
    scribbled: "R3_WRITER_BEHIND_VIEW",
    unreadable: None,
    readers_and_writers: "R3_SHARED_ABOVE",
    nested: None,
    shared: "R1_TRACE_STOPPED",
}
"""Builds a graph -> why the copies that stay in it stay."""


@pytest.mark.parametrize("build", SHAPES, ids=lambda build: build.__name__)
def test_steps_grow_with_the_graph(build: Any, delete: Any) -> None:
    """Four times the graph costs about four times the steps, and few per node; nobody gives up."""
    why = SHAPES[build]
    costs = []
    for count in (200, 800):
        graph = build(count)
        size = sum(len(each) for each in graph.all_graphs())
        visits = 0

        def watch(node: Node, visit: Callable[[], None], env: Any) -> None:
            nonlocal visits
            visits += 1
            visit()

        env = delete(graph, watch=watch)
        run = env.analyses.get("ge_tensormove", lambda: None)
        left = [node for each in graph.all_graphs() for node in each.nodes_of("TensorMove")]
        assert ({why} if left else set()) == {env.remarks.final(node.name).code for node in left}
        assert left == [] or why is not None
        costs.append((run.tracer.steps + run.order.steps + run.listing.steps, visits))
        assert costs[-1][0] < 20 * size and visits <= 10 * size
    (few, first), (many, second) = costs
    assert many < 5 * few + 1 and second < 5 * first


def test_nothing_is_prepared_for_a_graph_without_copies(delete: Any) -> None:
    """No analysis is made where there is nothing to judge."""
    b = GraphBuilder()
    b.net_output(b.op("Relu", b.data("x")))
    env = delete(b.graph)
    assert None is env.analyses.get("ge_tensormove", lambda: None)
