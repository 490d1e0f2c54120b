"""Copies at the ends of calls, branches and loops, one test per condition and what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ge_core
from ge_core.api import Graph, GraphBuilder, OutputAnchor, PassError, clone

Run = Callable[..., Any]
PASS = "SubgraphPass"
KEPT = {"_cannot_be_deleted": True, "no_need_constant_folding": False}


def facts(remark: Any) -> tuple[str, str, list[str | None], int | None]:
    """What a remark says: kind, code, the anchors to blame, bytes."""
    return (
        str(remark.kind),
        remark.code,
        [one.anchor or one.node for one in remark.blame],
        remark.bytes,
    )


def call(inside: Callable[[GraphBuilder, OutputAnchor], list[OutputAnchor]]) -> Graph:
    """A call of a graph with one input, between two ordinary nodes."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    g = b.subgraph("g")
    results = inside(g, g.data("d"))
    g.net_output(*results, name="g_out")
    node = b.node(
        "PartitionedCall", act, name="call", outputs=[act.desc] * len(results), subgraphs={"f": g}
    )
    b.net_output(*[b.op("Relu", output) for output in node.outputs])
    return b.graph


def constant(g: GraphBuilder, d: OutputAnchor) -> list[OutputAnchor]:
    """A result that is a constant."""
    return [g.const("k", bytes(64), (1, 16))]


def through(g: GraphBuilder, d: OutputAnchor) -> list[OutputAnchor]:
    """A result that is the input."""
    return [d]


def cleared(g: GraphBuilder, d: OutputAnchor) -> list[OutputAnchor]:
    """A result that is cleared before its node runs."""
    return [g.op("Foo", d, name="p", attrs={"is_atomic_node": True, "atomic_output_index": [0]})]


def packed(g: GraphBuilder, d: OutputAnchor) -> list[OutputAnchor]:
    """A result that views a packed output."""
    return [g.op("Reshape", g.op("Foo", d, name="p", attrs={"continuous_output": True}))]


@pytest.mark.parametrize(
    ("inside", "code", "blame"),
    [
        (constant, "CONSTANT_RESULT", "k:0"),
        (through, "INPUT_AS_RESULT", "d:0"),
        (cleared, "CLEARED_RESULT", "p:0"),
        (packed, "PACKED_RESULT", "p:0"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_results_that_cannot_lie_at_the_callers(
    run: Run, inside: Any, code: str, blame: str
) -> None:
    """A copy in front, by GE's name and with its marks."""
    graph = call(inside)
    env = run(graph, PASS)
    copy = graph.node("g_out_input_0_Memcpy")
    assert copy.outputs[0] is graph.node("g_out").inputs[0].source
    assert KEPT == dict(copy.attrs)
    assert ("missed", code, [blame, "g_out@0"], 64) == facts(env.remarks.final(copy.name))


def test_a_packed_input_is_copied_behind_the_inner_input(run: Run) -> None:
    """For all its readers, also where a view stands between."""

    def inside(g: GraphBuilder, d: OutputAnchor) -> list[OutputAnchor]:
        view = g.op("Reshape", d, name="view")
        gather = g.op("Foo", view, name="gather", attrs={"continuous_input": True})
        return [gather, g.op("Relu", d, name="other")]

    graph = call(inside)
    env = run(graph, PASS)
    copy = graph.node("d_output_0_Memcpy")
    assert ["view@0", "other@0"] == [repr(reader) for reader in copy.outputs[0].readers]
    expected = ("missed", "PACKED_INPUT", ["d:0", "gather@0"], 64)
    assert expected == facts(env.remarks.final(copy.name))


def test_a_constant_may_leave_a_graph_into_one_of_unknown_shape(run: Run) -> None:
    """Its caller binds no buffers before the run."""
    graph = call(constant)
    graph.set_graph_attr("_graph_unknown_flag", True)
    run(graph, PASS)
    assert None is graph.find("g_out_input_0_Memcpy")


def loop(*, swap: bool = True, dynamic: bool = False, shared: bool = False) -> Graph:
    """A loop with two values, which its body exchanges or passes through."""
    b = GraphBuilder()
    x = b.op("Relu", b.data("x"), name="act")
    k = b.const("k", bytes(64), (1, 16))
    cond, body = b.subgraph("cond"), b.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("c0"), name="less"), name="cond_out")
    d0, d1 = body.data("b0"), body.data("b1")
    body.net_output(*((d1, d0) if swap else (d0, d1)), name="body_out")
    subs = {"cond": cond, "body": body}
    node = b.node("While", x, k, name="loop", outputs=[x.desc, x.desc], subgraphs=subs)
    b.net_output(*node.outputs, *([x] if shared else []))
    if dynamic:
        b.graph.set_graph_attr("_graph_unknown_flag", True)
    return b.graph


def test_a_body_reads_all_its_values_before_it_writes_one(run: Run) -> None:
    """One copy at each end, without marks; a constant is copied on its way in."""
    graph = loop(shared=True)
    before = clone(graph)
    env = run(graph, PASS)
    for name, code, blame in (
        ("body_input_Memcpy", "LOOP_TURN_INPUTS", ["b0:0", "body_out@1"]),
        ("body_output_Memcpy", "LOOP_TURN_RESULTS", ["body_input_Memcpy:1", "body_out@0"]),
    ):
        copy = graph.node(name)
        assert (2, {}) == (len(copy.outputs), dict(copy.attrs))
        assert ("missed", code, blame, 128) == facts(env.remarks.final(name))
    final = facts(env.remarks.final("loop_input_1_Memcpy"))
    assert ("missed", "CONSTANT_INTO_LOOP", ["k:0", "loop@1"], 64) == final
    final = facts(env.remarks.final("loop_input_0_Memcpy"))
    assert ("missed", "SHARED_INTO_LOOP", 64) == (final[0], final[1], final[3])
    for level in ("O0", "O3", "O4"):
        ge_core.compile(clone(before), level=level).check_proof()


def test_values_that_go_straight_through_are_left_alone(run: Run) -> None:
    """Nothing is copied in the body."""
    graph = loop(swap=False)
    run(graph, PASS)
    assert [] == graph.subgraphs["body"].nodes_of("Identity")


def test_below_a_graph_of_unknown_shape_a_condition_copies_too(run: Run) -> None:
    """Where the body's shapes are known."""
    graph = loop(dynamic=True)
    env = run(graph, PASS)
    expected = ("missed", "LOOP_CONDITION", ["c0:0", "less@0"], 64)
    assert expected == facts(env.remarks.final("cond_input_Memcpy"))
    unknown = loop(dynamic=True)
    unknown.subgraphs["body"].set_graph_attr("_graph_unknown_flag", True)
    run(unknown, PASS)
    inner = [graph.nodes_of("Identity") for graph in unknown.subgraphs.values()]
    assert [[], []] == inner


def test_a_loops_value_leaves_a_known_graph_below_an_unknown_one(run: Run) -> None:
    """By a copy."""
    b = GraphBuilder()
    b.graph.set_graph_attr("_graph_unknown_flag", True)
    act = b.op("Relu", b.data("x"), name="act")
    g = b.subgraph("g")
    cond, body = g.subgraph("cond"), g.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("c0"), name="less"))
    body.net_output(body.data("b0"))
    inner = g.op("Relu", g.data("d"), name="inner")
    value = g.op("While", inner, name="loop", subgraphs={"cond": cond, "body": body})
    g.net_output(value, name="g_out")
    b.net_output(b.op("PartitionedCall", act, subgraphs={"f": g}))
    env = run(b.graph, PASS)
    expected = ("missed", "LOOP_RESULT", ["loop:0", "g_out@0"], 64)
    assert expected == facts(env.remarks.final("g_out_input_0_Memcpy"))


def test_a_branch_delivers_each_node_once(run: Run) -> None:
    """Another output of the node counts as the same; the copies stand in front of the results."""
    b = GraphBuilder()
    switch, x = b.data("switch", (), "bool"), b.op("Relu", b.data("x"), name="act")
    arms = {}
    for name in ("then_branch", "else_branch"):
        arm = b.subgraph(name)
        top = arm.node(
            "TopK", arm.data(f"{name}_d", index=1), name=f"{name}_top", outputs=[x.desc] * 2
        )
        arm.net_output(*top.outputs, top.outputs[0], name=f"{name}_out")
        arms[name] = arm
    node = b.node("If", switch, x, name="if", outputs=[x.desc] * 3, subgraphs=arms)
    b.net_output(*node.outputs)
    env = run(b.graph, PASS)
    out = b.graph.node("then_branch_out")
    assert ["TopK", "Identity", "Identity"] == [other.op for other in out.in_nodes]
    names = ["then_branch_top_output_1_Memcpy", "then_branch_top_output_0_Memcpy"]
    assert names == [other.name for other in out.in_nodes[1:]]
    expected = ("missed", "RESULT_TWICE", ["then_branch_top:1", "then_branch_out@1"], 64)
    assert expected == facts(env.remarks.final(names[0]))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("body", "the loop has no body"),
        ("result", "its body 'body' has no NetOutput"),
        ("results", "its body 'body' has 2 NetOutput nodes"),
    ],
)
def test_a_loop_with_missing_parts_is_an_error(run: Run, broken: str, said: str) -> None:
    """It names the loop, what is missing, and what a loop needs."""
    b = GraphBuilder()
    x = b.op("Relu", b.data("x"), name="act")
    cond, body = b.subgraph("cond"), b.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("c0"), name="less"))
    value = body.data("b0")
    for at in range({"result": 0, "results": 2}.get(broken, 1)):
        body.net_output(value, name=f"out{at}")
    subs = {"cond": cond} if broken == "body" else {"cond": cond, "body": body}
    b.net_output(b.op("While", x, name="loop", subgraphs=subs))
    with pytest.raises(PassError, match=f"node 'loop'.*{said}") as caught:
        run(b.graph, PASS)
    assert caught.value.hint


def test_graphs_from_onnx_are_left_alone(run: Run) -> None:
    """Their branches and loops end with copies of their own."""
    b = GraphBuilder("root", "onnx")
    switch, x = b.data("switch", (), "bool"), b.op("Relu", b.data("x"), name="act")
    arms = {}
    for name in ("then_branch", "else_branch"):
        arm = b.subgraph(name)
        arm.net_output(arm.data(f"{name}_d", index=1))
        arms[name] = arm
    b.net_output(b.op("If", switch, x, name="if", attrs={"captured": 1}, subgraphs=arms))
    run(b.graph, PASS)
    assert [] == [node for node in b.graph.all_nodes() if node.op == "Identity"]


def test_two_calls_of_one_graph_share_its_copies(run: Run) -> None:
    """The graph is seen to once; a second run changes nothing."""
    b = GraphBuilder()
    g = b.subgraph("g")
    g.net_output(g.data("d"), name="g_out")
    x = b.op("Relu", b.data("x"), name="act")
    first = b.op("PartitionedCall", x, name="first", subgraphs={"f": g})
    b.net_output(b.op("PartitionedCall", first, name="second", subgraphs={"f": g}))
    for _ in range(2):
        run(b.graph, PASS)
        assert ["g_out_input_0_Memcpy"] == [
            n.name for n in b.graph.subgraphs["g"].nodes_of("Identity")
        ]
    ge_core.compile(clone(b.graph)).check_proof()


def test_a_second_call_may_store_what_the_first_has_handed_out(run: Run) -> None:
    """Then its result is no copy: whoever reads it at the end sees the second store."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    g = b.subgraph("g")
    d = g.data("d")
    value = g.op("Exp", d, name="value")
    st = g.op("Assign", d, value, name="st", attrs={"reference": True}, reuse_input=0)
    g.net_output(st, d, name="g_out")
    calls = [
        b.node("PartitionedCall", act, name=name, outputs=[act.desc] * 2, subgraphs={"f": g})
        for name in ("first", "second")
    ]
    b.net_output(*calls[0].outputs, *calls[1].outputs)
    for level in ("O0", "O3", "O4"):
        ge_core.compile(clone(b.graph), level=level).check_proof()
    env = run(b.graph, PASS)
    assert [] == g.graph.nodes_of("Identity")
    (remark,) = env.remarks.of("g_out")
    assert ["st@0", "NetOutput@1"] == [one.anchor for one in remark.blame]


def test_a_store_in_a_body_reaches_no_argument_of_the_loop(run: Run) -> None:
    """What a loop is given is its own: a shared argument is copied, and so is the turn's value."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    cond, body = b.subgraph("c"), b.subgraph("g")
    cond.net_output(cond.op("Less", cond.data("c/d"), name="c/t"))
    d = body.data("g/d")
    st = body.op("Assign", d, d, name="st", reuse_input=0, attrs={"reference": True})
    body.net_output(body.op("Exp", st, name="g/r"))
    loop = b.op("While", act, name="loop", subgraphs={"cond": cond, "body": body})
    b.net_output(loop, b.op("Exp", act, name="late"))
    before = clone(b.graph)
    run(b.graph, PASS)
    sources = [b.graph.node("loop").inputs[0], body.graph.node("st").inputs[0]]
    assert ["loop_input_0_Memcpy:0", "g_input_Memcpy:0"] == [repr(at.source) for at in sources]
    ge_core.compile(before, pipeline=PASS).check_proof()


def test_what_a_call_delivers_is_copied_inside_it_alone(run: Run) -> None:
    """A constant that comes out of an inner call is no constant to the graph around the call."""
    b = GraphBuilder()
    outer, inner = b.subgraph("g"), b.subgraph("h")
    inner.net_output(inner.const("k", bytes(64), (1, 16)), name="h_out")
    outer.net_output(outer.op("PartitionedCall", name="call", subgraphs={"f": inner}), name="g_out")
    b.data("x")
    b.net_output(b.op("Relu", b.op("PartitionedCall", name="first", subgraphs={"f": outer})))
    run(b.graph, PASS)
    assert [1, 0] == [len(g.graph.nodes_of("Identity")) for g in (inner, outer)]
