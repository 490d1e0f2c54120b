"""Outputs in the place of inputs."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.ir import GraphBuilder
from ge_core.ops import OpRegistry, OpTraits, register_builtin_ops

OFFER: dict[str, Any] = {"_output_inplace_ability": [[0, 0]]}


def test_the_last_reader_works_in_place(plan_graph) -> None:
    """Its output lies exactly where its input lies."""
    build = GraphBuilder()
    a = build.op("Gen", name="a", shape=(64,))
    build.op("Relu", build.op("Relu", a, name="b", attrs=OFFER), name="c")
    planned = plan_graph(build)
    assert planned.offset("a:0") == planned.offset("b:0")
    assert planned.plan.find("b:0").alias_of == "a:0"


@pytest.mark.parametrize(
    "why",
    ["read later", "view read later", "input", "weight", "twice", "wider", "laid out", "loop"],
)
def test_offers_that_would_do_harm_are_passed_over(plan_graph, why: str) -> None:
    """The output gets bytes of its own."""
    build = GraphBuilder()
    attrs = {**OFFER, "continuous_output": True} if why == "laid out" else OFFER
    a = (
        build.data("a", (64,))
        if why == "input"
        else build.const("a", bytes(256), (64,))
        if why == "weight"
        else build.op("Gen", name="a", shape=(64,))
    )
    if why == "loop":
        cond, body = build.subgraph("cond"), build.subgraph("body")
        cond.net_output(cond.op("Less", cond.data("s", (64,), index=0), shape=(1,), dtype="bool"))
        body.data("x", (64,), index=0)
        # What is passed in unchanged is needed again in the next turn.
        made = body.op("Add", body.data("seen", (64,), index=1), name="b", attrs=OFFER)
        body.net_output(body.op("Relu", made, name="next"))
        start = build.op("Gen", name="start", shape=(64,))
        build.node(
            "While", start, a, name="w", outputs=[a.desc], subgraphs={"cond": cond, "body": body}
        )
    else:
        view = build.op("Reshape", a, name="view", reuse_input=0)
        feeds = (a, a) if why == "twice" else (a,)
        shape = (128,) if why == "wider" else (64,)
        b = build.op("Foo", *feeds, name="b", shape=shape, attrs=attrs)
        late = {"read later": a, "view read later": view}.get(why)
        build.op("Foo", *([b] if late is None else [b, late]), name="c", shape=(64,))
    planned = plan_graph(build)
    assert (planned.at("a:0").pool, planned.offset("a:0")) != (
        planned.at("b:0").pool,
        planned.offset("b:0"),
    )


def test_a_second_choice_is_taken(plan_graph) -> None:
    """The first offered input is the caller's, the second may go."""
    build = GraphBuilder()
    x = build.data("x", (64,))
    a = build.op("Relu", x, name="a")
    attrs = {"_output_inplace_ability": [[0, 0], [0, 1]]}
    build.op("Relu", build.op("Add", x, a, name="b", attrs=attrs), name="c")
    planned = plan_graph(build)
    assert planned.offset("b:0") == planned.offset("a:0") != planned.offset("x:0")


def test_traits_offer_only_when_asked(plan_graph) -> None:
    """What ops can do is used with `ge.memory.inplace`, as it is not GE's own rule."""
    registry = OpRegistry()
    register_builtin_ops(registry)
    registry.add(OpTraits("Acme", inplace=((0, 0),)))
    build = GraphBuilder()
    build.op("Acme", build.op("Gen", name="a", shape=(64,)), name="b")
    assert not plan_graph(build, registry=registry).share("a:0", "b:0")
    asked = plan_graph(build, {"ge.memory.inplace": "1"}, registry=registry)
    assert asked.offset("a:0") == asked.offset("b:0")


def updates(*, steps: int = 2, late_reader: str = "", result: str = "") -> GraphBuilder:
    """A graph input, updated step by step, comes back as output 0."""
    build = GraphBuilder()
    past = build.data("past", (64,))
    at = past
    for step in range(steps):
        at = build.op("Update", at, name=f"u{step}")
    results = [build.op("Reshape", at, name="present", reuse_input=0)]
    if late_reader:
        source = past if late_reader == "past" else build.graph.node(late_reader).outputs[0]
        results.append(build.op("Gen", source, name="late"))
    if result:
        results.append(build.graph.node(result).outputs[0])
    build.net_output(*results)
    return build


@pytest.fixture
def updating() -> OpRegistry:
    """GE's ops, and one that can update its input in place."""
    registry = OpRegistry()
    register_builtin_ops(registry)
    registry.add(OpTraits("Update", inplace=((0, 0),)))
    return registry


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_an_input_that_comes_back_is_updated_in_place(plan_graph, updating, steps: int) -> None:
    """Where the caller declares one address for both, no update makes a new buffer."""
    options = {"ge.exec.outputReuseInputMemIndexes": "0,0"}
    planned = plan_graph(updates(steps=steps), options, registry=updating)
    places = {
        (planned.at(f"u{step}:0").pool, planned.offset(f"u{step}:0")) for step in range(steps)
    }
    assert {(planned.at("past:0").pool, planned.offset("past:0"))} == places


@pytest.mark.parametrize(
    ("late_reader", "result", "pairs"),
    [
        ("", "", "0,1"),
        ("", "", ""),
        ("past", "", "0,0"),
        ("u0", "", "0,0"),
        ("", "past", "0,0|0,1"),
        ("", "u0", "0,0"),
    ],
    ids=["other output", "undeclared", "old value", "between", "old result", "middle result"],
)
def test_an_input_is_updated_in_place_by_all_ops_or_none(
    plan_graph, updating, late_reader: str, result: str, pairs: str
) -> None:
    """Who reads an older value later, and a result that nobody declared, keep all of them apart."""
    build = updates(late_reader=late_reader, result=result)
    options = {"ge.exec.outputReuseInputMemIndexes": pairs} if pairs else {}
    planned = plan_graph(build, options, registry=updating)
    assert not planned.share("past:0", "u0:0")
    assert not planned.share("u0:0", "u1:0")
