"""Calls and conditionals: which arm runs, what is shared, what is copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ge_core.api import GraphBuilder, Kernels, OpRegistry, generate_tasks
from ge_core.testing import disjoint_plan
from ge_runtime.executor import NumpyExecutor
from ge_runtime.steps import truth

X = np.array([-1, 2, 3], np.float32)


def _if(*, listed: tuple[str, ...] = ("then_branch", "else_branch")) -> GraphBuilder:
    """If: twice the input, else the input itself."""
    build = GraphBuilder(source="onnx")
    cond, x = build.data("cond", (), "bool"), build.data("x", (3,))
    arms = {}
    for label in listed:
        arm = build.subgraph(label)
        value = arm.data(f"{label}/x", (3,), index=1)
        arm.net_output(arm.op("Add", value, value) if label == "then_branch" else value)
        arms[label] = arm
    choice = build.op("If", cond, x, name="if", subgraphs=arms, shape=(3,), dtype="float32")
    build.net_output(choice, x)
    return build


@pytest.mark.parametrize(("cond", "expected"), [(True, 2 * X), (False, X)])
@pytest.mark.parametrize("listed", [("then_branch", "else_branch"), ("else_branch", "then_branch")])
def test_if_runs_one_arm(check: Any, cond: bool, expected: Any, listed: tuple[str, ...]) -> None:
    """The arm is chosen by its label, in whatever order the arms are listed."""
    found = check(_if(listed=listed).graph, {"cond": np.bool_(cond), "x": X})
    assert expected.tolist() == found.outputs["output_0"].tolist()


def test_an_arms_result_is_copied_unless_it_lies_in_place(
    ops: OpRegistry, kernels: Kernels
) -> None:
    """One boundary copy of the tensor's bytes, counted apart and in total; none if in place."""
    graph = _if().graph
    plan = disjoint_plan(graph, ops)
    feeds = {"cond": np.bool_(True), "x": X}
    tasks = generate_tasks(graph, ops, plan)
    found = NumpyExecutor(ops, kernels).run(graph, plan, tasks, feeds)
    assert (1, 12) == (found.boundary_copies, found.boundary_copy_bytes)
    assert (1, 12) == (found.executed_copies, found.executed_copy_bytes)
    result = graph.subgraphs["then_branch"].net_output
    assert result is not None and result.inputs[0].source is not None
    inner = plan.at(("if",), result.inputs[0].source.node.name, 0)
    outer = plan.at((), "if", 0)
    assert inner is not None and outer is not None
    # The arm's result now lies where the If's output is.
    place = plan.tensors.index(inner)
    moved = disjoint_plan(graph, ops)
    moved.tensors[place] = type(inner)(
        inner.call, inner.node, inner.output, outer.pool, outer.offset, inner.bytes, life=inner.life
    )
    tasks = generate_tasks(graph, ops, moved)
    again = NumpyExecutor(ops, kernels).run(graph, moved, tasks, feeds)
    assert (2 * X).tolist() == again.outputs["output_0"].tolist()
    assert 0 == again.executed_copies


@pytest.mark.parametrize(("index", "expected"), [(0, 2), (1, 3), (2, 4), (7, 4), (-1, 4)])
def test_case_takes_the_last_arm_for_an_index_beyond_them(
    check: Any, index: int, expected: int
) -> None:
    """Arms count in listing order."""
    build = GraphBuilder()
    number, x = build.data("n", (), "int32"), build.data("x", (3,))
    arms = {}
    for at in range(3):
        arm = build.subgraph(f"g{at}")
        value = arm.data(f"g{at}/x", (3,), index=1)
        arm.net_output(arm.op("AddN", *[value] * (at + 2)))
        arms[f"b{at}"] = arm
    case = build.op("Case", number, x, subgraphs=arms, shape=(3,), dtype="float32")
    build.net_output(case)
    found = check(build.graph, {"n": np.int32(index), "x": X})
    assert (expected * X).tolist() == found.outputs["output_0"].tolist()


def test_calls_share_memory_both_ways(check: Any, ops: OpRegistry, kernels: Kernels) -> None:
    """A store into what a call hands through is seen outside; a shared graph runs per call."""
    build = GraphBuilder()
    x = build.data("x", (3,))
    body = build.subgraph("g")
    inner = body.data("g/x", (3,))
    body.net_output(body.op("Assign", inner, body.op("Add", inner, inner), reuse_input=0))
    own = build.op("TensorMove", x, name="own")
    first = build.op("PartitionedCall", own, name="first", subgraphs={"f": body})
    second = build.op("PartitionedCall", first, name="second", subgraphs={"f": body})
    build.net_output(build.op("Add", second, own))
    found = check(build.graph, {"x": X})
    assert (8 * X).tolist() == found.outputs["output_0"].tolist()


def test_calls_nest_deeper_than_pythons_stack(ops: OpRegistry, kernels: Kernels) -> None:
    """Fifteen hundred calls inside one another run, planned or not."""
    build = GraphBuilder()
    below = build.subgraph("g0")
    below.net_output(below.op("Relu", below.data("g0/x", (3,)), name="g0/relu"))
    for level in range(1, 1500):
        here = build.subgraph(f"g{level}")
        value = here.data(f"g{level}/x", (3,))
        here.net_output(
            here.op("PartitionedCall", value, name=f"g{level}/call", subgraphs={"f": below})
        )
        below = here
    call = build.op("PartitionedCall", build.data("x", (3,)), name="call", subgraphs={"f": below})
    build.net_output(call)
    from ge_core.api import Plan

    tasks = generate_tasks(build.graph, ops, Plan())
    found = NumpyExecutor(ops, kernels).run(build.graph, Plan(), tasks, {"x": X})
    assert [0, 2, 3] == found.outputs["output_0"].tolist()


@pytest.mark.parametrize(
    ("value", "expected"),
    [(np.bool_(True), True), (np.zeros((), np.float32), False), (np.array([2]), True)],
)
def test_one_element_is_a_plain_predicate(value: Any, expected: bool) -> None:
    """Zero is false, anything else true."""
    assert expected == truth(value)


def test_a_tensor_as_predicate_can_be_either() -> None:
    """GE's graphs hand whole tensors to If: their bytes decide, so that both arms happen."""
    found = {truth(np.full(16, at, np.float32)) for at in range(8)}
    assert {True, False} == found
