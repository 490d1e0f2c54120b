"""Binding a caller's buffers: every operand that lies in an input or output follows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, TaskList, TensorDesc, bindings, bound
from ge_core.memory import ARENA, Plan
from ge_core.proof import verify_compile
from ge_core.session.result import Result
from ge_core.testing import GraphKnobs, random_graph

ROWS = {count: TensorDesc.make("float32", (count, 16)) for count in (1, 2, 3)}


def joined() -> Graph:
    """Two operands of a join whose result goes out."""
    build = GraphBuilder()
    x = build.data("x", (1, 16))
    a, b = (build.op("Relu", x, name=name, outputs=[ROWS[1]]) for name in "ab")
    attrs = {"concat_dim": 0, "N": 2}
    build.net_output(build.op("ConcatD", a, b, name="cat", outputs=[ROWS[2]], attrs=attrs))
    return build.graph


def moved(result: Result, at: int) -> tuple[Plan, TaskList]:
    """The plan and tasks with one input or output in a buffer behind everything else."""
    assert result.tasks is not None
    which = bindings(result.plan, result.tasks)[at]
    total = result.plan.pools[ARENA].bytes
    offset = -(-total // 64) * 64
    plan = Plan.from_json(result.plan.to_json())
    for number, place in enumerate(plan.tensors):
        inside = which.offset <= place.offset and place.end <= which.offset + which.bytes
        if place.pool == which.pool and inside and place.bytes:
            delta = place.offset - which.offset
            plan.tensors[number] = replace(place, offset=offset + delta)
    grown = offset + -(-which.bytes // 64) * 64
    plan.pools[ARENA] = replace(plan.pools[ARENA], bytes=grown)
    return plan, bound(result.tasks, which, ARENA, offset)


def violations(result: Result, plan: Plan, tasks: TaskList) -> tuple[object, ...]:
    """What the proof says of another plan and its tasks."""
    assert result.kernel is not None
    ops = result.kernel.ops
    proof = verify_compile(
        result.original, result.graph, plan, tasks, ops=ops, options=plan.options
    )
    return proof.violations


def test_operands_of_a_join_without_a_task_follow_the_output() -> None:
    """Who writes them is patched, each at its distance; the join itself has no task."""
    result = ge.compile(joined(), level="O3")
    assert result.tasks is not None
    (out,) = [b for b in bindings(result.plan, result.tasks) if b.io == "output"]
    names = {task.id: task.node for task in result.tasks.tasks}
    assert [("a", "outputs", 0), ("b", "outputs", 64)] == [
        (names[use.task], use.side, use.delta) for use in out.uses
    ]


@pytest.mark.parametrize("at", [0, 1])
def test_bound_elsewhere_it_is_still_proved(at: int) -> None:
    """Input and output each get a buffer of the caller's."""
    result = ge.compile(joined(), level="O3")
    plan, tasks = moved(result, at)
    assert () == violations(result, plan, tasks)


def test_an_operand_that_does_not_follow_is_found() -> None:
    """The proof of the test above would notice."""
    result = ge.compile(joined(), level="O3")
    plan, _ = moved(result, 1)
    assert result.tasks is not None
    assert violations(result, plan, result.tasks)


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_bound_elsewhere_are_proved(seed: int, level: str) -> None:
    """Every input and output in turn, views and pieces of them included."""
    graph = random_graph(seed, GraphKnobs(nodes=12, writers=False))
    result = ge.compile(graph, level=level)
    assert result.tasks is not None
    for at, which in enumerate(bindings(result.plan, result.tasks)):
        if which.pool != ARENA or _is_shared(result, which.offset, which.bytes, which.node):
            continue
        plan, tasks = moved(result, at)
        assert () == violations(result, plan, tasks), which


def _is_shared(result: Result, offset: int, size: int, node: str) -> bool:
    """Whether another input or output has bytes there too: then both would have to move."""
    return any(
        place.io in ("input", "output")
        and place.node != node
        and place.offset < offset + size
        and offset < place.end
        for place in result.plan.tensors
    )
