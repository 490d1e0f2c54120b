"""Running tasks in other orders: what a device with several streams may do.

The task list orders tasks by stream and by events, and no more. A plan is right only if every
order that respects both gives the same results.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ge_core.api import Call, Graph, Kernels, OpRegistry, Plan, TaskList
from ge_runtime.control import drive
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.layout import Layout
from ge_runtime.machine import LOOP_LIMIT, Machine
from ge_runtime.operate import execute
from ge_runtime.result import RunResult, collect
from ge_runtime.steps import Frame, Step


def random_linearisations(tasks: TaskList, rng: random.Random, n: int) -> Iterator[list[int]]:
    """At most `n` orders of all tasks' ids that respect streams and events.

    Every other order runs one stream as far as it can get before it turns to the next, as that
    is what breaks most plans. A list with one stream has one order. A wait for an event that
    nobody records waits for nothing.
    """
    queues: dict[int, list[int]] = {}
    for task in tasks.tasks:
        queues.setdefault(task.stream, []).append(task.id)
    if len(queues) < 2:
        n = min(n, 1)
    for turn in range(n):
        yield _one_order(tasks, queues, rng, eager=turn % 2 == 0)


def _one_order(
    tasks: TaskList, queues: dict[int, list[int]], rng: random.Random, *, eager: bool
) -> list[int]:
    streams = list(queues)
    rng.shuffle(streams)
    weights = {stream: rng.random() ** 3 + 0.01 for stream in streams}
    awaited = {task.event for task in tasks.tasks if task.kind == "event_record"}
    heads = dict.fromkeys(streams, 0)
    order: list[int] = []
    total = len(tasks.tasks)
    while len(order) < total:
        open_streams = [stream for stream in streams if heads[stream] < len(queues[stream])]
        ready = [
            stream
            for stream in open_streams
            if not _blocked(tasks, queues[stream][heads[stream]], awaited)
        ]
        # A list whose events wait for one another in a circle has no order; any will do.
        ready = ready or open_streams
        if eager:
            stream = ready[0]
        else:
            (stream,) = rng.choices(ready, [weights[s] for s in ready])
        at = queues[stream][heads[stream]]
        heads[stream] += 1
        order.append(at)
        if tasks.tasks[at].kind == "event_record":
            awaited.discard(tasks.tasks[at].event)
    return order


def _blocked(tasks: TaskList, at: int, awaited: set[int | None]) -> bool:
    task = tasks.tasks[at]
    return task.kind == "event_wait" and task.event in awaited


def execute_linearisation(
    graph: Graph,
    plan: Plan,
    tasks: TaskList,
    order: Sequence[int],
    feeds: Mapping[str, Any],
    *,
    ops: OpRegistry | None = None,
    kernels: Kernels | None = None,
    hostile: bool = True,
    record_reads: bool = False,
    loop_limit: int = LOOP_LIMIT,
) -> RunResult:
    """Run the tasks in any order of their ids, whether streams and events allow it or not.

    The first turn of a loop runs where the order puts its tasks, between others; further turns run
    at once, when a turn has ended, in the order among themselves. A task of an arm that is not
    taken, or listed before the call it belongs to, runs when its call does, or never.

    Raises:
        ExecutionError: a kernel fails, or a tensor without a place is read before it is written.
    """
    ops = default_ops() if ops is None else ops
    layout = Layout(graph.root, ops, plan, tasks, hostile=hostile, fill_dead=False)
    machine = Machine(
        graph,
        ops,
        default_kernels() if kernels is None else kernels,
        layout,
        record_reads=record_reads,
        loop_limit=loop_limit,
    )
    machine.order = {task: at for at, task in enumerate(order)}
    with np.errstate(all="ignore"):
        root = machine.start(feeds)
        _Interleaving(machine, tasks, order).run(root)
    return collect(machine, root)


@dataclass(slots=True, eq=False)
class _Active:
    """A frame in progress: what is left of it, and the call that waits for it."""

    frame: Frame
    left: dict[int, Step]
    caller: _Calling | None


@dataclass(slots=True, eq=False)
class _Calling:
    """A call in progress."""

    step: Step
    frames: Iterator[Frame]
    inside: _Active
    """The frame that the calling step belongs to."""


@dataclass(slots=True)
class _Interleaving:
    machine: Machine
    tasks: TaskList
    order: Sequence[int]
    active: dict[Call, _Active] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)

    def run(self, root: Frame) -> None:
        self._open(root, None)
        for at in self.order:
            task = self.tasks.tasks[at]
            if task.is_event:
                continue
            self.seen.add(at)
            current = self.active.get(task.call)
            step = None if current is None else current.left.get(at)
            if current is not None and step is not None:
                self._perform(current, step)

    def _perform(self, current: _Active, step: Step) -> None:
        if step.is_call:
            frames = drive(step, self.machine)
            self._advance(_Calling(step, frames, current))
        else:
            execute(step, self.machine)
            self._done(current, step)

    def _done(self, current: _Active, step: Step) -> None:
        del current.left[step.task]
        if not current.left:
            self._close(current)

    def _close(self, current: _Active) -> None:
        self.active.pop(current.frame.call, None)
        if current.caller is not None:
            self._advance(current.caller)

    def _advance(self, calling: _Calling) -> None:
        """The next frame of a call: in the order's places if they are still to come, else now."""
        for frame in calling.frames:
            if any(step.task not in self.seen for step in frame.steps):
                self._open(frame, calling)
                return
            self.machine.run_frame(frame)
        self._done(calling.inside, calling.step)

    def _open(self, frame: Frame, caller: _Calling | None) -> None:
        steps = self.machine.ordered(frame)
        current = _Active(frame, {step.task: step for step in steps}, caller)
        self.active[frame.call] = current
        for step in steps:
            if step.task in self.seen:
                self._perform(current, step)
