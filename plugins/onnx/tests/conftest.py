"""What the tests share: models from ONNX's text form, an interpreter, onnxruntime as the oracle."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]  # has no stubs
import pytest
from onnx import parser

from ge_core.api import Graph, Node, OutputAnchor, verify
from ge_onnx.backend import OnnxBackend
from ge_onnx.frontend import OnnxFrontend
from ge_onnx.kernels import compute, constant

Env = dict[OutputAnchor, Any]
Seen = Callable[[Node, Sequence[Any]], None]
Interpret = Callable[..., dict[str, Any]]
Load = Callable[..., Graph]
Save = Callable[[Graph], Path]
Runtime = Callable[[Path, Mapping[str, Any]], dict[str, Any]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a model from ONNX's text form (a header for opset 20 is added) or from a message."""

    def read(model: str | onnx.ModelProto, **shapes: Sequence[int]) -> Graph:
        path = write_model(tmp_path / "model.onnx", model)
        graph = OnnxFrontend().load(path, input_shapes=shapes)
        verify(graph)
        return graph

    return read


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Save a graph and check the file with onnx's checker; answers the path."""

    def write(graph: Graph) -> Path:
        path = tmp_path / "saved.onnx"
        OnnxBackend().save(graph, path)
        onnx.checker.check_model(str(path), full_check=True)
        return path

    return write


@pytest.fixture(scope="session")
def runtime() -> Runtime:
    """Run a model file in onnxruntime without its optimisations; results by name."""

    def run(path: Path, feeds: Mapping[str, Any]) -> dict[str, Any]:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, dict(feeds)), strict=True))

    return run


@pytest.fixture(scope="session")
def interpret() -> Interpret:
    """Run a graph node by node, every value in memory of its own; results by output name."""
    return run_graph


def parse(text: str) -> onnx.ModelProto:
    """A model from ONNX's text form; without a header it is of opset 20."""
    if not text.lstrip().startswith("<"):
        text = '<ir_version: 10, opset_import: ["": 20]>\n' + text
    return parser.parse_model(text)


def write_model(path: Path, model: str | onnx.ModelProto) -> Path:
    """Write a model file, unchecked."""
    message = parse(model) if isinstance(model, str) else model
    path.write_bytes(message.SerializeToString())
    return path


# ---- the interpreter -----------------------------------------------------------------------------


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


def run_graph(
    graph: Graph, feeds: Mapping[str, Any], *, seed: int = 0, seen: Seen | None = None
) -> dict[str, Any]:
    """Run a root graph; an input that isn't fed has its default."""
    env: Env = {}
    for data in graph.data_nodes:
        name = data.output_names[0]
        env[data.outputs[0]] = feeds[name] if name in feeds else constant(data)[0]
    end = graph.net_output
    assert end is not None
    return dict(zip(end.input_names, _body(graph, env, Run(seed, (), seen)), strict=True))


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
    outputs = node.outputs[len(states) :]
    stacks: list[list[Any]] = [[] for _ in outputs]
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
    return [*states, *(_stack(o, s, 0) for o, s in zip(outputs, stacks, strict=True))]


def _scan(node: Node, inputs: list[Any], at: Run) -> list[Any]:
    body = node.subgraphs["body"]
    captured = len(inputs) - node.attrs["captured"]
    scanned = node.attrs["onnx.num_scan_inputs"]
    first = captured - scanned
    states, scans, rest = inputs[:first], inputs[first:captured], inputs[captured:]
    outputs = node.outputs[len(states) :]
    axes = node.attrs.get("onnx.scan_input_axes", [0] * scanned)
    ways = node.attrs.get("onnx.scan_input_directions", [0] * scanned)
    out_axes = node.attrs.get("onnx.scan_output_axes", [0] * len(outputs))
    out_ways = node.attrs.get("onnx.scan_output_directions", [0] * len(outputs))
    turns = scans[0].shape[axes[0]]
    stacks: list[list[Any]] = [[] for _ in outputs]
    for turn in range(turns):
        items = [
            np.take(scan, turns - 1 - turn if way else turn, axis)
            for scan, axis, way in zip(scans, axes, ways, strict=True)
        ]
        results = _body(body, _enter(body, [*states, *items, *rest]), at.deeper(node.name, turn))
        states = results[: len(states)]
        for stack, item in zip(stacks, results[len(states) :], strict=True):
            stack.append(item)
    parts = zip(outputs, stacks, out_axes, out_ways, strict=True)
    return [*states, *(_stack(o, s[::-1] if way else s, axis) for o, s, axis, way in parts)]


def _stack(output: OutputAnchor, items: list[Any], axis: int) -> Any:
    if items:
        return np.stack(items, axis)
    shape = [max(size, 0) for size in output.desc.shape or ()]
    if shape:
        shape[axis] = 0
    return np.empty(shape, output.desc.dtype)
