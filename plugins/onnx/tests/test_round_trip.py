"""Random models, written again: onnxruntime can't tell them from the originals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from ge_core.api import read_graph, verify, write_graph
from ge_onnx.backend import OnnxBackend
from ge_onnx.frontend import OnnxFrontend

Runtime = Callable[[Path, dict[str, Any]], dict[str, Any]]
Interpret = Callable[..., dict[str, Any]]
SHAPE = [2, 3]
UNARY = ["Relu", "Neg", "Identity", "Tanh", "Abs"]


class Builder:
    """Draws nodes over tensors of one shape; inner graphs read values from outside."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.count = 0

    def fresh(self) -> str:
        """A name that no value has yet."""
        self.count += 1
        return f"v{self.count}"

    def pick(self, known: list[str]) -> str:
        """One of the values in reach."""
        return self.data.draw(st.sampled_from(known))

    def nodes(self, known: list[str], depth: int) -> tuple[list[onnx.NodeProto], list[str]]:
        """Some nodes, and the values that they add to `known`."""
        made: list[onnx.NodeProto] = []
        known = list(known)
        own: list[str] = []
        for _ in range(self.data.draw(st.integers(1, 4))):
            kinds = ["unary", "add", "join"] + (["if", "loop"] if depth < 2 else [])
            kind = self.data.draw(st.sampled_from(kinds))
            name = self.fresh()
            if kind == "unary":
                op = self.data.draw(st.sampled_from(UNARY))
                made.append(helper.make_node(op, [self.pick(known)], [name]))
            elif kind == "add":
                made.append(helper.make_node("Add", [self.pick(known), self.pick(known)], [name]))
            elif kind == "join":
                whole, rest = self.fresh(), self.fresh()
                pair = [self.pick(known), self.pick(known)]
                made.append(helper.make_node("Concat", pair, [whole], axis=0))
                made.append(helper.make_node("Split", [whole], [name, rest], axis=0))
                known.append(rest)
            else:
                made.append(self.control(kind, known, name, depth))
            known.append(name)
            own.append(name)
        return made, own

    def control(self, kind: str, known: list[str], name: str, depth: int) -> onnx.NodeProto:
        """An If or a Loop whose inner graphs read what is known outside."""
        if kind == "if":
            graphs = {
                label: self.graph(known, depth + 1, [], [])
                for label in ("then_branch", "else_branch")
            }
            return helper.make_node("If", ["c"], [name], **graphs)
        i, c, state, go = (self.fresh() for _ in range(4))
        inputs = [
            helper.make_tensor_value_info(i, TensorProto.INT64, []),
            helper.make_tensor_value_info(c, TensorProto.BOOL, []),
            helper.make_tensor_value_info(state, TensorProto.FLOAT, SHAPE),
        ]
        keep = helper.make_node("Identity", [c], [go])
        first = [helper.make_tensor_value_info(go, TensorProto.BOOL, [])]
        body = self.graph([*known, state], depth + 1, inputs, first, [keep])
        return helper.make_node("Loop", ["n", "", self.pick(known)], [name], body=body)

    def graph(
        self,
        known: list[str],
        depth: int,
        inputs: list[onnx.ValueInfoProto],
        outputs: list[onnx.ValueInfoProto],
        before: list[onnx.NodeProto] | None = None,
    ) -> onnx.GraphProto:
        """An inner graph with one more output of the common shape."""
        nodes, own = self.nodes(known, depth)
        result = helper.make_tensor_value_info(own[-1], TensorProto.FLOAT, SHAPE)
        return helper.make_graph([*(before or []), *nodes], "inner", inputs, [*outputs, result])


def random_model(data: st.DataObject) -> onnx.ModelProto:
    """A model over x, z [2, 3], a condition c and a count n."""
    builder = Builder(data)
    nodes, own = builder.nodes(["x", "z", "w"], 0)
    outputs = data.draw(st.lists(st.sampled_from(own), min_size=1, unique=True))
    shuffled = data.draw(st.permutations(nodes))
    graph = helper.make_graph(
        list(shuffled),
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, ["a", "b"]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, None]) for name in outputs],
        [helper.make_tensor("w", TensorProto.FLOAT, SHAPE, [1, -1, 2, -2, 3, -3])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@settings(max_examples=40)
@given(data=st.data())
def test_random_models(
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
    runtime: Runtime,
    interpret: Interpret,
) -> None:
    """Read, through JSON, written, without its moves: always the same outputs, bit by bit."""
    folder = tmp_path_factory.getbasetemp()
    (folder / "m.onnx").write_bytes(random_model(data).SerializeToString())
    graph = OnnxFrontend().load(folder / "m.onnx")
    verify(graph)
    interface = [(i.name, i.type) for i in onnx.load(folder / "m.onnx").graph.input]
    OnnxBackend().save(graph, folder / "plain.onnx")
    fewer = read_graph(write_graph(graph))
    for part in fewer.all_graphs():
        for node in part.nodes_of("TensorMove"):
            part.bypass(node)
    verify(fewer)
    OnnxBackend().save(fewer, folder / "fewer.onnx")
    generator = np.random.default_rng(0)
    feeds = {
        "x": generator.standard_normal(SHAPE).astype(np.float32),
        "z": generator.standard_normal(SHAPE).astype(np.float32),
        "c": np.array(data.draw(st.booleans())),
        "n": np.array(data.draw(st.integers(0, 3))),
    }
    expected = interpret(graph, feeds)
    for name in ("plain.onnx", "fewer.onnx"):
        onnx.checker.check_model(str(folder / name), full_check=True)
        written = onnx.load(folder / name).graph
        assert [(i.name, i.type) for i in written.input] == interface
        found = runtime(folder / name, feeds)
        assert list(found) == list(expected)
        assert all(np.allclose(found[k], expected[k], rtol=1e-6, atol=1e-6) for k in expected)
