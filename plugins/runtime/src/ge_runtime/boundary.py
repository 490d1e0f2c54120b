"""What is copied, and what is shared, where a node calls a subgraph.

A Data of a call, of an arm, and a captured value of a loop is the outer tensor's memory. A call's
output is the inner producer's. An arm's result is copied into the node's output unless both lie in
the same place. A loop's value lives in its slot, the node's output: copied in at the start, and at
the end of each turn all at once, everything read before anything is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ge_runtime.ports import CellPort, Port
from ge_runtime.steps import Frame, Step
from ge_runtime.values import copied, nbytes_of

if TYPE_CHECKING:
    from ge_runtime.machine import Machine

Pairs = list[tuple[Port, Port]]
Held = dict[int, Port | None]


def hand_over(machine: Machine, step: Step, pairs: Pairs) -> None:
    """Copy values between places as one parallel copy; what is in its place already stays."""
    moving = [
        (target, copied(source.memory()))
        for source, target in pairs
        if not source.same_place(target)
    ]
    for target, value in moving:
        target.write(value)
        machine.copies.add(step.node, nbytes_of(value), boundary=True)


def enter(machine: Machine, step: Step, frame: Frame, outer: Held) -> None:
    """Give Data nodes the memory of what they stand for, where the plan has not done so."""
    for entry in frame.entries:
        source, target = outer.get(entry.index), entry.port
        if source is None or source.same_place(target):
            continue
        if isinstance(target, CellPort):
            target.cell.put(source.memory())
        elif isinstance(source, CellPort):
            hand_over(machine, step, [(source, target)])


def provide(frame: Frame, values: dict[int, Any]) -> None:
    """Write what the executor makes itself: the turn, the condition, a scanned element."""
    for entry in frame.entries:
        if entry.index not in values:
            continue
        value = np.array(values[entry.index])
        # Models declare the turn and the condition as scalars or with one element, and mean both.
        if value.shape == () and entry.port.desc.shape == (1,):
            value = value.reshape(1)
        entry.port.write(value)


def leave(machine: Machine, step: Step, frame: Frame) -> None:
    """Hand an arm's or a call's results over to the node's outputs."""
    outputs = step.outputs
    hand_over(
        machine, step, [(port, outputs[at]) for at, port in frame.results if at < len(outputs)]
    )
    machine.poison(frame.after)


def passed_on(step: Step, first: int = 0) -> Held:
    """The inputs from `first` on, which subgraphs see under the same numbers."""
    return {at: port for at, port in enumerate(step.inputs) if at >= first}


def read(machine: Machine, step: Step, at: int) -> Any:
    """An input that the calling node reads itself; None where it is left out."""
    port = step.inputs[at] if at < len(step.inputs) else None
    if port is None:
        return None
    value = port.read()
    machine.record(step, at, value)
    return value
