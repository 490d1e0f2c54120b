"""Events: what orders the tasks of different streams, and nothing more than has to be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.tasks import Task, TaskList, generate_tasks
from ge_core.testing import GraphKnobs, disjoint_plan, random_graph


def _ops() -> OpRegistry:
    registry = OpRegistry()
    register_builtin_ops(registry)
    return registry


OPS = _ops()


def _tasks(graph: Graph) -> TaskList:
    return generate_tasks(graph, OPS, disjoint_plan(graph, OPS))


def _relu(build: GraphBuilder, name: str, stream: int, *inputs: Any, **more: Any) -> OutputAnchor:
    attrs = {"stream_id": stream, **more.pop("attrs", {})}
    return build.op("Relu", *inputs, name=name, attrs=attrs, **more)


def _events(tasks: TaskList) -> list[tuple[str, str]]:
    """(producer, reader) of every event, by number."""
    ends: dict[int, list[str]] = {}
    for task in tasks.tasks:
        if task.event is not None:
            ends.setdefault(task.event, []).append(task.node)
    return [(pair[0], pair[1]) for _, pair in sorted(ends.items())]


def test_an_edge_between_streams_has_one_event() -> None:
    """Recorded behind the producer on its stream, awaited before the reader on its own."""
    build = GraphBuilder()
    a = _relu(build, "a", 0, build.data("x"))
    b = build.op("Add", a, a, name="b", attrs={"stream_id": 1})
    build.net_output(b)
    expected = [
        ("kernel", 0, "a", None),
        ("event_record", 0, "a", 0),
        ("event_wait", 1, "b", 0),
        ("kernel", 1, "b", None),
    ]
    found = [(task.kind, task.stream, task.node, task.event) for task in _tasks(build.graph).tasks]
    assert expected == found


def test_control_edges_count_and_one_stream_needs_none() -> None:
    """A control edge between streams is an event; edges within a stream are its order."""
    build = GraphBuilder()
    x = build.data("x")
    a = _relu(build, "a", 0, x)
    b = _relu(build, "b", 0, a)
    c = _relu(build, "c", 1, x, control=[b])
    build.net_output(b, c)
    assert [("b", "c")] == _events(_tasks(build.graph))


def test_edges_through_nodes_without_a_task_are_lifted() -> None:
    """Task-free joins, views and NoOp hand on what they wait for; a Data carries no order."""
    build = GraphBuilder()
    x = build.data("x")
    a = _relu(build, "a", 0, x)
    b = _relu(build, "b", 1, x)
    join = build.op("ConcatD", a, b, name="join", attrs={"_no_task": True}, shape=(2, 16))
    view = build.op("Reshape", join, name="view", shape=(32,), reuse_input=0)
    c = _relu(build, "c", 2, view)
    wait = build.node("NoOp", name="wait", outputs=[], control=[c])
    d = _relu(build, "d", 0, x, control=[wait])
    build.graph.add_control(d.node, build.graph.add_node("Data", "late", outputs=[x.desc]))
    late = build.graph.node("late")
    e = _relu(build, "e", 1, late.outputs[0])
    build.net_output(d, e)
    assert [("a", "c"), ("b", "c"), ("c", "d")] == _events(_tasks(build.graph))


def test_a_fan_through_a_barrier_stays_linear() -> None:
    """Of many nodes of one stream in front of a NoOp the last one stands for all."""
    build = GraphBuilder()
    x = build.data("x")
    before = [_relu(build, f"a{at}", 0, x) for at in range(50)]
    wait = build.node("NoOp", name="wait", outputs=[], control=before)
    after = [_relu(build, f"b{at}", 1, x, control=[wait]) for at in range(50)]
    build.net_output(*after)
    assert [("a49", f"b{at}") for at in range(50)] == _events(_tasks(build.graph))


def test_a_call_waits_for_all_that_runs_inside() -> None:
    """Streams of a body start behind the call and end before what follows it."""
    build = GraphBuilder()
    x = build.data("x")
    body = build.subgraph("g")
    inner = _relu(body, "g/inner", 1, body.data("g/x"))
    body.net_output(inner)
    call = build.op(
        "PartitionedCall", x, name="call", subgraphs={"f": body}, attrs={"stream_id": 0}
    )
    after = _relu(build, "after", 2, call)
    build.net_output(after)
    tasks = _tasks(build.graph)
    found = [(task.kind, task.stream, task.node, task.event) for task in tasks.tasks]
    expected = [
        ("call", 0, "call", None),
        ("event_record", 0, "call", 0),
        ("event_wait", 1, "call", 0),
        ("kernel", 1, "g/inner", None),
        ("event_record", 1, "call", 1),
        ("event_wait", 0, "call", 1),
        ("event_record", 0, "call", 2),
        ("event_wait", 2, "after", 2),
        ("kernel", 2, "after", None),
    ]
    assert expected == found


def _guaranteed(tasks: list[Task]) -> list[int]:
    """Per task the bit set of tasks that streams and events put before it: brute force."""
    before = [0] * len(tasks)
    last: dict[int, int] = {}
    recorded: dict[int | None, int] = {}
    for at, task in enumerate(tasks):
        sources = [last[task.stream]] if task.stream in last else []
        if task.kind == "event_wait":
            sources.append(recorded[task.event])
        for source in sources:
            before[at] |= before[source] | 1 << source
        if task.kind == "event_record":
            recorded[task.event] = at
        last[task.stream] = at
    return before


def _waits_for(node: Node, launched: set[str]) -> set[str]:
    """The launched nodes that an edge leads from, through those without a task but no Data."""
    found: set[str] = set()
    for earlier in (*node.in_nodes, *node.control_inputs):
        if earlier.name in launched:
            found.add(earlier.name)
        elif OPS.kind(earlier) != "data":
            found |= _waits_for(earlier, launched)
    return found


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), streams=st.integers(2, 4))
def test_streams_and_events_imply_every_edge(seed: int, streams: int) -> None:
    """Whatever a node waits for has finished before it starts, calls with all that is inside."""
    graph = random_graph(seed, GraphKnobs(streams=streams, nodes=10))
    tasks = _tasks(graph).tasks
    before = _guaranteed(tasks)
    place = {(task.call, task.node): task.id for task in tasks if not task.is_event}
    launched = {task.node for task in tasks}
    for task in tasks:
        if task.is_event:
            continue
        node = graph.node(task.node)
        for name in sorted(_waits_for(node, launched)):
            inside = [
                at
                for (call, _), at in place.items()
                if call[: len(task.call) + 1] == (*task.call, name)
            ]
            for at in (place[task.call, name], *inside):
                assert before[task.id] >> at & 1, (task, tasks[at])
        if task.call:
            assert before[task.id] >> place[task.call[:-1], task.call[-1]] & 1


@pytest.mark.parametrize("seed", range(5))
def test_the_same_graph_gives_the_same_list(seed: int) -> None:
    """Nothing depends on addresses or hash seeds: two graphs of one seed, one list."""
    knobs = GraphKnobs(streams=3)
    one, other = _tasks(random_graph(seed, knobs)), _tasks(random_graph(seed, knobs))
    assert one.to_json() == other.to_json()


def test_what_lost_its_task_keeps_its_place_on_its_stream() -> None:
    """Whoever reads a join waits for its stream; what follows there waits for its operands."""
    build = GraphBuilder()
    x = build.data("x")
    a = _relu(build, "a", 0, x)
    _relu(build, "before", 1, x)
    attrs = {"_no_task": True, "_keeps_stream_place": True, "stream_id": 1}
    join = build.op("ConcatD", a, a, name="join", attrs=attrs, shape=(2, 16))
    _relu(build, "behind", 1, x)
    c = _relu(build, "c", 0, join)
    build.net_output(c)
    tasks = _tasks(build.graph)
    assert [("a", "join"), ("join", "c")] == _events(tasks)
    on_stream = [(task.kind, task.node) for task in tasks.tasks if task.stream == 1]
    assert on_stream == [
        ("kernel", "before"),
        ("event_wait", "join"),
        ("event_record", "join"),
        ("kernel", "behind"),
    ]


def test_a_join_on_a_stream_of_its_own_needs_no_events() -> None:
    """Where nothing else runs on its stream it hands on what it waits for."""
    build = GraphBuilder()
    a = _relu(build, "a", 0, build.data("x"))
    attrs = {"_no_task": True, "_keeps_stream_place": True, "stream_id": 2}
    join = build.op("ConcatD", a, a, name="join", attrs=attrs, shape=(2, 16))
    build.net_output(_relu(build, "c", 1, join))
    assert [("a", "c")] == _events(_tasks(build.graph))
