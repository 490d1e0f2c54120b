"""Which task operands lie in the memory of a graph input or output: what zero copy patches.

A caller that binds a buffer of its own to an output replaces an address. Every operand of a task
that lies within the output's bytes, be it a part of a join without a task, has to follow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from ge_core.memory.plan import Plan, PlanTensor
from ge_core.tasks.model import Region, Task, TaskList

_SIDES = ("inputs", "outputs", "workspace")


@dataclass(frozen=True, slots=True)
class BindingUse:
    """One operand of a task in the memory of a graph input or output.

    Attributes:
        task: the task's id.
        side, index: "inputs", "outputs" or "workspace", and which of them.
        delta: bytes from the start of the caller's buffer.
    """

    task: int
    side: str
    index: int
    delta: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A graph input or output, and what lies in its bytes.

    Attributes:
        io: which of both.
        node, output: the Data, or who makes the result.
        pool, offset, bytes: where the plan puts it.
        uses: in task order.
    """

    io: Literal["input", "output"]
    node: str
    output: int
    pool: str
    offset: int
    bytes: int
    uses: tuple[BindingUse, ...]


def bindings(plan: Plan, tasks: TaskList) -> list[Binding]:
    """By graph input and output, the operands that lie in its bytes, in task order.

    Args:
        plan: says which tensors are the caller's.
        tasks: of the same graph.
    """
    uses = sorted(_uses(tasks.tasks), key=lambda use: (use[0].pool, use[0].offset, use[1:]))
    starts = [(region.pool, region.offset) for region, *_ in uses]
    found = []
    for place in plan.tensors:
        if place.io not in ("input", "output") or place.call or not place.bytes:
            continue
        at = bisect_left(starts, (place.pool, place.offset))
        inside = []
        while at < len(uses) and starts[at] < (place.pool, place.end):
            region, task, side, index = uses[at]
            if region.end <= place.end:
                inside.append(BindingUse(task, _SIDES[side], index, region.offset - place.offset))
            at += 1
        inside.sort(key=lambda use: (use.task, _SIDES.index(use.side), use.index))
        found.append(_binding(place, tuple(inside)))
    return found


def bound(tasks: TaskList, which: Binding, pool: str, offset: int) -> TaskList:
    """The task list with one input or output at another address.

    Args:
        which: one of the list's bindings.
        pool, offset: where the caller's buffer begins.
    """
    moved = {(use.task, use.side, use.index): use.delta for use in which.uses}
    out = []
    for task in tasks.tasks:
        sides: dict[str, Any] = {}
        for side in _SIDES:
            regions = list(getattr(task, side))
            for at, region in enumerate(regions):
                delta = moved.get((task.id, side, at))
                if delta is not None:
                    regions[at] = replace(region, pool=pool, offset=offset + delta)
            sides[side] = tuple(regions)
        out.append(replace(task, **sides))
    return TaskList(out, tasks.dump_only)


def _uses(tasks: list[Task]) -> Iterator[tuple[Region, int, int, int]]:
    for task in tasks:
        for number, side in enumerate(_SIDES):
            for index, region in enumerate(getattr(task, side)):
                if region is not None and region.bytes:
                    yield region, task.id, number, index


def _binding(place: PlanTensor, uses: tuple[BindingUse, ...]) -> Binding:
    io: Literal["input", "output"] = "input" if place.io == "input" else "output"
    return Binding(io, place.node, place.output, place.pool, place.offset, place.bytes, uses)
