"""Fixed points: planned from texts and declarations, run until nothing changes or the bound."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.errors import PassError, UsageError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, PassContext, Stage
from ge_core.passes.environment import Environment
from ge_core.passes.manager import PassManager, RunReport
from ge_core.passes.pipeline_text import Repeat
from ge_core.passes.planning import Catalog, Schedule, plan_passes

MakeCatalog = Callable[..., Catalog]
Work = Callable[[Graph], None]


def one() -> Graph:
    """x -> Relu r -> out, r with an attribute `n`."""
    builder = GraphBuilder()
    feed = builder.op("Relu", builder.data("x", (4,)), name="r")
    builder.net_output(feed)
    builder.graph.set_attr(builder.graph.node("r"), "n", 0)
    return builder.graph


def counting(name: str, upto: int, on: int, log: list[str]) -> type[GraphPass]:
    """Adds 1 to `n` while it is below `upto` and leaves the remainder `on` of 2."""

    class Count(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            n = graph.node("r").attrs["n"]
            log.append(f"{name}{n}")
            if n < upto and n % 2 == on:
                graph.set_attr(graph.node("r"), "n", n + 1)

    return Count


@pytest.fixture
def run(
    catalog: MakeCatalog, environment: Callable[..., Environment]
) -> Callable[..., tuple[Schedule, RunReport, list[str], list[str]]]:
    """`run(pipeline, upto=4)` runs A (even) and B (odd) -> schedule, report, log, warnings."""

    def make(
        pipeline: str | None, upto: int = 4, repeat: int = 1
    ) -> tuple[Schedule, RunReport, list[str], list[str]]:
        log: list[str] = []
        passes = {"A": {"cls": counting("A", upto, 0, log), "repeat": repeat}}
        schedule = plan_passes(
            catalog(passes, acme={"B": {"cls": counting("B", upto, 1, log)}}), pipeline=pipeline
        )
        env = environment(one(), schedule)
        return schedule, PassManager(schedule, env).run(), log, env.warnings

    return make


Runs = Callable[..., tuple[Schedule, RunReport, list[str], list[str]]]


def test_passes_repeat_until_a_turn_changes_nothing(run: Runs) -> None:
    """Each sees what the other did; every run is reported."""
    _, report, log, warnings = run("repeat{limit=10}(A,acme.B)")
    assert ["A0", "B1", "A2", "B3", "A4", "B4"] == log
    assert [True, True, True, True, False, False] == [ran.changed for ran in report.passes]
    assert [] == warnings


def test_without_a_repeat_they_run_once(run: Runs) -> None:
    """Also in a repeat with limit 1, which says nothing about settling."""
    for text in ("A,acme.B", "repeat{limit=1}(A,acme.B)"):
        _, _, log, warnings = run(text)
        assert (["A0", "B1"], []) == (log, warnings)


def test_a_repeat_that_does_not_settle(run: Runs) -> None:
    """The bound holds, the compile goes on, and who still changed the graph is named."""
    _, _, log, warnings = run("repeat{limit=2}(A,acme.B)", upto=3)
    assert ["A0", "B1", "A2", "B3"] == log
    assert [
        "not settled after 2 runs: A (graph-engine-core 1.0) still changed the graph"
    ] == warnings
    _, _, _, warnings = run("repeat{limit=2}(A,acme.B)", upto=99)
    assert [
        "not settled after 2 runs: A (graph-engine-core 1.0), acme.B (acme-casts 1.0)"
        " still changed the graph"
    ] == warnings


def test_what_stands_beside_a_repeat_runs_once(run: Runs) -> None:
    """Before and behind it; two repeats are two."""
    _, _, log, _ = run("A,repeat{limit=5}(acme.B),repeat{limit=5}(A),acme.B")
    assert ["A0", "B1", "B2", "A2", "A3", "B3"] == log


def test_a_pass_may_declare_its_repeat(run: Runs) -> None:
    """It is part of the text; a written one has the last word."""
    schedule, _, log, _ = run(None, upto=1, repeat=7)
    assert ["A0", "A1", "B1"] == log
    assert Repeat(1, 7) == schedule.passes[0].repeat
    assert "OPTIMIZE_STAGE1(repeat{limit=7}(A),acme.B)" == str(schedule.text())
    again, _, log, _ = run(str(schedule.text()), upto=1, repeat=7)
    assert (str(schedule.text()), ["A0", "A1", "B1"]) == (str(again.text()), log)
    _, _, log, _ = run("repeat{limit=1}(A)", upto=1, repeat=7)
    assert ["A0"] == log


def test_a_pass_that_fails_in_a_later_turn(
    catalog: MakeCatalog, environment: Callable[..., Environment]
) -> None:
    """That turn's edits are undone, those of the turns before stand."""

    class Third(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            n = graph.node("r").attrs["n"]
            graph.set_attr(graph.node("r"), "n", n + 1)
            if n == 2:
                raise ValueError("enough")

    schedule = plan_passes(catalog({"A": {"cls": Third, "repeat": 9}}))
    graph = one()
    with pytest.raises(PassError, match="pass 'A' failed: ValueError: enough"):
        PassManager(schedule, environment(graph, schedule)).run()
    assert 2 == graph.node("r").attrs["n"]


# ---- planning ------------------------------------------------------------------------------------


def test_a_repeat_stands_in_one_stage(catalog: MakeCatalog) -> None:
    """Two are an error that says what to write; a later one may be written, or come from before."""
    there = catalog({"A": {}, "B": {}, "Late": {"stage": Stage.CHECK}})
    with pytest.raises(UsageError) as raised:
        plan_passes(there, pipeline="repeat{limit=3}(A,Late)")
    assert (
        "the pipeline repeats over two stages: 'A' stands in OPTIMIZE_STAGE1, 'Late' in CHECK"
        == raised.value.message
    )
    assert "write the stage: CHECK(repeat...)" in str(raised.value)
    for text in ("CHECK(repeat{limit=3}(A,Late))", "repeat{limit=3}(Late,A)"):
        expected = "CHECK(" + ("repeat{limit=3}(A,Late)" if "CHECK" in text else text) + ")"
        assert expected == str(plan_passes(there, pipeline=text).text())


def test_what_joins_a_text_stands_behind_its_repeats(catalog: MakeCatalog) -> None:
    """A required pass is never inside one; a pass that is switched off leaves it."""
    from ge_core.passes.precedence import Source

    there = catalog({"A": {}, "B": {}, "Must": {"required": True}})
    schedule = plan_passes(
        there, [Source("arguments", disable=("A",))], pipeline="repeat{limit=3}(A,B)"
    )
    assert "OPTIMIZE_STAGE1(repeat{limit=3}(B),Must)" == str(schedule.text())


def test_needs_hold_in_the_first_turn(catalog: MakeCatalog) -> None:
    """That it comes round again is too late."""
    there = catalog({"A": {"needs": ("B",)}, "B": {}})
    plan_passes(there, pipeline="repeat{limit=3}(B,A)")
    with pytest.raises(UsageError, match="needs 'B' to run before it"):
        plan_passes(there, pipeline="repeat{limit=3}(A,B)")


def test_mistakes_in_a_text_are_pointed_at(catalog: MakeCatalog) -> None:
    """Unknown passes and options, bad values, stages out of order."""
    from ge_core.errors import GeError

    there = catalog({"A": {"repeat": 2}, "B": {}}, acme={"Drop": {}})
    for text, problem, column in (
        ("A,repeat{limit=2}(Bx)", "no pass 'Bx'", 18),
        ("A,B{n=1}", "pass 'B' has no option 'n'", 2),
        ("CHECK(A),PREPARE(B)", "writes PREPARE after CHECK", 17),
        ("A,Drop", "no pass 'Drop'", 2),
    ):
        with pytest.raises(GeError) as raised:
            plan_passes(there, pipeline=text)
        lines = str(raised.value).splitlines()
        assert problem in lines[0]
        at = lines.index(f"  {text}")
        assert f"  {' ' * column}^" == lines[at + 1]
    assert "acme.Drop (acme-casts 1.0)" == raised.value.near[0]
    assert "write it with its owner's prefix" in str(raised.value)
