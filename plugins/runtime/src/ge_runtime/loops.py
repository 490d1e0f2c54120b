"""While, Loop and Scan. Each driver yields a frame per turn and moves values between turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ge_core.api import output_parent_index
from ge_runtime.boundary import Held, Pairs, enter, hand_over, passed_on, provide, read
from ge_runtime.dtypes import numpy_dtype
from ge_runtime.errors import ExecutionError
from ge_runtime.ports import Cell, CellPort, Port
from ge_runtime.steps import Frame, Step, truth
from ge_runtime.values import copied, nbytes_of

if TYPE_CHECKING:
    from ge_runtime.machine import Machine


def drive_while(step: Step, machine: Machine) -> Iterator[Frame]:
    """GE's While: condition, body, condition, ..., on slots that all three share."""
    graphs = list(step.node.subgraphs.values())
    cond_graph = step.node.subgraphs.get("cond", graphs[0])
    body_graph = step.node.subgraphs.get("body", graphs[-1])
    slots = _slots(step, len(step.inputs))
    _start(machine, step, 0, slots)
    held: Held = dict(enumerate(slots))
    for turn in machine.turns(step):
        cond = machine.frame(cond_graph, step)
        enter(machine, step, cond, held)
        yield cond
        # A parent index on the condition's output means nothing: there is one, the predicate.
        go_on = bool(cond.results) and truth(cond.results[0][1].read())
        machine.poison(cond.after)
        if not go_on or turn == machine.while_turns:
            return
        body = machine.frame(body_graph, step)
        enter(machine, step, body, held)
        yield body
        pairs = [(port, slots[at]) for at, port in body.results if at < len(slots)]
        hand_over(machine, step, pairs)
        machine.poison(body.after)


def drive_loop(step: Step, machine: Machine) -> Iterator[Frame]:
    """ONNX Loop. As in onnxruntime the body's condition counts also where the node has none."""
    (graph,) = step.node.subgraphs.values()
    carried = len(step.inputs) - 2 - _captured(step)
    trips, cond = read(machine, step, 0), read(machine, step, 1)
    limit = None if trips is None else int(np.asarray(trips).reshape(-1)[0])
    go_on = cond is None or truth(cond)
    slots = _slots(step, carried)
    _start(machine, step, 2, slots)
    held: Held = dict(enumerate(slots, 2))
    held.update(passed_on(step, 2 + carried))
    rows: list[list[Any]] = [[] for _ in step.outputs[carried:]]
    for turn in machine.turns(step):
        if not go_on or (limit is not None and turn >= limit):
            break
        body = machine.frame(graph, step)
        enter(machine, step, body, held)
        provide(body, {0: np.int64(turn), 1: np.bool_(go_on)})
        yield body
        go_on = truth(body.results[0][1].read())
        _gather(rows, body, 1 + carried)
        pairs = [(port, slots[at - 1]) for at, port in body.results if 1 <= at <= carried]
        hand_over(machine, step, pairs)
        machine.poison(body.after)
    for at, pieces in enumerate(rows, carried):
        _collect(machine, step, at, pieces, element=_element(step, at, at + 1), axis=0)


def drive_scan(step: Step, machine: Machine) -> Iterator[Frame]:
    """ONNX Scan (from version 9 on: without batches)."""
    (graph,) = step.node.subgraphs.values()
    scanned = int(step.node.attrs["onnx.num_scan_inputs"])
    states = len(step.inputs) - _captured(step) - scanned
    outs = len(step.outputs) - states
    sources = [read(machine, step, at) for at in range(states, states + scanned)]
    axes = _numbers(step, "scan_input_axes", scanned)
    backwards = _numbers(step, "scan_input_directions", scanned)
    length = _length(sources, axes)
    slots = _slots(step, states)
    _start(machine, step, 0, slots)
    held: Held = dict(enumerate(slots))
    held.update(passed_on(step, states + scanned))
    rows: list[list[Any]] = [[] for _ in range(outs)]
    for turn in range(length):
        body = machine.frame(graph, step)
        enter(machine, step, body, held)
        places = [length - 1 - turn if back else turn for back in backwards]
        elements = [np.take(v, at, axis) for v, at, axis in zip(sources, places, axes, strict=True)]
        provide(body, dict(enumerate(elements, states)))
        yield body
        _gather(rows, body, states)
        pairs = [(port, slots[at]) for at, port in body.results if at < states]
        hand_over(machine, step, pairs)
        machine.poison(body.after)
    out_axes = _numbers(step, "scan_output_axes", outs)
    prepended = _numbers(step, "scan_output_directions", outs)
    for at, pieces in enumerate(rows):
        if prepended[at]:
            pieces.reverse()
        element = _element(step, states + at, states + at, out_axes[at])
        _collect(machine, step, states + at, pieces, element=element, axis=out_axes[at])


def _captured(step: Step) -> int:
    return int(step.node.attrs.get("captured", 0))


def _slots(step: Step, count: int) -> list[Port]:
    """The slots of carried values: the node's outputs, or buffers where it has none for them."""
    slots = list(step.outputs[:count])
    first = len(step.inputs) - _captured(step) - count
    for at in range(len(slots), count):
        source = step.inputs[first + at]
        if source is None:
            raise ExecutionError(f"there is no initial value {at}")
        slots.append(CellPort(Cell(f"{step.node.name}:{at}"), source.desc))
    return slots


def _start(machine: Machine, step: Step, first: int, slots: list[Port]) -> None:
    """Put the initial values, inputs from `first` on, into their slots."""
    pairs: Pairs = []
    for at, slot in enumerate(slots, first):
        source = step.inputs[at]
        if source is None:
            raise ExecutionError(f"there is no initial value {at - first}")
        if machine.reads is not None:
            read(machine, step, at)
        pairs.append((source, slot))
    hand_over(machine, step, pairs)


def _gather(rows: list[list[Any]], body: Frame, first: int) -> None:
    """Keep this turn's pieces of the collected outputs."""
    for at, port in body.results:
        if 0 <= at - first < len(rows):
            rows[at - first].append(copied(port.memory()))


def _collect(
    machine: Machine,
    step: Step,
    at: int,
    pieces: list[Any],
    *,
    element: tuple[int, ...],
    axis: int,
) -> None:
    """Put all turns' pieces together; no turns make a tensor without elements."""
    target = step.outputs[at]
    if pieces:
        whole = np.stack(pieces, axis=axis)
    else:
        place = axis % (len(element) + 1)
        shape = (*element[:place], 0, *element[place:])
        whole = np.empty(shape, numpy_dtype(target.desc.dtype))
    target.write(whole)
    machine.copies.add(step.node, nbytes_of(whole), boundary=True)


def _element(step: Step, at: int, result: int, axis: int = 0) -> tuple[int, ...]:
    """Shape of one piece: as the output declares it, else as the body does; unknown counts 0."""
    declared = step.outputs[at].desc.shape
    if declared:
        place = axis % len(declared)
        shape = (*declared[:place], *declared[place + 1 :])
        if all(dim >= 0 for dim in shape):
            return shape
    (graph,) = step.node.subgraphs.values()
    out = graph.net_output
    for anchor in () if out is None else out.inputs:
        assert out is not None
        index = output_parent_index(out, anchor.index)
        if (anchor.index if index is None else index) == result and anchor.source is not None:
            return tuple(max(dim, 0) for dim in anchor.source.desc.shape or ())
    return ()


def _length(sources: list[Any], axes: list[int]) -> int:
    lengths = {value.shape[axis] for value, axis in zip(sources, axes, strict=True)}
    if len(lengths) != 1:
        raise ExecutionError(f"its inputs have {sorted(lengths)} elements to scan")
    return int(lengths.pop())


def _numbers(step: Step, name: str, count: int) -> list[int]:
    values = step.node.attrs.get(f"onnx.{name}")
    return [int(value) for value in values] if values else [0] * count
