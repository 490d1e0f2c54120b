"""Readers and writers that nothing orders: what is found, what it costs, what it is good for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, OpRegistry, Order, register_builtin_ops
from ge_core.testing import GraphKnobs, random_graph
from ge_memconflict.companions.lint import Linter

Run = Callable[..., Any]
LINT = "GraphLint"
OPS = OpRegistry()
register_builtin_ops(OPS)


def stores(build: GraphBuilder, count: int, *, ordered: bool) -> Graph:
    """Stores into a variable, with a reader each, ordered by a chain or not at all."""
    w, x = build.op("Variable", name="w"), build.data("x")
    before = None
    for at in range(count):
        st = build.op("Assign", w, x, name=f"st{at}", attrs={"reference": True}, reuse_input=0)
        read = build.op("Exp", w, name=f"read{at}")
        if ordered:
            build.graph.add_control(st.node, read.node)
            if before is not None:
                build.graph.add_control(before.node, st.node)
        before = read
    assert before is not None
    build.net_output(before)
    return build.graph


def codes(env: Any) -> list[str]:
    """The codes of what the pass remarked."""
    return [remark.code for remark in env.remarks if remark.pass_name == LINT]


def test_unordered_pairs_are_told_apart(run: Run) -> None:
    """Two writers; a writer and a reader; both to blame, bytes, and the edge that would order."""
    env = run(stores(GraphBuilder(), 2, ordered=False), LINT)
    assert ["UNORDERED_READER", "UNORDERED_WRITERS", "UNORDERED_READER"] == codes(env)[:3]
    remark = next(iter(env.remarks))
    assert "analysis" == remark.kind
    assert (2, 64, "edge") == (len(remark.blame), remark.bytes, remark.hint.kind)


@pytest.mark.parametrize("inner", ["writes", "reads"])
def test_a_call_does_what_its_subgraph_does(run: Run, inner: str) -> None:
    """Directly on its inner input."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    sub = b.subgraph("g")
    d = sub.data("g/d")
    attrs = {"reference": True} if inner == "writes" else {}
    facts: dict[str, Any] = {"reuse_input": 0} if inner == "writes" else {}
    sub.net_output(sub.op("Foo", d, name="g/foo", attrs=attrs, **facts))
    b.net_output(
        b.op("PartitionedCall", act, name="call", subgraphs={"f": sub}),
        b.op("Exp", act, name="read"),
    )
    expected = ["UNORDERED_READER"] if inner == "writes" else []
    assert expected == codes(run(b.graph, LINT))


def test_cache_hints_and_a_node_with_itself_are_no_conflict(run: Run) -> None:
    """What only moves cached data, and a node that reads what it writes."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    st = b.op("Assign", act, act, name="st", attrs={"reference": True}, reuse_input=0)
    b.op("Cmo", act, name="prefetch")
    b.net_output(st)
    assert [] == codes(run(b.graph, LINT))


def test_findings_have_a_limit(run: Run) -> None:
    """A hundred remarks per graph by default."""
    graph = stores(GraphBuilder(), 40, ordered=False)
    assert 100 == len(codes(run(graph, LINT)))
    assert 3 == len(codes(run(graph, "GraphLint{limit=3}")))


@pytest.mark.parametrize("count", [200, 800])
def test_what_is_in_order_costs_its_edges_once(count: int) -> None:
    """Searches between neighbouring stores lie side by side."""
    graph = stores(GraphBuilder(), count, ordered=True)
    order = Order(graph, OPS)
    linter = Linter(OPS, order)
    assert [] == list(linter.findings(graph))
    assert (0, True) == (linter.steps, order.steps <= 20 * count)


@pytest.mark.parametrize("seed", range(60))
def test_removing_copies_adds_no_finding(run: Run, seed: int) -> None:
    """Whatever lint finds after removal it found before."""
    graph = random_graph(seed, GraphKnobs(nodes=20, moves=45))
    before = _pairs(graph)
    run(graph, "TensorMoveDeletePass")
    added = [pair for pair in _pairs(graph) if pair not in before]
    assert [] == added


def _pairs(graph: Graph) -> set[tuple[str, str]]:
    linter = Linter(OPS, Order(graph, OPS))
    found = [pair for each in graph.all_graphs() for pair in linter.findings(each)]
    return {(pair.writer.node.name, pair.other.node.name) for pair in found}
