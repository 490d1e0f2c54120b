"""Counters: declared with the class, counted through the context, reported per run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.errors import PassError
from ge_core.ir import Graph, GraphBuilder, Node
from ge_core.passes import GraphPass, NodePass, PassContext, PassRegistry
from ge_core.passes.counters import read_counters
from ge_core.passes.environment import Environment
from ge_core.passes.manager import RunReport

Run = Callable[..., tuple[Environment, RunReport]]


class Visits(NodePass, counters={"visited": "nodes looked at", "relus": ""}):
    """Counts nodes."""

    def visit(self, node: Node, ctx: PassContext) -> None:
        """Count."""
        ctx.count("visited")
        if node.op == "Relu":
            ctx.count("relus")


class Graphs(GraphPass, counters=("graphs", "nodes", "never")):
    """Counts graphs."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Count."""
        ctx.count("graphs")
        ctx.count("nodes", len(graph))


def model() -> Graph:
    """x -> call of g (d -> Relu), two graphs."""
    builder = GraphBuilder()
    inner = builder.subgraph("g")
    inner.node("Relu", inner.data("d"), name="r")
    builder.node("PartitionedCall", builder.data("x"), name="call", subgraphs={"f": inner})
    return builder.graph


def test_counts_of_all_graphs_are_added_up(run: Run) -> None:
    """Per run, in the order of the declaration, with those that stayed 0."""
    _, report = run(model(), {"A": {"cls": Visits}, "B": {"cls": Graphs}})
    assert [
        {"visited": 5, "relus": 1},
        {"graphs": 2, "nodes": 4, "never": 0},
    ] == [dict(run.counters) for run in report.passes]


def test_each_run_counts_from_zero(run: Run) -> None:
    """One class under two names."""
    _, report = run(model(), {"A": {"cls": Graphs}, "B": {"cls": Graphs}})
    assert [2, 2] == [run.counters["graphs"] for run in report.passes]


def test_a_subclass_counts_what_its_base_declared() -> None:
    """And what it declares itself."""

    class More(Graphs, counters=("more",)):
        """Counts more."""

    assert ["graphs", "nodes", "never", "more"] == list(More.counters)


def test_a_lazy_pass_counts_what_its_class_declares(run: Run) -> None:
    """Listing it needs what was declared with the reference only."""
    reference = f"{__name__}:Graphs"
    passes = PassRegistry()
    passes.add(reference, levels=(), stage="CHECK", counters={"graphs": "graphs seen"})
    assert {"graphs": "graphs seen"} == passes.get("Graphs").counters
    _, report = run(model(), {"A": {"cls": reference}})
    assert {"graphs": 2, "nodes": 4, "never": 0} == report.passes[0].counters


def counting(name: str, n: Any) -> dict[str, Any]:
    """The declaration of a pass that counts this."""

    class Counts(GraphPass, counters=("visited",)):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            ctx.count(name, n)

    return {"cls": Counts}


def test_a_counter_that_was_not_declared(run: Run) -> None:
    """An error with what is near, of the package that counts."""
    with pytest.raises(PassError) as raised:
        run(model(), {}, acme={"P": counting("visted", 1)})
    assert "pass 'acme.P' counts 'visted', which it has not declared" == raised.value.message
    assert (("visited",), "acme-casts 1.0") == (raised.value.near, raised.value.owner)
    assert "declare it: class P(..., counters=('visted',))" == raised.value.hint


@pytest.mark.parametrize("n", [-1, 0.5, True, "1"])
def test_a_count_that_is_none(run: Run, n: object) -> None:
    """Counters grow by whole numbers."""
    with pytest.raises(PassError, match=f"counts 'visited' up by {n!r}, which is no count"):
        run(model(), {"P": counting("visited", n)})


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("visited", "a string is not a list"),
        (("no name",), "'no name' is not a counter"),
        (("a", "a"), "'a' is declared twice"),
    ],
)
def test_a_declaration_that_is_malformed(spec: Any, words: str) -> None:
    """Said when the class is defined."""
    with pytest.raises(TypeError, match=words):
        read_counters(spec)


def test_a_counter_without_a_text_is_explained_by_its_name() -> None:
    """In words."""
    assert {"nodes_seen": "nodes seen"} == read_counters(["nodes_seen"])
