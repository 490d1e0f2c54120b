"""Preparing a frame: ports, kernels and effects of every node, looked up once."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ge_core.api import (
    Call,
    Graph,
    Node,
    Region,
    Task,
    listed_order,
    output_parent_index,
    parent_index,
)
from ge_runtime.effects import aliases, changes, unread
from ge_runtime.layout import Layout
from ge_runtime.ports import ArenaPort, Port
from ge_runtime.steps import Context, Entry, Frame, Step
from ge_runtime.values import read_desc

if TYPE_CHECKING:
    from ge_runtime.machine import Machine

TASKLESS_KINDS: Final = frozenset({"data", "constant", "variable", "net_output", "noop"})


def prepare_frame(machine: Machine, graph: Graph, call: Call) -> Frame:
    """One graph on one call path, ready to run."""
    frame = Frame(call, graph)
    layout = machine.layout
    if layout is None:
        order = listed_order(graph)
        nodes = [node for node in order if machine.ops.kind(node) not in TASKLESS_KINDS]
        frame.steps = [_step(machine, call, node, None, at) for at, node in enumerate(nodes)]
    else:
        frame.steps = [
            _step(machine, call, graph.node(task.node), task, task.id)
            for task in layout.tasks_of(call, graph)
        ]
        _place_deaths(frame, layout)
    if call:
        for node in graph.data_nodes:
            index = parent_index(node)
            if index is not None and node.outputs:
                frame.entries.append(Entry(index, machine.port(call, node.outputs[0])))
    out = graph.net_output
    for anchor in () if out is None else out.inputs:
        assert out is not None
        if anchor.source is not None:
            at = output_parent_index(out, anchor.index) if call else anchor.index
            index = anchor.index if at is None else at
            frame.results.append((index, machine.port(call, anchor.source)))
    return frame


def _step(machine: Machine, call: Call, node: Node, task: Task | None, order: int) -> Step:
    ops = machine.ops
    traits = ops.traits(node)
    shared = aliases(node, ops)
    writes, scribbles = changes(node, ops)
    is_call = bool(node.subgraphs)
    is_move = traits.kind == "move" and len(node.inputs) >= len(node.outputs) > 0
    is_view = (
        not is_call
        and bool(node.outputs)
        and len(shared) == len(node.outputs)
        and not writes
        and not scribbles
    )
    label = "\0".join(node.origin) or node.name
    inputs: list[Port | None] = []
    for anchor in node.inputs:
        if anchor.source is None:
            inputs.append(None)
            continue
        region = _region(task.inputs, anchor.index) if task is not None else None
        inputs.append(machine.port(call, anchor.source, read_desc(anchor), region, task))
    outputs = [
        machine.port(
            call, output, None, _region(task.outputs, output.index) if task else None, task
        )
        for output in node.outputs
    ]
    # Without a kernel: that matters only if the node runs.
    entry = None if is_call or is_move else machine.kernels.find(node.op, machine.graph.source)
    step = Step(
        node=node,
        kind=traits.kind,
        is_move=is_move,
        label=label,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        context=Context(call, traits, label, writes, scribbles, shared),
        unread=unread(node, ops, writes),
        is_view=is_view,
        is_call=is_call,
        kernel=None if entry is None else machine.kernels.load(entry),
        owner=None if entry is None or entry.owner.builtin else str(entry.owner),
        task=order,
    )
    layout = machine.layout
    if layout is not None and task is not None and not is_call:
        step.poison = layout.poison_before(task, node, shared)
        if scribbles:
            kept = [at for at in scribbles if at not in shared.values()]
            step.scribble = layout.scribble(task, kept)
        step.in_place = _in_place(step)
    return step


def _region(regions: tuple[Region | None, ...], at: int) -> Region | None:
    return regions[at] if at < len(regions) else None


def _place_deaths(frame: Frame, layout: Layout) -> None:
    """Hang dead bytes on steps: behind the node that read them last.

    A node without a task has no step; what it read last is filled before the next one, or when the
    frame's results have been handed over. What a calling node itself reads last may be in use again
    inside, so it is filled at its end, as far as it is still dead then.
    """
    if not (layout.deaths.at_node or layout.deaths.at_end):
        return
    steps = {step.node: step for step in frame.steps}
    waiting: list[tuple[str, int, int]] = []
    for node in listed_order(frame.graph):
        place = (frame.call, node.name)
        dead = layout.deaths.at_node.get(place, [])
        step = steps.get(node)
        if step is None:
            waiting.extend(dead)
            continue
        step.before = layout.views(waiting)
        waiting = []
        step.after = layout.views(layout.deaths.at_end.get(place, []) if step.is_call else dead)
    frame.after = layout.views(waiting)


def _in_place(step: Step) -> int:
    """Bytes of a join's operands, or a split's pieces, that lie in the whole already."""
    whole: tuple[Port | None, ...]
    parts: tuple[Port | None, ...]
    if step.kind in ("join", "pack"):
        whole, parts = step.outputs[:1], step.inputs
    elif step.kind == "split":
        whole, parts = step.inputs[:1], step.outputs
    else:
        return 0
    if not whole or not isinstance(whole[0], ArenaPort) or whole[0].region.strided is not None:
        return 0
    return sum(
        part.region.bytes
        for part, place in zip(parts, _pieces(whole[0], parts), strict=True)
        if isinstance(part, ArenaPort) and place == _placement(part.region)
    )


Placement = tuple[int, int, int]
"""First byte, bytes, and bytes from one row to the next; 0 for a contiguous piece."""


def _placement(region: Region) -> Placement:
    return region.offset, region.bytes, 0 if region.strided is None else region.strided.pitch


def _pieces(whole: ArenaPort, parts: tuple[Port | None, ...]) -> list[Placement | None]:
    """Where the parts belong in a whole that they make up along one axis."""
    shape = whole.desc.shape or ()
    sizes = [part.region.bytes if isinstance(part, ArenaPort) else 0 for part in parts]
    shapes = [() if part is None else part.desc.shape or () for part in parts]
    if sum(sizes) != whole.region.bytes:
        return [None] * len(parts)
    # Along axes before the joined one every part is as long as the whole.
    joined = next(
        (
            at
            for at, dim in enumerate(shape)
            if any(len(part) != len(shape) or part[at] != dim for part in shapes)
        ),
        0,
    )
    rows = prod(shape[:joined])
    pitch = whole.region.bytes // rows if rows > 1 else 0
    places: list[Placement | None] = []
    start = whole.region.offset
    for size in sizes:
        places.append((start, size, pitch))
        start += size // max(rows, 1)
    return places
