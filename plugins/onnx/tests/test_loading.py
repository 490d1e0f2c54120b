"""The frontend: how a model's nodes, names, constants and control flow stand in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

from ge_core.api import Graph, Node
from ge_onnx.kernels import constant

Load = Callable[..., Graph]


def ops_of(graph: Graph) -> list[str]:
    """Op types in listing order."""
    return [node.op for node in graph.nodes]


def sources(node: Node) -> list[str | None]:
    """What feeds each input."""
    return [None if a.source is None else repr(a.source) for a in node.inputs]


def test_ops_get_the_graphs_names(load: Load) -> None:
    """Identity, Concat and Split get GE's names; other ops keep theirs, attributes get a prefix."""
    graph = load(
        """g (float[2,4] x) => (float[2,8] y, float[2,2] b) {
          [move] i = Identity(x)
          [join] y = Concat<axis = -1>(i, x)
          [parts] a, b = Split<axis = 1, num_outputs = 2>(x)
          [soft] s = Softmax<axis = 0>(a)
        }"""
    )
    assert graph.source == "onnx"
    found = {n.name: (n.op, n.attrs["_source_op"]) for n in graph.nodes if "_source_op" in n.attrs}
    assert found == {
        "move": ("TensorMove", "Identity"),
        "join": ("ConcatD", "Concat"),
        "parts": ("SplitD", "Split"),
        "soft": ("Softmax", "Softmax"),
    }
    assert graph.node("join").attrs["concat_dim"] == 1
    assert graph.node("parts").attrs["split_dim"] == 1
    assert graph.node("parts").attrs["num_split"] == 2
    assert graph.node("soft").attrs["onnx.axis"] == 0


def test_inputs_and_outputs(load: Load) -> None:
    """Inputs are Data by index, outputs are NetOutput's inputs under their names."""
    graph = load("g (float[2] a, int64[3] b) => (float[2] a, int64[3] c) { c = Neg(b) }")
    assert [(d.name, d.attrs["index"], repr(d.outputs[0].desc)) for d in graph.data_nodes] == [
        ("a", 0, "float32[2]"),
        ("b", 1, "int64[3]"),
    ]
    end = graph.net_output
    assert end is not None
    assert end.input_names == ("a", "c")
    assert sources(end) == ["a:0", "c:0"]


def test_nodes_are_listed_in_running_order(load: Load) -> None:
    """A file may list nodes in any order; where it is free, the graph keeps it."""
    graph = load(
        """g (float[2] x) => (float[2] y) {
          y = Add(b, a)
          c = Abs(x)
          b = Neg(a)
          a = Relu(x)
        }"""
    )
    assert [n.name for n in graph.nodes if n.op not in ("Data", "NetOutput")] == [
        "c",
        "a",
        "b",
        "y",
    ]


def test_node_names_are_unique(load: Load) -> None:
    """Nodes without a name are called after their result, equal names get a number."""
    graph = load(
        """g (float[2] x) => (float[2] z) {
          y = Neg(x)
          [n] w = Neg(y)
          [n] v = Neg(w)
          [x] z = Neg(v)
        }"""
    )
    assert [n.name for n in graph.nodes_of("Neg")] == ["y", "n", "n_1", "x_1"]
    assert graph.node("n_1").attrs["_onnx_name"] == "n"


def test_constants(load: Load) -> None:
    """Initializers and Constant nodes are Const with their bytes; a node is marked as one."""
    graph = load(
        """g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
          c = Constant<value_float = 0.5>()
          m = Mul(x, w)
          y = Add(m, c)
        }"""
    )
    assert graph.node("w").op == "Const"
    assert np.array_equal(constant(graph.node("w"))[0], np.array([1, 2], np.float32))
    assert "_source_op" not in graph.node("w").attrs
    assert graph.node("c").attrs["_source_op"] == "Constant"
    assert graph.node("c").attrs["_onnx_form"] == "value_float"
    assert np.array_equal(constant(graph.node("c"))[0], np.float32(0.5))


@pytest.mark.parametrize(
    ("form", "value", "dtype", "expected"),
    [
        ("value_int", 3, "int64", 3),
        ("value_ints", [3, -4], "int64", [3, -4]),
        ("value_float", 1.5, "float32", 1.5),
        ("value_floats", [1.5, 2.5], "float32", [1.5, 2.5]),
        ("value_string", "é", "string", "é"),
        ("value_strings", ["a", ""], "string", ["a", ""]),
    ],
)
def test_forms_of_constant_nodes(
    load: Load, form: str, value: Any, dtype: str, expected: Any
) -> None:
    """Every attribute that a Constant may hold its value in is read."""
    node = helper.make_node("Constant", [], ["c"], **{form: value})
    out = helper.make_tensor_value_info("c", onnx.TensorProto.UNDEFINED, None)
    graph = load(model([node], [], [out]))
    desc = graph.node("c").outputs[0].desc
    assert (desc.dtype, desc.shape) == (dtype, np.shape(expected))
    assert constant(graph.node("c"))[0].tolist() == expected


def test_sparse_constants_are_filled_in(load: Load) -> None:
    """A sparse initializer is a dense Const; both forms of indices mean the same."""
    values = helper.make_tensor("s", TensorProto.FLOAT, [2], [5.0, 6.0])
    flat = helper.make_tensor("i", TensorProto.INT64, [2], [1, 5])
    rows = helper.make_tensor("i", TensorProto.INT64, [2, 2], [0, 1, 1, 2])
    expected = np.array([[0, 5, 0], [0, 0, 6]], np.float32)
    for indices in (flat, rows):
        message = parser.parse_model(
            '<ir_version: 8, opset_import: ["": 20]>'
            "g (float[2,3] x) => (float[2,3] y) { y = Add(x, s) }"
        )
        message.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 3]))
        assert np.array_equal(constant(load(message).node("s"))[0], expected)


def test_initializer_that_is_an_input(load: Load) -> None:
    """Since IR version 4 it is an input's default; before, a constant that had to be listed."""
    text = (
        '<ir_version: %d, opset_import: ["": 9]> '
        "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    )
    newer = load(parser.parse_model(text % 4))
    assert [d.name for d in newer.data_nodes] == ["x", "w"]
    assert np.array_equal(constant(newer.node("w"))[0], np.array([1, 2], np.float32))
    older = load(parser.parse_model(text % 3))
    assert [d.name for d in older.data_nodes] == ["x"]
    assert older.node("w").op == "Const"
    assert older.node("w").attrs["_onnx_input"]["at"] == 1


def test_split_sizes_are_an_attribute_in_every_opset(load: Load) -> None:
    """Constant sizes of a Split are found in one place, and nobody else's constant is lost."""
    for text in (
        '<ir_version: 8, opset_import: ["": 11]> '
        "g (float[5] x) => (float[2] a, float[3] b) { a, b = Split<split = [2, 3]>(x) }",
        '<ir_version: 8, opset_import: ["": 13]> '
        "g (float[5] x) => (float[2] a, float[3] b) <int64[2] s = {2, 3}>"
        "{ a, b = Split(x, s) }",
        '<ir_version: 8, opset_import: ["": 13]> '
        "g (float[5] x, int64[2] t) => (float[2] a, float[3] b, int64[2] u)"
        "<int64[2] s = {2, 3}> { a, b = Split(x, s) u = Add(s, t) }",
    ):
        node = load(parser.parse_model(text)).node("a")
        assert node.op == "SplitVD"
        assert node.attrs["size_splits"] == [2, 3]
        assert sources(node) == ["x:0"]


def test_computed_split_sizes_stay_an_input(load: Load) -> None:
    """Sizes that are known only at run time can't be an attribute."""
    graph = load("g (float[5] x, int64[2] s) => (float[n] a, float[m] b) { a, b = Split(x, s) }")
    assert graph.node("a").op == "SplitVD"
    assert "size_splits" not in graph.node("a").attrs
    assert sources(graph.node("a")) == ["x:0", "s:0"]


def test_reshapes_share_their_inputs_memory(load: Load) -> None:
    """Reshape, Flatten, Squeeze and Unsqueeze are views of input 0."""
    graph = load(
        """g (float[1,6] x) => (float[6] d) <int64[2] s = {2, 3}, int64[1] ax = {0}> {
          a = Reshape(x, s)
          b = Flatten<axis = 0>(a)
          c = Unsqueeze(b, ax)
          e = Squeeze(c, ax)
          d = Squeeze(e, ax)
        }"""
    )
    views = [n for n in graph.nodes if n.outputs and n.outputs[0].desc.reuse_input == 0]
    assert [n.op for n in views] == ["Reshape", "Flatten", "Unsqueeze", "Squeeze", "Squeeze"]


def test_optional_inputs_and_outputs(load: Load) -> None:
    """An input left out is an unconnected anchor; an output left out takes no memory."""
    graph = load(
        """g (float[3,1,4] x, float[1,8,4] w, float[1,8,2] r, float[1,1,2] h)
             => (float[1,1,2] c) {
          , , c = LSTM<hidden_size = 2>(x, w, r, , , h)
        }"""
    )
    node = graph.node("c")
    assert sources(node) == ["x:0", "w:0", "r:0", None, None, "h:0"]
    assert [repr(o.desc) for o in node.outputs] == ["uint8[0]", "uint8[0]", "float32[1x1x2]"]


def test_other_domains(load: Load) -> None:
    """Ops of other domains carry their domain; what is declared of their results is believed."""
    graph = load(
        parser.parse_model(
            '<ir_version: 8, opset_import: ["": 20, "acme": 1]> '
            "g (float[2] x) => (float[2] z) <float[4,2] y> { y = acme.Wide<k = 2>(x) "
            "z = acme.Back(y) }"
        )
    )
    assert graph.node("y").op == "acme::Wide"
    assert graph.node("y").attrs["onnx.k"] == 2
    assert repr(graph.node("y").outputs[0].desc) == "float32[4x2]"


# ---- control flow --------------------------------------------------------------------------------


def test_if_hands_captures_in_as_inputs(load: Load) -> None:
    """Outer values become trailing inputs, counted by `captured`; both branches share them."""
    graph = load(
        """g (bool c, float[2] x, float[2] z) => (float[2] y) {
          y = If(c) <
            then_branch = t () => (float[2] a) { a = Add(x, z) },
            else_branch = e () => (float[2] b) { b = Neg(z) }
          >
        }"""
    )
    node = graph.node("y")
    assert sources(node) == ["c:0", "x:0", "z:0"]
    assert node.attrs["captured"] == 2
    assert list(node.subgraphs) == ["then_branch", "else_branch"]
    inner = {
        label: [(d.attrs["_parent_node_index"], repr(d.outputs[0].desc)) for d in sub.data_nodes]
        for label, sub in node.subgraphs.items()
    }
    assert inner == {
        "then_branch": [(1, "float32[2]"), (2, "float32[2]")],
        "else_branch": [(2, "float32[2]")],
    }
    end = node.subgraphs["then_branch"].net_output
    assert end is not None
    assert end.inputs[0].desc is not None
    assert end.inputs[0].desc.attrs["_parent_node_index"] == 0


def test_loop_numbers_its_body_as_onnx_does(load: Load) -> None:
    """Body Data: iteration, condition, carried values, captures; what is absent is None."""
    graph = load(
        """g (float[2] x, float[2] k) => (float[2] f, float[n,2] s) {
          f, s = Loop(, , x) <body = b (int64 i, bool c, float[2] v)
            => (bool co, float[2] vo, float[2] so) {
              co = Not(c) vo = Add(v, k) so = Neg(v)
          }>
        }"""
    )
    node = graph.node("f")
    assert sources(node) == [None, None, "x:0", "k:0"]
    body = node.subgraphs["body"]
    assert [(d.attrs["_parent_node_index"], repr(d.outputs[0].desc)) for d in body.data_nodes] == [
        (0, "int64[]"),
        (1, "bool[]"),
        (2, "float32[2]"),
        (3, "float32[2]"),
    ]
    end = body.net_output
    assert end is not None
    assert [a.own_desc and a.own_desc.attrs["_parent_node_index"] for a in end.inputs] == [0, 1, 2]
    assert [repr(o.desc) for o in node.outputs] == ["float32[2]", "float32[?x2]"]


def test_loop_outputs_that_the_node_leaves_out(load: Load) -> None:
    """A carried value needs its slot even where nobody names the loop's result for it."""
    graph = load(
        """g (int64 n, float[2] x, float[3] y) => (float[2] f) {
          f = Loop(n, , x, y) <body = b (int64 i, bool c, float[2] v, float[3] w)
            => (bool co, float[2] vo, float[3] wo) {
              co = Identity(c) vo = Neg(v) wo = Neg(w)
          }>
        }"""
    )
    assert [repr(o.desc) for o in graph.node("f").outputs] == ["float32[2]", "float32[3]"]
    assert graph.node("f").output_names == ("f", "")


def test_captures_pass_through_every_level(load: Load) -> None:
    """A value read three levels down is handed in by each node between."""
    graph = load(
        """g (bool c, float[2] x) => (float[2] y) {
          y = If(c) <
            then_branch = t () => (float[2] a) {
              a = If(c) <
                then_branch = tt () => (float[2] aa) { aa = Neg(x) },
                else_branch = te () => (float[2] ab) { ab = Identity(x) }
              >
            },
            else_branch = e () => (float[2] b) { b = Identity(x) }
          >
        }"""
    )
    assert sources(graph.node("y")) == ["c:0", "c:0", "x:0"]
    inner = graph.node("a")
    data = {d.outputs[0].name: d.name for d in graph.node("y").subgraphs["then_branch"].data_nodes}
    assert sources(inner) == [f"{data['c']}:0", f"{data['x']}:0"]
    assert inner.attrs["captured"] == 1


def test_inner_names_hide_outer_ones(load: Load) -> None:
    """A name that an inner graph defines means its own value there, even when listed later."""
    graph = load(
        """g (bool c, float[2] x) => (float[2] y) {
          u = Neg(x)
          y = If(c) <
            then_branch = t () => (float[2] a) { a = Abs(u) u = Exp(x) },
            else_branch = e () => (float[2] b) { b = Abs(u) }
          >
        }"""
    )
    then = graph.node("y").subgraphs["then_branch"]
    assert then.nodes_of("Abs")[0].inputs[0].source is then.nodes_of("Exp")[0].outputs[0]
    other = graph.node("y").subgraphs["else_branch"]
    assert other.nodes_of("Abs")[0].in_nodes[0].op == "Data"


def test_a_node_waits_for_what_its_graphs_capture(load: Load) -> None:
    """Captures count as reads when nodes are put in order."""
    graph = load(
        """g (bool c, float[2] x) => (float[2] y) {
          y = If(c) <
            then_branch = t () => (float[2] a) { a = Neg(u) },
            else_branch = e () => (float[2] b) { b = Abs(u) }
          >
          u = Exp(x)
        }"""
    )
    assert ops_of(graph) == ["Data", "Data", "Exp", "If", "NetOutput"]


def test_graph_ops_are_expanded(load: Load, interpret: Callable[..., dict[str, Any]]) -> None:
    """SequenceMap is the Loop that its definition says."""
    graph = load(
        """g (seq(float[2]) s, float[2] x) => (seq(float[2]) r) {
          r = SequenceMap(s, x) <body = b (float[2] i, float[2] k) => (float[2] o) {
            o = Add(i, k)
          }>
        }"""
    )
    assert "Loop" in ops_of(graph)
    one = np.ones(2, np.float32)
    found = interpret(graph, {"s": [one, 2 * one], "x": one})["r"]
    assert [item.tolist() for item in found] == [[2.0, 2.0], [3.0, 3.0]]


def model(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    opset: int = 20,
) -> onnx.ModelProto:
    """A model of these nodes."""
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
