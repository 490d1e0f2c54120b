"""A plain interpreter of ONNX graphs, every value in memory of its own: the oracle of the tests."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ge_core.ir import Graph, Node, OutputAnchor
from ge_onnx.kernels import compute, constant

Env = dict[OutputAnchor, Any]
Seen = Callable[[Node, list[Any]], None]


@dataclass
class Run:
    """One run: what random ops are seeded with, and who watches."""

    base: int = 0
    instance: tuple[Any, ...] = ()
    seen: Seen | None = field(default=None, repr=False)

    @property
    def seed(self) -> int:
        """Another number in every call and turn."""
        return zlib.crc32(repr((self.base, self.instance)).encode())

    def deeper(self, *where: Any) -> Run:
        """The run, inside a call or a turn of a loop."""
        return Run(self.base, (*self.instance, *where), self.seen)


def run(
    graph: Graph, feeds: Mapping[str, Any], *, seed: int = 0, seen: Seen | None = None
) -> dict[str, Any]:
    """Run a root graph; results by output name."""
    env: Env = {}
    for data in graph.data_nodes:
        name = data.output_names[0]
        env[data.outputs[0]] = feeds[name] if name in feeds else constant(data)[0]
    end = graph.net_output
    assert end is not None
    results = _body(graph, env, Run(seed, (), seen))
    return dict(zip(end.input_names, results, strict=True))


def _body(graph: Graph, env: Env, at: Run) -> list[Any]:
    results: list[Any] = []
    for node in graph.nodes:
        if node.op == "Data":
            continue
        inputs = [None if a.source is None else env[a.source] for a in node.inputs]
        if node.op == "NetOutput":
            results = inputs
            continue
        if node.op == "Const":
            outputs = constant(node)
        elif node.subgraphs:
            outputs = {"If": _if, "Loop": _loop, "Scan": _scan}[node.op](node, inputs, at)
        else:
            outputs = compute(node, inputs, at)
        if at.seen is not None:
            at.seen(node, outputs)
        env.update(zip(node.outputs, outputs, strict=True))
    return results


def _enter(graph: Graph, inputs: list[Any]) -> Env:
    return {d.outputs[0]: inputs[d.attrs["_parent_node_index"]] for d in graph.data_nodes}


def _if(node: Node, inputs: list[Any], at: Run) -> list[Any]:
    label = "then_branch" if bool(np.asarray(inputs[0]).reshape(-1)[0]) else "else_branch"
    graph = node.subgraphs[label]
    return _body(graph, _enter(graph, inputs), at.deeper(node.name))


def _loop(node: Node, inputs: list[Any], at: Run) -> list[Any]:
    body = node.subgraphs["body"]
    captured = len(inputs) - node.attrs["captured"]
    states, rest = inputs[2:captured], inputs[captured:]
    trips = None if inputs[0] is None else int(np.asarray(inputs[0]).reshape(-1)[0])
    going = True if inputs[1] is None else bool(np.asarray(inputs[1]).reshape(-1)[0])
    data = {d.attrs["_parent_node_index"]: d.outputs[0].desc for d in body.data_nodes}
    stacks: list[list[Any]] = [[] for _ in node.outputs[len(states) :]]
    turn = 0
    while going and (trips is None or turn < trips):
        number = np.full(data[0].shape or (), turn, np.int64)
        go = np.full(data[1].shape or (), going, bool)
        env = _enter(body, [number, go, *states, *rest])
        results = _body(body, env, at.deeper(node.name, turn))
        going = bool(np.asarray(results[0]).reshape(-1)[0])
        states = results[1 : 1 + len(states)]
        for stack, item in zip(stacks, results[1 + len(states) :], strict=True):
            stack.append(item)
        turn += 1
    outputs = node.outputs[len(states) :]
    return [*states, *(_stack(o, s, 0) for o, s in zip(outputs, stacks, strict=True))]


def _scan(node: Node, inputs: list[Any], at: Run) -> list[Any]:
    body = node.subgraphs["body"]
    captured = len(inputs) - node.attrs["captured"]
    scanned = node.attrs["onnx.num_scan_inputs"]
    first = captured - scanned
    states, scans, rest = inputs[:first], inputs[first:captured], inputs[captured:]
    count = len(node.outputs) - len(states)
    axes = node.attrs.get("onnx.scan_input_axes", [0] * scanned)
    ways = node.attrs.get("onnx.scan_input_directions", [0] * scanned)
    out_axes = node.attrs.get("onnx.scan_output_axes", [0] * count)
    out_ways = node.attrs.get("onnx.scan_output_directions", [0] * count)
    turns = scans[0].shape[axes[0]]
    stacks: list[list[Any]] = [[] for _ in range(count)]
    for turn in range(turns):
        items = [
            np.take(scan, turns - 1 - turn if way else turn, axis)
            for scan, axis, way in zip(scans, axes, ways, strict=True)
        ]
        results = _body(body, _enter(body, [*states, *items, *rest]), at.deeper(node.name, turn))
        states = results[: len(states)]
        for stack, item in zip(stacks, results[len(states) :], strict=True):
            stack.append(item)
    return [
        *states,
        *(
            _stack(output, stack[::-1] if way else stack, axis)
            for output, stack, axis, way in zip(
                node.outputs[len(states) :], stacks, out_axes, out_ways, strict=True
            )
        ),
    ]


def _stack(output: OutputAnchor, items: list[Any], axis: int) -> Any:
    if items:
        return np.stack(items, axis)
    shape = [max(size, 0) for size in output.desc.shape or ()]
    if shape:
        shape[axis] = 0
    return np.empty(shape, output.desc.dtype)
