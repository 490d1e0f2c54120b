"""Which orders of a task list's tasks a device may take, and this runtime can run as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ge_core.api import Graph, OpRegistry, Task, TaskList


def can_happen(graph: Graph, tasks: TaskList, order: Sequence[int], ops: OpRegistry) -> bool:
    """Whether an order that respects streams and events can be run by `execute_linearisation`.

    What that does with calls is its own: an order that a device may take, and that would be run
    as one that no device takes, tells nothing.
    """
    return _calls_first(tasks, order) and _repeats(graph, tasks, order, ops)


def _calls_first(tasks: TaskList, order: Sequence[int]) -> bool:
    """Whether every call begins before what it contains.

    The runtime runs what is listed earlier when the call begins, which may be behind what its
    stream has after it: no device does that.
    """
    place = {task: at for at, task in enumerate(order)}
    calls = {(*task.call, task.node): place[task.id] for task in tasks.tasks if task.kind == "call"}
    return all(
        calls.get(task.call, -1) < place[task.id]
        for task in tasks.tasks
        if task.call and not task.is_event
    )


def _repeats(graph: Graph, tasks: TaskList, order: Sequence[int], ops: OpRegistry) -> bool:
    """Whether later turns of loops, run in the same order, keep to streams and events.

    The runtime runs a call inside a later turn as a whole; where the order had other tasks of the
    turn in between, the turn would be one that no device runs.
    """
    place = {task: at for at, task in enumerate(order)}
    before = _needed_before(tasks)
    inside: dict[tuple[tuple[str, ...], str], list[Task]] = {}
    for task in tasks.tasks:
        if not task.is_event:
            part = graph.root.node(task.node).graph
            assert part is not None
            inside.setdefault((task.call, part.name), []).append(task)
    for (call, _), members in inside.items():
        if not call or ops.kind(graph.root.node(call[-1])) not in ("while", "loop", "scan"):
            continue
        done: dict[int, int] = {}
        for task in _as_a_whole(graph, inside, members, place):
            done[task.id] = len(done)
        if any(
            earlier in done and done[earlier] > at
            for task_id, at in done.items()
            for earlier in before[task_id]
        ):
            return False
    return True


def _as_a_whole(
    graph: Graph,
    inside: dict[tuple[tuple[str, ...], str], list[Task]],
    members: list[Task],
    place: Mapping[int, int],
) -> Iterator[Task]:
    for task in sorted(members, key=lambda task: place[task.id]):
        yield task
        for part in graph.root.node(task.node).subgraphs.values():
            inner = inside.get(((*task.call, task.node), part.name), [])
            yield from _as_a_whole(graph, inside, inner, place)


def _needed_before(tasks: TaskList) -> dict[int, list[int]]:
    """Per task those that its stream and the events it waits for put right before it."""
    last: dict[int, int] = {}
    recorded: dict[int | None, list[int]] = {}
    pending: dict[int, list[int]] = {}
    found: dict[int, list[int]] = {}
    for task in tasks.tasks:
        if task.kind == "event_record":
            recorded[task.event] = list(pending.get(task.stream, ()))
            if task.stream in last:
                recorded[task.event].append(last[task.stream])
        elif task.kind == "event_wait":
            pending.setdefault(task.stream, []).extend(recorded.get(task.event, ()))
        elif not task.is_event:
            found[task.id] = pending.pop(task.stream, [])
            if task.stream in last:
                found[task.id].append(last[task.stream])
            last[task.stream] = task.id
    return found
