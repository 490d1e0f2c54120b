"""Running one step that is no call: copies, views and kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ge_core.api import Kernel, LimitExceeded
from ge_runtime.errors import ExecutionError, is_located, located
from ge_runtime.ports import ArenaPort, CellPort, Port
from ge_runtime.steps import Step
from ge_runtime.values import contiguous, copied, nbytes_of, own, seen_as

if TYPE_CHECKING:
    from ge_runtime.machine import Machine

_WRITE_BACKS = frozenset({"Assign", "AssignVariableOp"})


def execute(step: Step, machine: Machine) -> None:
    """Run a copy, a view or a kernel.

    Raises:
        ExecutionError: the kernel failed, or its results are not what the node declares.
    """
    try:
        if step.before:
            machine.poison(step.before)
        if step.is_view:
            _view(step, machine)
        elif step.is_move:
            _move(step, machine)
        else:
            _compute(step, machine)
        step.context.turn += 1
        if step.after:
            machine.poison(step.after)
    except LimitExceeded:
        raise
    except Exception as error:  # a kernel may raise anything
        if is_located(error):
            raise
        raise located(step, error) from error


def _kernel(step: Step) -> Kernel:
    if step.kernel is None:
        raise ExecutionError("no installed plugin has a kernel for it")
    return step.kernel


def _move(step: Step, machine: Machine) -> None:
    """Copy input k to output k: all are read before any is written."""
    machine.poison(step.poison)
    moves: list[tuple[Port, Port]] = []
    for at, target in enumerate(step.outputs):
        source = step.inputs[at]
        if source is None:
            raise ExecutionError("its input is not connected")
        if machine.reads is not None:
            machine.record(step, at, source.memory())
        if not source.same_place(target):
            moves.append((source, target))
    if len(moves) == 1:
        moved = _copy(*moves[0])
    else:
        values = [copied(source.memory()) for source, _ in moves]
        moved = sum(map(nbytes_of, values))
        for (_, target), value in zip(moves, values, strict=True):
            target.write(value)
    if moves:
        _scribble(step, machine)
        machine.copies.add(step.node, moved)


def _copy(source: Port, target: Port) -> int:
    """Copy a value and answer how many bytes that were."""
    if (
        isinstance(source, ArenaPort)
        and isinstance(target, ArenaPort)
        and source.raw.shape == target.raw.shape
    ):
        target.raw[...] = source.raw
        return int(target.raw.size)
    value = copied(source.memory())
    target.write(value)
    return nbytes_of(value)


def _view(step: Step, machine: Machine) -> None:
    """Every output is an input's memory: point to it. A shape known only now asks the kernel."""
    shapes: Sequence[Any] = ()
    if machine.reads is not None:
        for at, port in enumerate(step.inputs):
            if port is not None:
                machine.record(step, at, port.memory())
    if any(not port.desc.is_static for port in step.outputs):
        values = [None if port is None else port.read() for port in step.inputs]
        shapes = _kernel(step)(step.node, values, step.context)
    for at, target in enumerate(step.outputs):
        answer = shapes[at] if at < len(shapes) else None
        _share(step, machine, at, target, answer)


def _share(step: Step, machine: Machine, at: int, target: Port, answer: Any) -> None:
    """Make an output the memory of the input it aliases; a copy where the plan parted them."""
    source = step.inputs[step.context.aliases[at]]
    if source is None or source.same_place(target):
        return
    if isinstance(target, CellPort):
        memory = source.memory()
        if isinstance(answer, np.ndarray) and isinstance(memory, np.ndarray):
            memory = memory.reshape(answer.shape)
        target.cell.put(seen_as(memory, target.desc))
        return
    if step.context.writes or step.context.scribbles:
        return
    value = copied(source.memory())
    machine.poison(step.poison)
    target.write(seen_as(value, target.desc))
    machine.copies.add(step.node, nbytes_of(value))


def _compute(step: Step, machine: Machine) -> None:
    kernel = _kernel(step)
    context = step.context
    machine.poison(step.poison)
    private: dict[int, Any] = {}
    values: list[Any] = []
    for at, port in enumerate(step.inputs):
        if port is None:
            values.append(None)
        elif at not in context.writes:
            values.append(port.read())
        else:
            memory = port.memory()
            if machine.is_reference and (at in context.scribbles or not _writeable(memory)):
                memory = private[at] = copied(memory)
            values.append(memory)
    if machine.reads is not None:
        for at, value in enumerate(values):
            if value is not None:
                machine.record(step, at, value)
    results = kernel(step.node, values, context)
    if len(results) < len(step.outputs):
        raise ExecutionError(f"{len(results)} results for {len(step.outputs)} outputs")
    _update(step, values, results)
    for at in context.writes:
        port = step.inputs[at]
        if port is not None and at not in private:
            port.flush(values[at])
    _put(step, machine, values, list(results), private)
    _count(step, machine, values, results)


def _update(step: Step, values: list[Any], results: Sequence[Any]) -> None:
    """A result that belongs where an updated input lies goes there.

    A kernel that knows nothing of working in place answers it as any other.
    """
    context = step.context
    for out, at in context.aliases.items():
        memory, result = values[at], results[out]
        if at not in context.writes or result is memory:
            continue
        if isinstance(memory, np.ndarray) and isinstance(result, np.ndarray):
            memory[...] = result.reshape(memory.shape)


def _put(
    step: Step, machine: Machine, values: list[Any], results: list[Any], private: dict[int, Any]
) -> None:
    """Results to their places: those that may lie in an input's memory are copied first."""
    aliases = step.context.aliases
    seen: set[int] = set()
    for at, target in enumerate(step.outputs):
        if at in aliases:
            continue
        value = contiguous(results[at])
        if isinstance(target, CellPort) or len(step.outputs) > 1 or step.context.scribbles:
            value = own(value, values)
        if isinstance(target, CellPort) and (id(value) in seen or _is_part(value)):
            value = copied(value)
        seen.add(id(value))
        results[at] = value
    _scribble(step, machine)
    for at, target in enumerate(step.outputs):
        if at not in aliases:
            target.write(results[at])
        elif isinstance(target, CellPort) and aliases[at] in private:
            target.cell.put(seen_as(private[aliases[at]], target.desc))
        else:
            _share(step, machine, at, target, None)


def _is_part(value: Any) -> bool:
    """Whether an array is a view: what else sees its memory is not known."""
    return isinstance(value, np.ndarray) and value.base is not None


def _writeable(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.flags.writeable


def _scribble(step: Step, machine: Machine) -> None:
    """Destroy what the op destroys; in the reference run it had copies of its own."""
    if machine.is_reference or not step.context.scribbles:
        return
    machine.poison(step.scribble)
    for at in step.context.scribbles:
        port = step.inputs[at]
        if not isinstance(port, CellPort) or at in step.context.writes:
            continue
        value = port.cell.get()
        if isinstance(value, np.ndarray) and value.dtype.kind != "O" and value.size:
            machine.poison([value.reshape(-1).view(np.uint8)])


def _count(step: Step, machine: Machine, values: list[Any], results: Sequence[Any]) -> None:
    kind = step.kind
    if kind in ("join", "pack"):
        moved = sum(nbytes_of(value) for value in values) - step.in_place
    elif kind in ("split", "slice"):
        moved = sum(nbytes_of(result) for result in results) - step.in_place
    elif step.node.op in _WRITE_BACKS and len(values) > 1:
        moved = nbytes_of(values[1])
    else:
        return
    machine.copies.add(step.node, moved)
