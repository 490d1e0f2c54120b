"""Inputs and outputs are the original's; ops with effects run once and in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.ir import Graph, GraphBuilder, clone
from ge_core.memory import Plan
from ge_core.ops import OpRegistry
from ge_core.proof import ProofResult, verify_compile
from ge_core.tasks import TaskList, generate_tasks

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]
Planned = Callable[..., Plan]


def named() -> Graph:
    """Two inputs, two outputs with names."""
    build = GraphBuilder()
    a = build.op("Mul", build.data("x"), name="a")
    b = build.op("Relu", build.data("y"), name="b")
    build.graph.add_node("NetOutput", "NetOutput", [a, b], input_names=("first", "second"))
    return build.graph


def test_the_same_interface_holds(found: Found) -> None:
    """A graph has its own interface."""
    assert found(named()) == []


def test_an_input_that_is_gone_is_found(found: Found) -> None:
    """Inputs that nobody reads are still inputs."""
    build = GraphBuilder()
    build.net_output(build.op("Mul", build.data("x"), name="a"))
    build.data("unused")
    original = clone(build.graph)
    build.graph.remove(build.graph.node("unused"))
    assert found(build.graph, original=original) == [("interface", "inputs")]


@pytest.mark.parametrize("change", ["shape", "dtype"])
def test_an_input_of_another_kind_is_found(found: Found, change: str) -> None:
    """Shape and dtype of an input are the caller's."""
    facts = {"shape": (16,)} if change == "shape" else {"dtype": "int32"}
    graph = named()
    data = graph.node("x").outputs[0]
    graph.set_desc(data, data.desc.replace(**facts))
    assert ("interface", "x") in found(graph, original=named())


def test_swapped_outputs_are_found(found: Found) -> None:
    """Outputs keep their order, and each delivers what it delivered."""
    graph = named()
    out = graph.node("NetOutput")
    a, b = (anchor.source for anchor in out.inputs)
    assert a is not None and b is not None
    graph.rewire(out.inputs[0], b)
    graph.rewire(out.inputs[1], a)
    assert found(graph, original=named()) == [("reads", "NetOutput")] * 2
    out.input_names = ("second", "first")
    assert found(graph, original=named())[:2] == [("interface", "second"), ("interface", "first")]


def test_a_graph_without_outputs_stays_one(found: Found) -> None:
    """A NetOutput may neither appear nor vanish."""
    build = GraphBuilder()
    build.op("Mul", build.data("x"), name="a")
    assert found(build.graph) == []
    original = clone(build.graph)
    build.net_output(build.graph.node("a").outputs[0])
    assert found(build.graph, original=original) == [("interface", "root")]


def test_outputs_share_bytes_only_where_they_did(found: Found) -> None:
    """One value twice is one memory; two values are two, even when they are equal."""
    build = GraphBuilder()
    a = build.op("Mul", build.data("x"), name="a")
    view = build.op("Reshape", a, name="view", shape=(16,), reuse_input=0)
    build.net_output(a, a, view)
    assert found(build.graph) == []
    build = GraphBuilder()
    x = build.data("x")
    build.net_output(build.op("Mul", x, name="a"), build.op("Mul", x, name="b"))
    assert found(build.graph, {"a:0": 64, "b:0": 64}) == [("interface", "NetOutput")]


def printing(order: str = "ab", streams: tuple[int, int] = (0, 0)) -> GraphBuilder:
    """Two prints."""
    build = GraphBuilder()
    x = build.data("x")
    for name in order:
        stream = streams["ab".index(name)]
        build.op("Print", x, name=name, attrs={"stream_id": stream})
    build.net_output(build.op("Mul", x, name="value"))
    return build


def test_effects_keep_their_order(found: Found) -> None:
    """Two ops with effects may not change places."""
    assert found(printing("ab").graph, original=printing("ab").graph) == []
    assert found(printing("ba").graph, original=printing("ab").graph) == [("effects", "b")]


def test_effects_happen_exactly_once(found: Found) -> None:
    """An effect that is gone, and one that a pass doubled, are found."""
    graph = printing().graph
    graph.remove(graph.node("a"))
    assert found(graph, original=printing().graph) == [("effects", "a")]
    graph = printing().graph
    x = graph.node("x").outputs[0]
    graph.add_node("Print", "again", [x], [x.desc], origin=("a",), before=graph.node("b"))
    assert found(graph, original=printing().graph) == [("effects", "a")]


def test_equal_effects_are_not_one(found: Found) -> None:
    """Two prints of one value are two prints."""
    build = GraphBuilder()
    x = build.data("x")
    one, two = (build.op("Print", x, name=name) for name in "ab")
    build.net_output(build.op("Add", one, two, name="sum"))
    original = clone(build.graph)
    graph = build.graph
    graph.rewire(graph.node("sum").inputs[1], graph.node("a").outputs[0])
    graph.remove(graph.node("b"))
    assert found(graph, original=original) == [("reads", "sum"), ("effects", "b")]


def test_effects_on_two_streams_need_an_order_where_they_had_one(found: Found) -> None:
    """Moving an effect to another stream needs an edge that keeps it in its place."""
    one, two = printing(streams=(0, 0)), printing(streams=(0, 1))
    assert found(two.graph, original=one.graph) == [("effects", "b")]
    assert found(two.graph, original=printing(streams=(0, 1)).graph) == []
    two.graph.add_control(two.graph.node("a"), two.graph.node("b"))
    assert found(two.graph, original=one.graph) == []


def test_effects_in_arms_are_told_apart(found: Found) -> None:
    """An effect belongs to its arm; in the other arm it would be another program."""

    def branching(labels: str) -> Graph:
        build = GraphBuilder()
        arms: dict[str, Any] = {}
        for label, name in zip(("then_branch", "else_branch"), labels, strict=True):
            arm = build.subgraph(label)
            value = arm.data(f"{label}/x", index=1)
            if name == "p":
                arm.op("Print", value, name="print")
            arm.net_output(arm.op("Mul", value, name=f"{label}/y"))
            arms[label] = arm
        test, x = build.data("t", (), "bool"), build.data("x")
        branch = build.op("If", test, x, name="branch", outputs=[x.desc], subgraphs=arms)
        build.net_output(branch)
        return build.graph

    assert found(branching("p-"), original=branching("p-")) == []
    assert found(branching("-p"), original=branching("p-")) == [("effects", "branch/print")] * 2


def test_a_task_that_runs_twice_is_found(ops: OpRegistry, planned: Planned) -> None:
    """Each node instance is launched once."""
    graph = printing().graph
    plan = planned(graph)
    tasks = generate_tasks(graph, ops, plan)
    again = TaskList([*tasks.tasks, tasks.tasks[0]])
    result = verify_compile(graph, clone(graph), plan, again, ops=ops)
    assert [(v.check, v.node) for v in result.violations] == [("effects", "a")]
