"""Other orders of the same tasks: what streams and events allow, and what they don't."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import Graph, GraphBuilder, Task, TaskList, TensorDesc, generate_tasks
from ge_core.testing import GraphKnobs, disjoint_plan, random_graph
from ge_runtime.compare import bit_exact
from ge_runtime.defaults import default_ops
from ge_runtime.linear import execute_linearisation, random_linearisations
from ge_runtime.reference import run_reference
from ge_runtime.sources import make_feeds

OPS = default_ops()


def _tasks(graph: Graph) -> TaskList:
    return generate_tasks(graph, OPS, disjoint_plan(graph, OPS))


def _run(graph: Graph, order: list[int], **feeds: Any) -> dict[str, Any]:
    plan = disjoint_plan(graph, OPS)
    tasks = generate_tasks(graph, OPS, plan)
    return execute_linearisation(graph, plan, tasks, order, feeds).outputs


@given(seed=st.integers(0, 5000), streams=st.integers(2, 4))
def test_every_order_respects_streams_and_events(seed: int, streams: int) -> None:
    """All tasks once, those of a stream in list order, no wait before what it waits for."""
    tasks = _tasks(random_graph(seed, GraphKnobs(streams=streams, nodes=8))).tasks
    for order in random_linearisations(TaskList(tasks), random.Random(seed), 4):
        assert list(range(len(tasks))) == sorted(order)
        place = {task: at for at, task in enumerate(order)}
        recorded = {task.event: task.id for task in tasks if task.kind == "event_record"}
        last: dict[int, Task] = {}
        for task in tasks:
            if task.stream in last:
                assert place[last[task.stream].id] < place[task.id]
            last[task.stream] = task
            if task.kind == "event_wait":
                assert place[recorded[task.event]] < place[task.id]


def test_one_stream_has_one_order() -> None:
    """Asking for more gives no repetitions."""
    tasks = _tasks(random_graph(1, GraphKnobs(streams=1)))
    orders = list(random_linearisations(tasks, random.Random(0), 5))
    assert [list(range(len(tasks.tasks)))] == orders


def test_waits_that_nobody_ends_block_nothing() -> None:
    """Lists with a missing record, or waits in a circle, still give orders of all tasks."""
    lost = TaskList([Task(0, 0, "event_wait", (), "a", event=1), Task(1, 1, "kernel", (), "b")])
    circle = TaskList(
        [
            Task(0, 0, "event_wait", (), "a", event=1),
            Task(1, 0, "event_record", (), "a", event=2),
            Task(2, 1, "event_wait", (), "b", event=2),
            Task(3, 1, "event_record", (), "b", event=1),
        ]
    )
    for tasks in (lost, circle):
        for order in random_linearisations(tasks, random.Random(0), 4):
            assert list(range(len(tasks.tasks))) == sorted(order)


def test_a_missing_order_shows() -> None:
    """Two streams that share bytes without an edge: the orders do not agree, as they should not."""
    build = GraphBuilder()
    x = build.data("x", (4,))
    own = build.op("TensorMove", x, name="own", attrs={"stream_id": 0})
    read = build.op("Relu", own, name="read", attrs={"stream_id": 1})
    store = build.op("Assign", own, x, name="store", attrs={"stream_id": 0}, reuse_input=0)
    change = build.op("Foo", store, name="change", attrs={"stream_id": 0})
    again = build.op("Assign", own, change, name="again", attrs={"stream_id": 0}, reuse_input=0)
    build.net_output(read, again)
    tasks = _tasks(build.graph)
    value = np.arange(4, dtype=np.float32)
    seen = {
        tuple(_run(build.graph, order, x=value)["output_0"].tolist())
        for order in random_linearisations(tasks, random.Random(0), 12)
    }
    assert 1 < len(seen)
    build.graph.add_control(build.graph.node("read"), build.graph.node("store"))
    seen = {
        tuple(_run(build.graph, order, x=value)["output_0"].tolist())
        for order in random_linearisations(_tasks(build.graph), random.Random(0), 12)
    }
    assert {tuple(value.tolist())} == seen


def test_an_order_against_an_edge_reads_what_is_not_there() -> None:
    """A reader that runs before its producer reads poison: any order can be asked for."""
    build = GraphBuilder()
    x = build.data("x", (4,))
    a = build.op("Relu", x, name="a")
    build.net_output(build.op("Add", a, a, name="b"))
    value = np.ones(4, np.float32)
    assert [2.0] * 4 == _run(build.graph, [0, 1], x=value)["output_0"].tolist()
    assert [2.0] * 4 != _run(build.graph, [1, 0], x=value)["output_0"].tolist()


def _looping() -> Graph:
    """On stream 0 a loop of three turns that reads w; on stream 1 a store into w, unordered."""
    build = GraphBuilder()
    i, w = build.data("i", (), "int64"), build.data("w", (2,))
    own = build.op("TensorMove", w, name="own", attrs={"stream_id": 0})
    cond = build.subgraph("c")
    limit = cond.const("c/n", (3).to_bytes(8, "little"), (), "int64")
    turn = cond.data("c/i", (), "int64", index=0)
    cond.net_output(cond.op("Less", turn, limit, name="c/less", dtype="bool", shape=()))
    body = build.subgraph("b")
    one = body.const("b/one", (1).to_bytes(8, "little"), (), "int64")
    j, sum_, step = (
        body.data(f"b/{at}", s, t, index=at)
        for at, (s, t) in enumerate([((), "int64"), ((2,), "float32"), ((2,), "float32")])
    )
    body.net_output(
        body.op("Add", j, one, name="b/next"), body.op("Add", sum_, step, name="b/sum"), step
    )
    start = build.op("TensorMove", i, name="start", attrs={"stream_id": 0})
    zero = build.op("TensorMove", w, name="zero", attrs={"stream_id": 0})
    f32 = TensorDesc.make("float32", (2,))
    loop = build.node(
        "While",
        start,
        zero,
        own,
        name="loop",
        outputs=[start.desc, f32, f32],
        attrs={"stream_id": 0},
        subgraphs={"cond": cond, "body": body},
    )
    build.op("Relu", w, name="beside", attrs={"stream_id": 1})
    build.net_output(loop.outputs[1], build.graph.node("beside").outputs[0])
    return build.graph


def test_loops_run_all_their_turns_in_any_order() -> None:
    """The first turn runs where its tasks stand, the others behind it, whatever is between."""
    graph = _looping()
    feeds = {"i": np.int64(0), "w": np.array([1, 2], np.float32)}
    expected = run_reference(graph, feeds).outputs
    assert [4.0, 8.0] == expected["output_0"].tolist()
    for order in random_linearisations(_tasks(graph), random.Random(3), 8):
        found = _run(graph, order, **feeds)
        assert all(bit_exact(expected[name], found[name]) for name in expected)


def test_tasks_before_their_call_run_with_it() -> None:
    """A body listed before its call, against the order, runs when the call does, and completely."""
    graph = _looping()
    feeds = {"i": np.int64(0), "w": np.array([1, 2], np.float32)}
    tasks = _tasks(graph).tasks
    inside = [task.id for task in tasks if task.call]
    outside = [task.id for task in tasks if not task.call]
    expected = run_reference(graph, feeds).outputs["output_0"]
    found = _run(graph, [*inside, *outside], **feeds)["output_0"]
    assert expected.tolist() == found.tolist()


@given(seed=st.integers(0, 5000))
def test_arms_that_are_not_taken_are_skipped_in_any_order(seed: int) -> None:
    """Graphs with conditionals on several streams give the same in every order."""
    graph = random_graph(seed, GraphKnobs(streams=3, nodes=8, writers=False))
    feeds = make_feeds(graph, OPS)
    expected = run_reference(graph, feeds).outputs
    for order in random_linearisations(_tasks(graph), random.Random(seed), 3):
        found = _run(graph, order, **feeds)
        assert all(bit_exact(expected[name], found[name]) for name in expected)
