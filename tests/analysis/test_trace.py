"""The source trace: rules, steps across graphs, bounds, and shortcuts against the plain walk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import (
    Sources,
    SourceTracer,
    Step,
    Trace,
    TraceCursor,
    TraceRules,
    Waypoint,
)
from ge_core.errors import PassError, PluginError
from ge_core.ir import Graph, GraphBuilder, OutputAnchor
from ge_core.ops import OpRegistry, ref_of, register_builtin_ops
from ge_core.registry import Owner
from ge_core.testing.choices import SeededChoices

OPS = OpRegistry()
register_builtin_ops(OPS)
OWNER = Owner("acme", "acme-casts", "1.0")


def view(output: OutputAnchor, trace: TraceCursor) -> Step | None:
    """Follow aliases."""
    at = ref_of(output, trace.ops)
    return None if at is None else trace.through(output.node.inputs[at])


def some_rules() -> TraceRules:
    """Views, subgraphs and calls."""
    rules = TraceRules()
    rules.add("*", view, name="view")
    rules.add("Data", lambda output, trace: trace.leave(output.node))
    rules.add("PartitionedCall", lambda output, trace: trace.enter(output))
    return rules


def traced(graph: Graph, name: str, rules: TraceRules | None = None) -> Trace:
    """The trace from a node's input 0."""
    tracer = SourceTracer(graph, OPS, some_rules() if rules is None else rules)
    return tracer.trace(graph.node(name).inputs[0])


def names(trace: Trace) -> list[str]:
    """The path in words."""
    return [str(point.output or point.node.name) for point in trace.path]


def test_without_rules_the_producer_is_the_source() -> None:
    """A trace is as long as its rules make it."""
    build = GraphBuilder()
    x = build.op("Reshape", build.op("Relu", build.data("x"), name="r"), name="v", reuse_input=0)
    build.op("Exp", x, name="e")
    assert ["v:0"] == names(traced(build.graph, "e", TraceRules()))
    assert ["v:0", "r:0"] == names(traced(build.graph, "e", _only_views()))


def _only_views() -> TraceRules:
    rules = TraceRules()
    rules.add("*", view)
    return rules


def test_a_third_party_s_rule_for_an_op_steps_over_it() -> None:
    """One line makes a custom op transparent; it comes before rules for every op."""
    rules, staged = TraceRules(), TraceRules()
    staged.add("AcmeWindow", step=lambda output, trace: trace.through(output.node.inputs[0]))
    rules.absorb(staged, OWNER)
    build = GraphBuilder()
    build.op("Exp", build.op("AcmeWindow", build.op("Relu", build.data("x"), name="r")), name="e")
    assert ["AcmeWindow:0", "r:0"] == names(traced(build.graph, "e", rules))


def test_rules_of_two_owners_for_one_op_are_asked_in_turn() -> None:
    """The second is asked where the first has nothing to say."""
    rules = TraceRules()
    for name, answer in (("b", "stopped by b"), ("a", None)):
        staged = TraceRules()
        staged.add("Foo", lambda output, trace, answer=answer: answer and trace.stop(answer))  # type: ignore[misc]  # a default argument for the loop's value
        rules.absorb(staged, Owner(name, name))
    build = GraphBuilder()
    build.op("Exp", build.op("Foo", build.data("x")), name="e")
    trace = traced(build.graph, "e", rules)
    assert ("stopped by b", ["Foo:0"]) == (trace.stopped, names(trace))


def test_one_owner_s_rules_for_one_op_need_names() -> None:
    """A second nameless rule is refused."""
    rules = TraceRules()
    rules.add("Foo", view)
    with pytest.raises(PluginError, match="registered twice"):
        rules.add("Foo", view)


def test_a_rule_that_raises_or_answers_nonsense_names_its_package() -> None:
    """Both are errors of the rule's owner."""
    build = GraphBuilder()
    build.op("Exp", build.op("Foo", build.data("x")), name="e")
    for step in (lambda output, trace: 1 // 0, lambda output, trace: "through"):
        staged, rules = TraceRules(), TraceRules()
        staged.add("Foo", step)  # type: ignore[arg-type]  # what the kernel has to survive
        rules.absorb(staged, OWNER)
        with pytest.raises(PassError, match="acme-casts"):
            traced(build.graph, "e", rules)


def call_in_call() -> GraphBuilder:
    """x -> outer call(inner call(Relu)) -> e, and a reader inside of the outer input."""
    build = GraphBuilder()
    inner, outer = build.subgraph("i"), build.subgraph("o")
    inner.net_output(inner.op("Relu", inner.data("i/d"), name="i/r"))
    d = outer.data("o/d")
    outer.op("Exp", outer.op("Reshape", d, name="o/v", reuse_input=0), name="o/e")
    outer.net_output(outer.op("PartitionedCall", d, name="o/call", subgraphs={"f": inner}))
    made = build.op("Relu", build.data("x"), name="made")
    build.op(
        "Exp", build.op("PartitionedCall", made, name="call", subgraphs={"f": outer}), name="e"
    )
    return build


def test_a_trace_enters_calls_and_notes_the_way_in() -> None:
    """Through each NetOutput to the innermost producer, which stands twice on the path."""
    graph = call_in_call().graph
    trace = traced(graph, "e")
    assert ["call:0", "o/call:0", "o/call:0", "i/r:0", "i/r:0"] == names(trace)
    assert ["call", "o/NetOutput", "o/call", "i/NetOutput", "i/r"] == [
        point.node.name for point in trace.path
    ]
    assert trace.source is graph.node("i/r") and trace.stopped is None


def test_a_trace_leaves_subgraphs_through_the_caller() -> None:
    """The caller stands on the path without an output."""
    graph = call_in_call().graph
    trace = traced(graph, "o/e")
    assert ["o/v:0", "o/d:0", "call", "made:0"] == names(trace)
    assert [None] == [p.output for p in trace.path if p.node.name == "call"]


def test_a_trace_stops_where_a_subgraph_has_several_callers() -> None:
    """Which caller's value it is differs from run to run."""
    build = GraphBuilder()
    sub = build.subgraph("g")
    sub.net_output(sub.op("Relu", sub.data("g/d"), name="g/r"))
    for name in ("one", "other"):
        build.op("PartitionedCall", build.data(f"x_{name}"), name=name, subgraphs={"f": sub})
    assert "a subgraph with 2 callers" == traced(build.graph, "g/r").stopped


def test_a_trace_out_of_an_unconnected_caller_ends_at_the_caller() -> None:
    """The last node on the way is the caller, and the trace says that something is missing."""
    build = call_in_call()
    build.graph.disconnect(build.graph.node("call").inputs[0])
    trace = traced(build.graph, "o/e")
    assert trace.source is build.graph.node("call")
    assert trace.output is None and trace.stopped == "an input that is not connected"


def test_an_unconnected_input_has_an_empty_trace() -> None:
    """Nothing is on the way, and nothing is the source."""
    build = GraphBuilder()
    node = build.op("Relu", build.data("x"), name="r").node
    build.graph.disconnect(node.inputs[0])
    trace = traced(build.graph, "r")
    assert (None, ()) == (trace.source, trace.path)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        ("index", "an inner input whose parent has no such input"),
        ("no index", "an inner input without a parent index"),
    ],
)
def test_an_inner_input_that_stands_for_nothing_stops_the_trace(spoil: str, why: str) -> None:
    """A wrong or missing parent index is no error, and no guess."""
    build = call_in_call()
    sub = build.graph.subgraphs["o"]
    if spoil == "index":
        sub.set_attr(build.graph.node("o/d"), "_parent_node_index", 5)
    else:
        sub.del_attr(build.graph.node("o/d"), "_parent_node_index")
    assert why == traced(build.graph, "o/e").stopped


def test_a_call_whose_result_can_t_be_told_stops_the_trace() -> None:
    """A result without an index before the one that fits might be the one."""
    build = call_in_call()
    sub = build.graph.subgraphs["i"]
    out = sub.net_output
    assert out is not None and out.inputs[0].desc is not None
    sub.set_desc(out.inputs[0], out.inputs[0].desc.without_attr("_parent_node_index"))
    assert "a call whose result can't be told" == traced(build.graph, "e").stopped


def test_rules_that_lead_in_a_circle_end_with_a_reason() -> None:
    """A trace terminates whatever its rules say."""
    build = GraphBuilder()
    a = build.node("Foo", build.data("x"), name="a")
    b = build.node("Foo", a.outputs[0], name="b")
    rules = TraceRules()
    rules.add("Foo", lambda output, trace: trace.through(b.inputs[0]))
    assert "trace rules that lead in a circle" == traced(build.graph, "b", rules).stopped
    sources = Sources(SourceTracer(build.graph, OPS, rules), lambda via, following: True)
    assert "trace rules that lead in a circle" == sources.origin(a.outputs[0]).stopped
    assert sources.obstacle(a.outputs[0]) is None


def random_views(seed: int) -> tuple[Graph, list[str]]:
    """Views and copies in a random forest; names of the copies."""
    pick, build, copies = SeededChoices(seed), GraphBuilder(), []
    pool = [build.op("Relu", build.data("x"), name="r")]
    for at in range(25):
        source = pick.pick(pool[-4:])
        if pick.chance(40):
            copies.append(f"m{at}")
            pool.append(build.op("TensorMove", source, name=f"m{at}"))
        else:
            pool.append(build.op("Reshape", source, name=f"v{at}", reuse_input=0))
    return build.graph, copies


def single(via: tuple[Waypoint, ...], following: OutputAnchor) -> bool:
    """One reader only."""
    return len(following.readers) == 1


@given(st.integers(0, 10_000))
def test_shortcuts_agree_with_the_plain_walk_while_copies_go(seed: int) -> None:
    """Origins and obstacles are those of a fresh trace after every removal."""
    graph, copies = random_views(seed)
    pick = SeededChoices(seed + 1)
    tracer = SourceTracer(graph, OPS, some_rules())
    sources = Sources(tracer, single)
    left = [name for name in copies if graph.node(name).outputs[0].readers]
    while left:
        node = graph.node(left.pop(pick.integer(0, len(left) - 1)))
        for name in left:
            start = graph.node(name).inputs[0]
            path = [point.output for point in tracer.trace(start).path]
            assert start.source is not None and path[-1] is not None
            assert path[-1] == sources.origin(start.source).output
            blocked = next((o for o in path[1:] if o is not None and len(o.readers) != 1), None)
            found = sources.obstacle(start.source)
            assert blocked == (None if found is None else found[1])
        feed = node.inputs[0].source
        assert feed is not None
        graph.bypass(node)
        sources.replaced(node.outputs[0], feed)


def test_a_long_chain_of_views_and_copies_costs_a_step_each() -> None:
    """Removing copies one after the other down a chain looks at each view a few times."""
    build = GraphBuilder()
    last = build.op("Relu", build.data("x"))
    for at in range(2000):
        last = build.op("TensorMove", last, name=f"m{at}")
        last = build.op("Reshape", last, name=f"v{at}", reuse_input=0)
    build.op("Exp", last, name="e")
    tracer = SourceTracer(build.graph, OPS, some_rules())
    sources = Sources(tracer, single)
    for at in range(2000):
        node = build.graph.node(f"m{at}")
        feed = node.inputs[0].source
        assert feed is not None
        assert "Relu" == sources.origin(feed).node.op
        assert sources.obstacle(feed) is None
        build.graph.bypass(node)
        sources.replaced(node.outputs[0], feed)
    assert tracer.steps < 10 * 2000
