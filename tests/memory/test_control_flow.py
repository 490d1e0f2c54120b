"""Calls, arms and loops: what is one memory there, and how long it is in use."""

from __future__ import annotations

import pytest

from ge_core.errors import LimitExceeded
from ge_core.ir import GraphBuilder, OutputAnchor, TensorDesc
from ge_core.memory import build_problem
from ge_core.ops import OpRegistry
from ge_core.targets import GENERIC

WIDE, NARROW = (64,), (16,)


def call(build: GraphBuilder, source: OutputAnchor, name: str = "call") -> GraphBuilder:
    """A PartitionedCall over one input; returns the body, to be filled."""
    body = build.subgraph(f"{name}_body")
    build.node("PartitionedCall", source, name=name, subgraphs={"f": body})
    return body


def arms(
    build: GraphBuilder, source: OutputAnchor, op: str = "If"
) -> tuple[OutputAnchor, GraphBuilder, GraphBuilder]:
    """An If over one argument; returns its output and its arms, to be filled."""
    predicate = build.op("Gen", name="predicate", shape=(1,), dtype="bool")
    yes, no = build.subgraph("yes"), build.subgraph("no")
    node = build.node(
        op,
        predicate,
        source,
        name="if0",
        outputs=[source.desc],
        subgraphs={"then_branch": yes, "else_branch": no},
    )
    return node.outputs[0], yes, no


def loop(build: GraphBuilder, *sources: OutputAnchor) -> tuple[GraphBuilder, GraphBuilder]:
    """A While over these values, whose condition reads the first; returns condition and body."""
    cond, body = build.subgraph("cond"), build.subgraph("body")
    build.node(
        "While",
        *sources,
        name="loop",
        outputs=[source.desc for source in sources],
        subgraphs={"cond": cond, "body": body},
    )
    seen = cond.data("seen", desc=sources[0].desc, index=0)
    cond.net_output(cond.op("Less", seen, name="less", shape=(1,), dtype="bool"))
    return cond, body


def test_a_call_is_transparent(plan_graph) -> None:
    """A call's input is its body's Data, its output what the body returns."""
    build = GraphBuilder()
    body = call(build, build.op("Gen", name="pre", shape=WIDE))
    inner = body.data("x", WIDE)
    body.net_output(body.op("Relu", body.op("Relu", inner, name="b1"), name="b2"))
    build.op("Relu", build.graph.node("call").outputs[0], name="post")
    planned = plan_graph(build)
    assert planned.offset("pre:0") == planned.offset("x:0")
    assert planned.offset("call:0") == planned.offset("b2:0")
    assert planned.may("pre:0", "call:0") and not planned.may("pre:0", "b1:0")
    assert planned.plan.pools["HBM"].bytes == 512


def test_a_graph_called_twice_has_instances_of_its_own(plan_graph) -> None:
    """Call paths tell the instances apart; a weight inside is one memory."""
    build = GraphBuilder()
    first = call(build, build.op("Gen", name="pre", shape=WIDE), "one")
    weight = first.const("weight", bytes(256), WIDE)
    first.net_output(first.op("Add", first.data("x", WIDE), weight, name="sum"))
    again = build.node(
        "PartitionedCall",
        build.graph.node("one").outputs[0],
        name="two",
        subgraphs={"f": first},
    )
    build.net_output(again.outputs[0])
    planned = plan_graph(build)
    plan = planned.plan
    assert plan.at(["one"], "sum", 0) != plan.at(["two"], "sum", 0)
    one, two = plan.at(["one"], "weight", 0), plan.at(["two"], "weight", 0)
    assert one is not None and two is not None
    assert (one.pool, one.offset) == (two.pool, two.offset)
    assert plan.pools["CONST"].bytes == 256


def test_what_only_one_arm_reads_last_is_free_in_the_other(plan_graph) -> None:
    """Temporaries of the arm that does not read the argument may take its bytes."""
    build = GraphBuilder()
    output, yes, no = arms(build, build.op("Gen", name="arg", shape=WIDE))
    yes.net_output(yes.op("Relu", yes.data("a", WIDE, index=1), name="y1"))
    no.net_output(no.op("Relu", no.op("Gen", name="n1", shape=WIDE), name="n2"))
    build.op("Relu", output, name="post")
    planned = plan_graph(build)
    assert planned.may("arg:0", "n1:0")
    assert not planned.may("arg:0", "y1:0")


def test_the_predicate_is_read_by_the_conditional(plan_graph) -> None:
    """It stays until the conditional starts, and no longer."""
    build = GraphBuilder()
    output, yes, no = arms(build, build.op("Gen", name="arg", shape=WIDE))
    yes.net_output(yes.op("Relu", yes.data("a", WIDE, index=1), name="y1"))
    no.net_output(no.op("Relu", no.data("b", WIDE, index=1), name="n1"))
    planned = plan_graph(build)
    assert not planned.may("predicate:0", "arg:0")
    assert planned.may("predicate:0", "y1:0")
    assert output.readers == []


def test_arms_write_straight_into_the_result(plan_graph) -> None:
    """A result made in its arm lies where the conditional's output lies: nothing to copy."""
    build = GraphBuilder()
    output, yes, no = arms(build, build.op("Gen", name="arg", shape=WIDE))
    yes.net_output(yes.op("Relu", yes.data("a", WIDE, index=1), name="y1"))
    no.net_output(no.op("Relu", no.op("Gen", name="n0", shape=WIDE), name="n1"))
    build.net_output(output)
    planned = plan_graph(build)
    assert planned.offset("y1:0") == planned.offset("n1:0") == planned.offset("if0:0")


@pytest.mark.parametrize("what", ["passed through", "a constant", "given twice", "read before"])
def test_arm_results_that_must_be_copied_keep_their_places(plan_graph, what: str) -> None:
    """Uniting these with the output would destroy what others read."""
    build = GraphBuilder()
    argument = build.op("Gen", name="arg", shape=WIDE)
    predicate = build.op("Gen", name="predicate", shape=(1,), dtype="bool")
    yes, no = build.subgraph("yes"), build.subgraph("no")
    like = TensorDesc.make("float32", WIDE)
    same = like.replace(reuse_input=1) if what == "read before" else like
    node = build.node(
        "If",
        predicate,
        argument,
        name="if0",
        outputs=[same, like],
        subgraphs={"then_branch": yes, "else_branch": no},
    )
    inside = yes.data("a", WIDE, index=1)
    made = yes.op("Relu", inside, name="made")
    also = yes.op("Relu", inside, name="also")
    constant = yes.const("k", bytes(256), WIDE)
    first = {"passed through": inside, "a constant": constant}.get(what, made)
    yes.net_output(first, made if what == "given twice" else also)
    empty = [no.op("Gen", name=name, shape=WIDE) for name in ("n0", "n1")]
    no.net_output(*empty)
    build.net_output(*node.outputs)
    planned = plan_graph(build)
    result = {"passed through": "a:0", "a constant": "k:0"}.get(what, "made:0")
    unlike = "if0:1" if what == "given twice" else "if0:0"
    one, other = planned.at(result), planned.at(unlike)
    assert (one.pool, one.offset) != (other.pool, other.offset)


def test_loop_slots_are_in_use_for_the_whole_loop(plan_graph) -> None:
    """Nothing in the body lies on a slot, although nobody reads the loop's output."""
    build = GraphBuilder()
    counter = build.op("Gen", name="counter", shape=NARROW)
    value = build.op("Gen", name="value", shape=WIDE)
    _, body = loop(build, counter, value)
    c, v = body.data("c", NARROW, index=0), body.data("v", WIDE, index=1)
    more = body.op("Relu", c, name="more")
    t = body.op("Relu", v, name="t")
    body.net_output(more, body.op("Relu", t, name="u"))
    build.op("Gen", name="post", shape=NARROW)
    planned = plan_graph(build)
    assert not planned.may("t:0", "loop:0") and not planned.may("less:0", "loop:1")
    assert planned.may("post:0", "loop:0")
    assert planned.offset("c:0") == planned.offset("loop:0") == planned.offset("counter:0")


def test_what_a_body_reads_from_outside_stays_until_the_loop_ends(plan_graph) -> None:
    """The next turn reads it again."""
    build = GraphBuilder(source="onnx")
    outside = build.op("Gen", name="outside", shape=WIDE)
    start = build.op("Gen", name="start", shape=WIDE)
    body = build.subgraph("body")
    trips = build.const("trips", bytes(8), (), "int64")
    node = build.node(
        "Loop",
        trips,
        None,
        start,
        outside,
        name="loop",
        outputs=[start.desc],
        attrs={"captured": 1},
        subgraphs={"body": body},
    )
    body.data("i", (), "int64", index=0)
    going = body.data("going", (), "bool", index=1)
    state = body.data("state", WIDE, index=2)
    seen = body.data("seen", WIDE, index=3)
    first = body.op("Add", state, seen, name="first")
    last = body.op("Relu", first, name="last")
    body.net_output(going, last)
    build.net_output(node.outputs[0])
    planned = plan_graph(build)
    assert planned.offset("seen:0") == planned.offset("outside:0")
    assert not planned.may("outside:0", "last:0")
    assert planned.offset("state:0") == planned.offset("loop:0")
    assert planned.at("i:0").pool == "HBM" and not planned.may("i:0", "outside:0")


def test_the_next_value_takes_the_slot_when_the_old_one_is_done(plan_graph) -> None:
    """Where nothing reads the slot behind the write, nothing is copied at the turn's end."""
    build = GraphBuilder()
    _, body = loop(build, build.op("Gen", name="start", shape=WIDE))
    old = body.data("old", WIDE, index=0)
    middle = body.op("Relu", old, name="middle")
    body.net_output(body.op("Relu", middle, name="next"))
    planned = plan_graph(build)
    assert planned.offset("next:0") == planned.offset("loop:0")


def test_the_next_value_keeps_off_a_slot_that_is_still_read(plan_graph) -> None:
    """Its own producer reads the old value, so that both must be there."""
    build = GraphBuilder()
    _, body = loop(build, build.op("Gen", name="start", shape=WIDE))
    old = body.data("old", WIDE, index=0)
    body.net_output(body.op("Relu", old, name="next"))
    planned = plan_graph(build)
    assert not planned.share("next:0", "loop:0")


def test_exchanged_slots_are_copied(plan_graph) -> None:
    """Two values that change places in a turn have two slots and lie in neither's result."""
    build = GraphBuilder()
    pair = [build.op("Gen", name=name, shape=WIDE) for name in ("a", "b")]
    _, body = loop(build, *pair)
    x, y = body.data("x", WIDE, index=0), body.data("y", WIDE, index=1)
    body.net_output(y, body.op("Relu", x, name="made"))
    planned = plan_graph(build)
    assert not planned.share("loop:0", "loop:1")
    assert not planned.share("made:0", "loop:1")


@pytest.mark.parametrize("who", ["constant", "input", "read later", "given twice"])
def test_initial_values_that_others_need_are_copied_in(plan_graph, who: str) -> None:
    """A loop must not destroy what is the caller's, constant, or read behind its start."""
    build = GraphBuilder()
    sources = {
        "constant": lambda: build.const("start", bytes(256), WIDE),
        "input": lambda: build.data("start", WIDE),
    }
    start = sources.get(who, lambda: build.op("Gen", name="start", shape=WIDE))()
    _, body = loop(build, start, *([start] if who == "given twice" else []))
    old = body.data("old", WIDE, index=0)
    results = [body.op("Relu", body.op("Relu", old, name="m"), name="next")]
    if who == "given twice":
        results.append(body.op("Gen", name="other", shape=WIDE))
    body.net_output(*results)
    if who == "read later":
        build.op("Relu", start, name="later")
    planned = plan_graph(build)
    slots = [planned.at("loop:0")] + ([planned.at("loop:1")] if who == "given twice" else [])
    first = planned.at("start:0")
    together = [(s.pool, s.offset) == (first.pool, first.offset) for s in slots]
    assert together == ([True, False] if who == "given twice" else [False])


def test_nested_calls_are_bounded_by_work(ops: OpRegistry) -> None:
    """A file of calls that double at each depth is an error, not an endless run."""
    build = GraphBuilder()
    inner = build.subgraph("g0")
    inner.net_output(inner.op("Relu", inner.data("x0"), name="r0"))
    for depth in range(1, 24):
        outer = build.subgraph(f"g{depth}")
        value = outer.data(f"x{depth}")
        for name in (f"a{depth}", f"b{depth}"):
            value = outer.op("PartitionedCall", value, name=name, subgraphs={"f": inner})
        outer.net_output(value)
        inner = outer
    build.op("PartitionedCall", build.data("x"), name="top", subgraphs={"f": inner})
    with pytest.raises(LimitExceeded, match="more than 10000 node instances"):
        build_problem(build.graph, ops, GENERIC, limit=10_000)
