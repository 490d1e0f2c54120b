"""Timing, dumps and counts of ops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ge_core.errors import PassError
from ge_core.ir import Graph, GraphBuilder, load_graph_file, print_graph
from ge_core.passes import GraphPass, PassContext
from ge_core.passes.environment import Environment
from ge_core.passes.manager import RunReport
from ge_core.passes.timing import Timing
from ge_core.passes.watching import CountOps, DumpGraphs, OpChange

Run = Callable[..., tuple[Environment, RunReport]]


class Doubles(GraphPass):
    """Adds a Relu to the root."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Add it."""
        feed = graph.node("x").outputs[0]
        graph.add_node("Relu", None, [feed], [feed.desc])


class Fails(GraphPass):
    """Raises after an edit."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Raise."""
        graph.set_attr(graph.node("x"), "a", 1)
        raise ValueError


class Idle(GraphPass):
    """Does nothing."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def model() -> Graph:
    """One input."""
    builder = GraphBuilder()
    builder.data("x")
    return builder.graph


PASSES = {"A": {"cls": Doubles}, "B": {"cls": Idle}, "C": {"cls": Doubles}}


def test_spans_nest_and_add_up() -> None:
    """Equal names under one parent are one line with a count."""
    timing = Timing()
    for _ in range(2):
        with timing.span("passes"), timing.span("P"):
            pass
    passes = timing.children["passes"]
    assert (2, 2) == (passes.count, passes.children["P"].count)
    assert passes.seconds >= passes.children["P"].seconds
    assert passes.own_seconds == passes.seconds - passes.children["P"].seconds
    record = timing.to_json()
    assert ["passes"] == [child["name"] for child in record["children"]]
    assert timing.lines()[-1].endswith("    P (2x)")


def test_a_span_closes_when_something_raises() -> None:
    """What follows isn't counted into it."""
    timing = Timing()
    with pytest.raises(ValueError, match="x"), timing.span("a"):
        raise ValueError("x")
    with timing.span("b"):
        pass
    assert ["a", "b"] == list(timing.children)


def test_counts_of_ops(run: Run) -> None:
    """Only of passes that changed one."""
    counts = CountOps()
    run(model(), PASSES, instruments=[counts])
    assert [OpChange("A", {"Relu": 1}), OpChange("C", {"Relu": 1})] == counts.changes


def test_dumps_after_passes_that_changed_something(run: Run, tmp_path: Path) -> None:
    """Numbered by pass; the graph files read back."""
    graph = model()
    run(graph, PASSES, instruments=[DumpGraphs(tmp_path)])
    assert ["000_start", "001_A", "003_C"] == sorted(p.stem for p in tmp_path.glob("*.json"))
    assert print_graph(graph) == print_graph(load_graph_file(tmp_path / "003_C.json"))
    assert print_graph(graph) == (tmp_path / "003_C.txt").read_text(encoding="utf-8")


def test_dumps_of_named_passes(run: Run, tmp_path: Path) -> None:
    """Also where nothing changed, if wanted."""
    dumps = DumpGraphs(tmp_path, passes=("B",), only_changed=False)
    run(model(), PASSES, instruments=[dumps])
    assert ["000_start", "002_B"] == sorted(p.stem for p in tmp_path.glob("*.json"))


def test_a_dump_of_what_a_pass_failed_on(run: Run, tmp_path: Path) -> None:
    """The graph as the pass found it, its edits undone."""
    with pytest.raises(PassError):
        run(model(), {"P": {"cls": Fails}}, instruments=[DumpGraphs(tmp_path, only_failed=True)])
    assert ["001_P"] == [p.stem for p in tmp_path.glob("*.json")]
    assert print_graph(model()) == print_graph(load_graph_file(tmp_path / "001_P.json"))


def test_a_further_try_is_dumped_below(run: Run, tmp_path: Path) -> None:
    """A compile that tries again, to keep its peak down, does not mix its dumps."""
    dumps = DumpGraphs(tmp_path)
    run(model(), PASSES, instruments=[dumps])
    run(model(), {"A": PASSES["A"]}, instruments=[dumps])
    assert ["000_start", "001_A", "003_C"] == sorted(p.stem for p in tmp_path.glob("*.json"))
    second = tmp_path / "try_02"
    assert ["000_start", "001_A"] == sorted(p.stem for p in second.glob("*.json"))


def test_how_each_run_changed_the_ops(run: Run) -> None:
    """In the report, with nothing for a pass that changed none; removed ones count below 0."""

    class Drops(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            for node in graph.nodes_of("Relu"):
                graph.remove(node)

    passes = {**PASSES, "D": {"cls": Drops}}
    _, report = run(model(), passes)
    assert [{"Relu": 1}, {}, {"Relu": 1}, {"Relu": -2}] == [dict(r.ops) for r in report.passes]


def test_spans_measured_elsewhere() -> None:
    """They stand below, and the whole takes as long as they do."""
    tree = Timing("whole")
    tree.add(Timing("a", 1.0), Timing("b", 2.0))
    assert (["a", "b"], 3.0) == (list(tree.children), tree.seconds)
    assert ["whole", "a", "b"] == [line.split()[-1] for line in tree.lines()]
