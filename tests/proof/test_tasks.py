"""Task lists: what they must say, and that they and bare graphs are read alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ge_core.ir import Graph, GraphBuilder, TensorDesc, clone
from ge_core.memory import Plan
from ge_core.ops import OpRegistry
from ge_core.proof import ProofResult, verify_compile
from ge_core.tasks import Task, TaskList, generate_tasks

Planned = Callable[..., Plan]


@pytest.fixture
def graph() -> Graph:
    """A call between two nodes, with scratch."""
    build = GraphBuilder()
    a = build.op("Mul", build.data("x"), name="a", attrs={"workspace_bytes": [32]})
    sub = build.subgraph("f")
    sub.net_output(sub.op("Relu", sub.data("f/x", index=0), name="f/y"))
    call = build.op("PartitionedCall", a, name="call", subgraphs={"f": sub})
    build.net_output(build.op("Mul", call, name="b"))
    return build.graph


def judged(
    graph: Graph, ops: OpRegistry, planned: Planned, edit: Callable[[list[Task]], list[Task]]
) -> list[tuple[str, str]]:
    """(check, node) of the violations with an edited task list."""
    plan = planned(graph)
    tasks = edit(generate_tasks(graph, ops, plan).tasks)
    result: ProofResult = verify_compile(graph, clone(graph), plan, TaskList(tasks), ops=ops)
    return [(violation.check, violation.node) for violation in result.violations]


def without(name: str) -> Callable[[list[Task]], list[Task]]:
    """Drops the tasks of a node."""
    return lambda tasks: [task for task in tasks if task.node != name]


def moved(task: Task, what: str, by: int) -> Task:
    """A task with the first region of a kind somewhere else."""
    first, *rest = getattr(task, what)
    edited = replace(task)
    setattr(edited, what, (replace(first, offset=first.offset + by), *rest))
    return edited


def test_the_generated_list_holds(graph: Graph, ops: OpRegistry, planned: Planned) -> None:
    """The task list that the kernel makes is what the proof expects."""
    assert judged(graph, ops, planned, lambda tasks: tasks) == []


def test_a_task_that_is_missing_leaves_its_output_unwritten(
    graph: Graph, ops: OpRegistry, planned: Planned
) -> None:
    """Without its task a node has not run."""
    for name, reader in (("a", "call/f/y"), ("f/y", "b"), ("b", "NetOutput")):
        found = judged(graph, ops, planned, without(name))
        assert found == [("reads", reader)]


@pytest.mark.parametrize("what", ["inputs", "outputs", "workspace"])
def test_regions_must_be_the_plans(
    graph: Graph, ops: OpRegistry, planned: Planned, what: str
) -> None:
    """A task that touches other bytes than the plan says is found."""
    found = judged(
        graph,
        ops,
        planned,
        lambda tasks: [moved(t, what, 64) if t.node == "a" else t for t in tasks],
    )
    assert found == [("layout", "a")]


def test_a_region_for_nothing_is_found(graph: Graph, ops: OpRegistry, planned: Planned) -> None:
    """Regions are as many as the node has anchors."""
    found = judged(
        graph,
        ops,
        planned,
        lambda tasks: [replace(t, inputs=()) if t.node == "a" else t for t in tasks],
    )
    assert found == [("layout", "a")]


def test_a_task_of_a_stranger_is_found(graph: Graph, ops: OpRegistry, planned: Planned) -> None:
    """Tasks name nodes of the graph, on a call path that is being run."""
    stranger = Task(99, 0, "kernel", (), "nobody")
    assert judged(graph, ops, planned, lambda tasks: [*tasks, stranger]) == [("layout", "nobody")]
    found = judged(
        graph,
        ops,
        planned,
        lambda tasks: sorted(tasks, key=lambda task: not task.call),
    )
    assert ("layout", "call/f/y") in found
    data = Task(99, 0, "kernel", (), "x")
    assert judged(graph, ops, planned, lambda tasks: [*tasks, data]) == [("layout", "x")]


def test_tasks_in_another_order_run_in_that_order(
    graph: Graph, ops: OpRegistry, planned: Planned
) -> None:
    """A list that launches a reader before its producer is found."""
    found = judged(
        graph,
        ops,
        planned,
        lambda tasks: sorted(tasks, key=lambda task: (task.node == "a", task.id)),
    )
    assert found == [("reads", "call/f/y")]


def test_the_tasks_of_a_call_stand_behind_it(ops: OpRegistry, planned: Planned) -> None:
    """Arms, nested calls and empty subgraphs are read from the list as from the graph."""
    build = GraphBuilder()
    x = build.data("x")
    test = build.op("Less", x, name="test", outputs=[TensorDesc.make("bool", ())])
    leaf = build.subgraph("leaf")
    leaf.net_output(
        leaf.op("Mul", leaf.data("leaf/x", index=0), name="leaf/y", attrs={"stream_id": 1})
    )
    arms = {}
    for label in ("then_branch", "else_branch"):
        arm = build.subgraph(label)
        value = arm.data(f"{label}/x", index=1)
        if label == "then_branch":
            value = arm.op("PartitionedCall", value, name="inner", subgraphs={"f": leaf})
        arm.net_output(value)
        arms[label] = arm
    branch = build.op("If", test, x, name="branch", outputs=[x.desc], subgraphs=arms)
    build.net_output(build.op("Relu", branch, name="reader", attrs={"stream_id": 2}))
    assert judged(build.graph, ops, planned, lambda tasks: tasks) == []
    found = judged(
        build.graph,
        ops,
        planned,
        lambda tasks: [task for task in tasks if task.node != "leaf/y"],
    )
    assert found[0] == ("reads", "branch/then_branch/NetOutput")
