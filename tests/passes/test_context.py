"""The context of a pass: what it knows, and how remarks are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.analysis import AliasClasses, Effects, Order
from ge_core.errors import PassError, UnknownNameError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import Code, GraphPass, PassContext, PassRegistry, RemarkKind
from ge_core.passes.environment import Environment
from ge_core.passes.manager import RunReport
from ge_core.passes.precedence import Source

Run = Callable[..., tuple[Environment, RunReport]]


def one_move() -> Graph:
    """x -> TensorMove m -> Relu r -> out."""
    builder = GraphBuilder()
    move = builder.node("TensorMove", builder.data("x"), name="m")
    relu = builder.node("Relu", move.outputs[0], name="r")
    builder.node("NetOutput", relu.outputs[0], name="out", outputs=[])
    return builder.graph


def a_pass(
    work: Callable[[Graph, PassContext], object], codes: Any = ("NOOP", "OTHER")
) -> dict[str, Any]:
    """The declaration of a pass that does this on the root graph."""

    class Work(GraphPass, codes=codes):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            if graph.is_root:
                work(graph, ctx)

    return {"cls": Work}


def test_remarks_of_third_parties_bear_their_name(run: Run) -> None:
    """The author writes NOOP; the remark says acme.NOOP, its package and version."""
    env, _ = run(
        one_move(), {}, acme={"P": a_pass(lambda g, ctx: ctx.missed(g.node("m"), "NOOP", bytes=64))}
    )
    remark = env.remarks.final("m")
    assert remark is not None
    assert ("acme.NOOP", "acme.P", "acme-casts 1.0", "root", "TensorMove", 64) == (
        remark.code,
        remark.pass_name,
        remark.owner,
        remark.graph,
        remark.op,
        remark.bytes,
    )


def test_the_text_of_a_code_is_filled_from_fields(run: Run) -> None:
    """They are kept with the remark; words given with it win."""
    codes = {"WIDE": ("{count} readers", "R3")}

    def work(graph: Graph, ctx: PassContext) -> None:
        ctx.missed(graph.node("m"), "WIDE", count=3, blame=[graph.node("r"), "x"], hint="cut it")
        ctx.analysis(graph.node("r"), "WIDE", reason="in other words")

    env, _ = run(one_move(), {"P": a_pass(work, codes)})
    remark = env.remarks.final("m")
    assert remark is not None
    assert ("3 readers", "R3", {"count": 3}) == (remark.reason, remark.rule, remark.data)
    assert ["r", "x"] == [blame.node for blame in remark.blame]
    assert ["in other words"] == [one.reason for one in env.remarks.of("r")]


def test_an_undeclared_code_is_an_error_that_names_the_pass(run: Run) -> None:
    """With near codes and how to declare it."""
    with pytest.raises(PassError) as raised:
        run(one_move(), {}, acme={"P": a_pass(lambda g, ctx: ctx.applied(g.node("m"), "NOPE"))})
    text = str(raised.value)
    assert "pass 'acme.P' gives code 'NOPE', which nobody declared" in text
    assert "acme.NOOP" in text
    assert "owner: acme-casts 1.0" in text


def test_codes_of_the_pass_are_near_before_others(run: Run) -> None:
    """And the hint writes the class as its author does."""
    fien = a_pass(lambda g, ctx: ctx.missed(g.node("m"), "FIEN"), ("FINE",))
    with pytest.raises(PassError) as raised:
        run(one_move(), {}, acme={"P": fien, "Q": a_pass(lambda g, ctx: None, ("FIEND",))})
    assert ("acme.FINE",) == raised.value.near
    assert "declare it with the pass: class P(..., codes=('FIEN',))" == raised.value.hint


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"whom": 1}, "the text of acme.WIDE wants {who}; given: whom"),
        ({}, "the text of acme.WIDE wants {who}; given: nothing"),
        ({"who": 1, "blame": "y"}, "blame='y' names no node of the graph; give the node itself"),
        ({"who": 1, "blame": ["m:0", "z:0"]}, "blame='z:0' names no node of the graph; give"),
        ({"who": 1, "bytes": "many"}, "bytes='many' is no number of bytes"),
        ({"who": 1, "bytes": True}, "bytes=True is no number of bytes"),
        ({"who": 1, "bytes": -1}, "bytes=-1 is no number of bytes"),
        ({"who": 1, "blame": 3}, "blame=3 is no node and no anchor"),
        ({"who": 1, "reason": 3}, "reason=3 is no text"),
        ({"who": 1, "hint": 3}, "hint=3 is no sentence and no {'set': ...}, {'edge': ...}"),
        ({"who": 1, "hint": {}}, "hint={} is no sentence and no {'set': ...}, {'edge': ...}"),
        ({"who": 1, "hint": {"set": 3}}, "a hint's words are a text, not 3"),
        ({"who": 1, "hint": {"sett": "a=b"}}, "a hint is one of 'set', 'edge', 'cut',"),
    ],
)
def test_a_malformed_remark_is_an_error_at_once(run: Run, about: dict[str, Any], says: str) -> None:
    """It names the pass, its package and the node."""
    work = a_pass(lambda g, c: c.missed(g.node("m"), "WIDE", **about), {"WIDE": "{who} is it"})
    with pytest.raises(PassError) as raised:
        run(one_move(), {}, acme={"P": work})
    assert raised.value.message.startswith(f"pass 'acme.P' on node 'm': {says}")
    assert "acme-casts 1.0" == raised.value.owner


def test_a_field_that_can_not_be_written_is_an_error(run: Run) -> None:
    """The fields are there, and one has no such form."""
    work = a_pass(lambda g, c: c.missed(g.node("m"), "N", n="x"), {"N": "{n:d}"})
    with pytest.raises(PassError, match="the text of N wants {n}; given: n: ValueError: "):
        run(one_move(), {"P": work})


def test_codes_of_rules_and_code_objects_may_be_given(run: Run) -> None:
    """A pass reports the code of a rule or checker that it asked."""
    code = Code("acme.BANK", "another bank", "R9")

    def work(graph: Graph, ctx: PassContext) -> None:
        ctx.environment.codes.add([Code("RULE", "by a rule", giver="rule")])
        ctx.missed(graph.node("m"), "RULE")
        ctx.failed(graph.node("m"), code)

    env, _ = run(one_move(), {"P": a_pass(work)})
    assert [("RULE", "by a rule"), ("acme.BANK", "another bank")] == [
        (remark.code, remark.reason) for remark in env.remarks.of("m")
    ]
    final = env.remarks.final("m")
    assert final is not None and final.kind is RemarkKind.FAILED


def test_options_and_level(run: Run) -> None:
    """Values as texts; an option that nobody declared is an error."""
    seen: dict[str, object] = {}

    def work(graph: Graph, ctx: PassContext) -> None:
        seen["topo"] = ctx.option("ge.topoSortingMode")
        seen["level"] = (ctx.level.name, ctx.level.base)
        seen["target"] = ctx.target.name
        seen["strict"] = ctx.strict_options
        with pytest.raises(UnknownNameError):
            ctx.option("ge.nothing")

    run(one_move(), {"P": a_pass(work)}, [Source("arguments", {"ge.oo.level": "O1"})])
    assert {"topo": "3", "level": ("O1", "O1"), "target": "generic", "strict": True} == seen


def test_analyses_are_made_when_asked_for(run: Run) -> None:
    """Order, effects and alias classes of the root; the trace starts at an input."""
    seen: list[object] = []

    def work(graph: Graph, ctx: PassContext) -> None:
        relu = graph.node("r")
        trace = ctx.trace(relu.inputs[0])
        seen.extend([type(ctx.order), type(ctx.effects), type(ctx.aliases), type(ctx.symbols)])
        seen.append(None if trace.source is None else trace.source.name)
        seen.append((ctx.read_write, ctx.layout_checkers, ctx.delete_rules()))

    _, report = run(one_move(), {"P": a_pass(work)})
    assert [Order, Effects, AliasClasses, AliasClasses, "m", (None, None, [])] == seen
    spans = report.timing.children["passes"].children["P"].children
    assert ["analysis order", "analysis aliases"] == [
        n for n in spans if n in ("analysis order", "analysis aliases")
    ]


@pytest.mark.parametrize(("preserves", "made"), [((), 3), (("mine",), 1)])
def test_an_analysis_is_made_again_after_edits_unless_preserved(
    run: Run, preserves: tuple[str, ...], made: int
) -> None:
    """Once before, once after an edit in the pass, once in the next pass; or only once."""
    count: list[int] = []

    def ask(ctx: PassContext) -> None:
        ctx.cached("mine", lambda: count.append(1))

    def edit(graph: Graph, ctx: PassContext) -> None:
        ask(ctx)
        ask(ctx)
        graph.set_attr(graph.node("m"), "a", 1)
        ask(ctx)
        graph.set_attr(graph.node("m"), "a", 2)

    run(
        one_move(),
        {"A": {**a_pass(edit), "preserves": preserves}, "B": a_pass(lambda g, ctx: ask(ctx))},
        declare=lambda passes: passes.add_analysis("mine"),
    )
    assert made == len(count)


def test_an_analysis_made_inside_a_rolled_back_transaction_is_dropped(run: Run) -> None:
    """It has seen edits that are gone; one made before stays, being preserved."""
    seen: list[object] = []

    def work(graph: Graph, ctx: PassContext) -> None:
        node = graph.node("m")
        before = ctx.cached("before", object)
        with graph.transaction() as trial:
            graph.set_attr(node, "a", 1)
            seen.append(ctx.cached("inside", lambda: dict(node.attrs)))
            trial.rollback()
        seen.append(ctx.cached("inside", lambda: dict(node.attrs)))
        seen.append(before is ctx.cached("before", object))

    def declare(passes: PassRegistry) -> None:
        passes.add_analysis("before")
        passes.add_analysis("inside")

    passes = {"P": {**a_pass(work), "preserves": ("before", "inside")}}
    run(one_move(), passes, declare=declare)
    assert [{"a": 1}, {}, True] == seen


def test_only_node_passes_may_ask_for_visits(run: Run) -> None:
    """The error names the pass."""
    with pytest.raises(PassError, match="pass 'P' asks for a visit and is not a NodePass"):
        run(one_move(), {"P": a_pass(lambda g, ctx: ctx.revisit(g.node("m")))})


def test_the_logger_knows_pass_and_graph(run: Run) -> None:
    """structlog, bound."""
    bound: list[dict[str, Any]] = []

    def work(graph: Graph, ctx: PassContext) -> None:
        import structlog

        bound.append(dict(structlog.get_context(ctx.log)))

    run(one_move(), {"P": a_pass(work)})
    assert [{"pass_name": "P", "graph": "root"}] == bound
