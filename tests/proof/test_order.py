"""Two accesses to one byte, one of them a write, must have an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.ir import Graph, GraphBuilder, TensorDesc, clone
from ge_core.memory import Plan, Strided
from ge_core.ops import OpRegistry
from ge_core.proof import ProofResult, verify_compile
from ge_core.proof.intervals import IntervalMap
from ge_core.tasks import TaskList, generate_tasks

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]
Planned = Callable[..., Plan]


def on(stream: int, **attrs: Any) -> dict[str, Any]:
    """Attributes of a node on a stream."""
    return {"stream_id": stream, **attrs}


def two_streams(*, ordered: bool) -> Graph:
    """A value dies on stream 0; stream 1 makes another one."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value", attrs=on(0))
    last = build.node("Mul", value, name="last", attrs=on(0))
    control = [last] if ordered else []
    other = build.op("Mul", x, x, name="other", attrs=on(1), control=control)
    build.net_output(last.outputs[0], other)
    return build.graph


def test_reuse_across_streams_needs_an_event(found: Found) -> None:
    """Bytes that a reader on one stream still needs are not another stream's to write."""
    places = {"value:0": 1024, "other:0": 1024}
    assert found(two_streams(ordered=True), places) == []
    assert found(two_streams(ordered=False), places) == [("order", "other"), ("order", "other")]


def test_streams_that_share_no_bytes_need_no_order(found: Found) -> None:
    """Without common bytes two streams may run as they like."""
    assert found(two_streams(ordered=False)) == []


def test_a_dropped_event_is_found(ops: OpRegistry, planned: Planned) -> None:
    """The task list is what runs: without one of its events nothing orders the two streams."""
    graph = two_streams(ordered=True)
    plan = planned(graph, {"value:0": 1024, "other:0": 1024})
    tasks = generate_tasks(graph, ops, plan)
    assert verify_compile(graph, clone(graph), plan, tasks, ops=ops).ok
    events = [task for task in tasks.tasks if task.is_event]
    assert len(events) == 2
    rest = TaskList([task for task in tasks.tasks if not task.is_event])
    result = verify_compile(graph, clone(graph), plan, rest, ops=ops)
    assert {(v.check, v.node) for v in result.violations} == {("order", "other")}


def test_a_wait_without_a_record_is_found(ops: OpRegistry, planned: Planned) -> None:
    """A wait for an event that nobody records before is no order."""
    graph = two_streams(ordered=True)
    plan = planned(graph)
    tasks = generate_tasks(graph, ops, plan)
    kept = [task for task in tasks.tasks if task.kind != "event_record"]
    result = verify_compile(graph, clone(graph), plan, TaskList(kept), ops=ops)
    assert [(v.check, v.node) for v in result.violations] == [("order", "other")]


def test_a_data_edge_orders_its_two_ends(found: Found) -> None:
    """A reader on another stream waits for the producer: an event of its own."""
    build = GraphBuilder()
    value = build.op("Relu", build.data("x"), name="value", attrs=on(0))
    build.net_output(build.op("Mul", value, name="reader", attrs=on(1)))
    assert found(build.graph) == []


def test_order_passes_through_nodes_without_a_task(found: Found) -> None:
    """A NoOp hands an order on, but has no place on a stream and orders nothing itself."""
    for through, expected in ((True, []), (False, [("order", "other"), ("order", "other")])):
        build = GraphBuilder()
        x = build.data("x")
        value = build.op("Relu", x, name="value", attrs=on(0))
        last = build.node("Mul", value, name="last", attrs=on(0))
        barrier = build.node(
            "NoOp", name="barrier", outputs=[], attrs=on(2), control=[last] if through else []
        )
        control = [barrier]
        other = build.op("Mul", x, x, name="other", attrs=on(1), control=control)
        build.net_output(last.outputs[0], other)
        assert found(build.graph, {"value:0": 1024, "other:0": 1024}) == expected


def test_data_carries_no_order(found: Found) -> None:
    """A Data behind a node does not make its readers wait for that node."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value", attrs=on(0))
    last = build.node("Mul", value, name="last", attrs=on(0))
    late = build.data("late")
    build.graph.add_control(last, late.node)
    other = build.op("Mul", late, name="other", attrs=on(1))
    build.net_output(last.outputs[0], other)
    places = {"value:0": 1024, "other:0": 1024}
    assert found(build.graph, places) == [("order", "other")] * 2


def test_order_is_transitive(found: Found) -> None:
    """Streams that wait one for the other in a ring order all of their accesses."""
    build = GraphBuilder()
    value = build.data("x")
    for at in range(9):
        value = build.op("Mul", value, name=f"n{at}", attrs=on(at % 3))
    build.net_output(value)
    places = {f"n{at}:0": 1024 + 64 * (at % 2) for at in range(9)}
    assert found(build.graph, places) == []


def test_two_writers_need_an_order_without_any_reader(found: Found) -> None:
    """Two writes to one byte race even when nobody reads it."""
    build = GraphBuilder()
    x = build.data("x")
    for at in range(2):
        build.op("Mul", x, name=f"dead{at}", attrs=on(at))
    build.net_output(build.op("Relu", x, name="value"))
    assert found(build.graph, {"dead0:0": 1024, "dead1:0": 1024}) == [("order", "dead1")]


def test_rows_between_each_other_need_no_order(found: Found) -> None:
    """Two streams that write different rows of one buffer don't meet; of the same rows, they do."""
    build = GraphBuilder()
    x = build.data("x", (4, 8))
    values = [build.op("Relu", x, name=f"v{at}", attrs=on(at)) for at in range(2)]
    build.net_output(*values)
    pitch = Strided(32, 64, 4)
    assert found(build.graph, {"v0:0": (1024, pitch), "v1:0": (1056, pitch)})[2:] == []
    clash = found(build.graph, {"v0:0": (1024, pitch), "v1:0": (1040, pitch)})
    assert ("order", "v1") in clash


def test_the_predicate_is_read_by_the_branch_itself(found: Found) -> None:
    """Overwriting an If's predicate races with the If, whatever its arms do."""
    build = GraphBuilder()
    x = build.data("x")
    test = build.op("Less", x, name="test", outputs=[TensorDesc.make("bool", ())], attrs=on(0))
    branch = _branch(build, test, x, streams=(0, 0))
    other = build.op("Mul", x, name="other", attrs=on(1), control=[test])
    build.net_output(branch, other)
    assert found(build.graph, {"test:0": 2048, "other:0": 2048}) == [("order", "other")]


def _branch(
    build: GraphBuilder, test: Any, value: Any, *, streams: tuple[int, int], **facts: Any
) -> Any:
    arms = {}
    for label, stream in zip(("then_branch", "else_branch"), streams, strict=True):
        arm = build.subgraph(label)
        inner = arm.data(f"{label}/x", index=1)
        arm.net_output(arm.op("Mul", inner, name=f"{label}/y", attrs=on(stream)))
        arms[label] = arm
    outputs = [value.desc]
    return build.op(
        "If", test, value, name="branch", outputs=outputs, subgraphs=arms, attrs=on(0), **facts
    )


@pytest.mark.parametrize("streams", [(0, 0), (1, 2)])
def test_arms_need_no_order_between_them(found: Found, streams: tuple[int, int]) -> None:
    """What two arms of one If do to the same bytes never both happens."""
    build = GraphBuilder()
    x = build.data("x")
    test = build.op("Less", x, name="test", outputs=[TensorDesc.make("bool", ())], attrs=on(0))
    build.net_output(build.op("Relu", _branch(build, test, x, streams=streams), name="reader"))
    places = {"branch/then_branch/y:0": 2048, "branch/else_branch/y:0": 2048}
    assert found(build.graph, places) == []


def test_an_arm_orders_nothing_around_its_branch(found: Found) -> None:
    """An order that exists only when one arm runs is none for what lies before and behind."""
    build = GraphBuilder()
    x = build.data("x")
    test = build.op("Less", x, name="test", outputs=[TensorDesc.make("bool", ())], attrs=on(0))
    early = build.op("Mul", x, x, name="early", attrs=on(1))
    branch = _branch(build, test, x, streams=(1, 0))
    late = build.op("Relu", branch, name="late", attrs=on(0))
    build.net_output(late)
    assert found(build.graph) == []
    assert early.readers == []
    assert found(build.graph, {"early:0": 2048, "late:0": 2048}) == [("order", "late")]


def test_behind_a_branch_everything_in_it_is_done(found: Found) -> None:
    """What an arm reads on another stream may be overwritten behind the branch."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value", attrs=on(0))
    test = build.op("Less", x, name="test", outputs=[TensorDesc.make("bool", ())], attrs=on(0))
    branch = _branch(build, test, value, streams=(1, 2))
    late = build.op("Mul", branch, name="late", attrs=on(3))
    build.net_output(late)
    assert found(build.graph, {"value:0": 2048, "late:0": 2048}) == []


def test_an_event_dropped_at_a_branch_is_found(ops: OpRegistry, planned: Planned) -> None:
    """The events that tie an arm's streams to the caller's are needed like any other."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value", attrs=on(0))
    test = build.op("Less", x, name="test", outputs=[TensorDesc.make("bool", ())], attrs=on(0))
    branch = _branch(build, test, value, streams=(1, 2))
    build.net_output(build.op("Mul", branch, name="late", attrs=on(0)))
    graph = build.graph
    plan = planned(graph, {"value:0": 2048, "late:0": 2048})
    tasks = generate_tasks(graph, ops, plan)
    numbers = {task.event for task in tasks.tasks if task.is_event}
    assert len(numbers) == 4
    assert verify_compile(graph, clone(graph), plan, tasks, ops=ops).ok
    for number in numbers:
        kept = TaskList([task for task in tasks.tasks if task.event != number])
        result = verify_compile(graph, clone(graph), plan, kept, ops=ops)
        assert {violation.check for violation in result.violations} == {"order"}


def _loop() -> Graph:
    """A While whose body keeps a value on stream 0 and looks at it on stream 1."""
    build = GraphBuilder()
    x = build.op("Mul", build.data("x"), name="start", attrs=on(0))
    cond, body = build.subgraph("cond"), build.subgraph("body")
    seen = cond.data("cond/x", index=0)
    test = cond.op("Less", seen, name="cond/t", outputs=[TensorDesc.make("bool", ())], attrs=on(0))
    cond.net_output(test)
    value = body.op("Relu", body.data("body/x", index=0), name="body/kept", attrs=on(0))
    body.op("Less", value, name="body/look", attrs=on(1))
    body.net_output(body.op("Mul", value, name="body/next", attrs=on(0)))
    loop = build.op("While", x, name="loop", subgraphs={"cond": cond, "body": body}, attrs=on(0))
    build.net_output(build.op("Relu", loop, name="end", attrs=on(0)))
    return build.graph


def test_turns_of_a_loop_follow_one_another(found: Found) -> None:
    """Streams of a body are tied to the loop's, so that one turn ends before the next begins."""
    assert found(_loop()) == []


def test_a_reader_that_the_next_turn_overtakes_is_found(ops: OpRegistry, planned: Planned) -> None:
    """Without the event at the end of a body, its reader races with the next turn's writer."""
    graph = _loop()
    plan = planned(graph, while_in_place=True)
    tasks = generate_tasks(graph, ops, plan)
    assert verify_compile(graph, clone(graph), plan, tasks, ops=ops).ok
    closing = {task.event for task in tasks.tasks if task.kind == "event_record" and task.stream}
    assert len(closing) == 1
    kept = TaskList([task for task in tasks.tasks if task.event not in closing])
    result = verify_compile(graph, clone(graph), plan, kept, ops=ops)
    assert [(v.check, v.node, v.expected) for v in result.violations] == [
        ("order", "loop/body/kept", "an order between it and loop/body/look")
    ]


def test_branches_for_other_input_sizes_never_race(found: Found) -> None:
    """Nodes of two gears never run together; a node without a gear runs with all of them."""
    for labels, expected in ((("s", "l"), []), (("s", ""), [("order", "b")])):
        build = GraphBuilder()
        x = build.data("x")
        for name, stream, label in zip("ab", (0, 1), labels, strict=True):
            build.op("Mul", x, name=name, attrs=on(stream, _batch_label=label))
        build.net_output(build.op("Relu", x, name="value"))
        assert found(build.graph, {"a:0": 1024, "b:0": 1024}) == expected


def test_the_check_is_linear_in_accesses(prove: Prove, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work grows with the number of accesses, not with their pairs: counted in pieces looked at."""
    counts = []
    pieces = IntervalMap.pieces
    for size in (400, 800):
        build = GraphBuilder()
        value = build.data("x")
        for at in range(size):
            value = build.op("Mul", value, name=f"n{at}", attrs=on(at % 4))
        build.net_output(value)
        looked: list[int] = []

        def counted(self: Any, low: int, high: int, looked: list[int] = looked) -> Any:
            answer = pieces(self, low, high)
            looked.append(len(answer))
            return answer

        monkeypatch.setattr(IntervalMap, "pieces", counted)
        places = {f"n{at}:0": 64 * (1 + at % 3) for at in range(size)}
        assert prove(build.graph, places).ok
        monkeypatch.undo()
        counts.append(sum(looked))
    assert counts[1] < 2.2 * counts[0]
