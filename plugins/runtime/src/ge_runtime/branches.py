"""Calls and conditionals. Each driver yields the frame to run and hands its results over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ge_core.api import Graph
from ge_runtime.boundary import enter, leave, passed_on, read
from ge_runtime.steps import Frame, Step, truth

if TYPE_CHECKING:
    from ge_runtime.machine import Machine


def drive_call(step: Step, machine: Machine) -> Iterator[Frame]:
    """The called graph, once."""
    for graph in step.node.subgraphs.values():
        yield from _run(step, machine, graph, first=0)


def drive_if(step: Step, machine: Machine) -> Iterator[Frame]:
    """One arm; without labels the first is for true."""
    arms = step.node.subgraphs
    chosen = truth(read(machine, step, 0))
    graph = arms.get("then_branch" if chosen else "else_branch")
    if graph is None and not {"then_branch", "else_branch"} & set(arms):
        graph = dict(enumerate(arms.values())).get(0 if chosen else 1)
    if graph is not None:
        yield from _run(step, machine, graph, first=1)


def drive_case(step: Step, machine: Machine) -> Iterator[Frame]:
    """One arm by listing order; an index beyond them means the last."""
    arms = list(step.node.subgraphs.values())
    index = np.asarray(read(machine, step, 0))
    if index.size == 1:
        number = float(index.reshape(-1)[0])
        at = int(number) if 0 <= number < len(arms) else len(arms) - 1
    else:
        at = int(truth(index)) % len(arms)
    yield from _run(step, machine, arms[at], first=1)


def _run(step: Step, machine: Machine, graph: Graph, first: int) -> Iterator[Frame]:
    frame = machine.frame(graph, step)
    enter(machine, step, frame, passed_on(step, first))
    yield frame
    leave(machine, step, frame)
