"""The backend: graphs become valid models with the interface of the one they came from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from ge_core.api import Graph, GraphBuilder, InputFileError, Plan, UsageError, read_graph
from ge_core.api import write_graph as to_json
from ge_onnx.backend import OnnxBackend

Load = Callable[..., Graph]
Save = Callable[[Graph], Path]
Runtime = Callable[[Path, dict[str, Any]], dict[str, Any]]
X = np.array([1, -2, 3], np.float32)


def nodes_of(path: Path) -> list[tuple[str, list[str], list[str]]]:
    """Op type, inputs and outputs of a file's nodes."""
    graph = onnx.load(path).graph
    return [(node.op_type, list(node.input), list(node.output)) for node in graph.node]


def test_nothing_of_a_model_is_lost(load: Load, save: Save) -> None:
    """Names, notes, opsets, declared types and metadata are written as they were read."""
    message = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 19, "acme": 3], producer_name: "p", '
        'producer_version: "1", domain: "d", model_version: 5, doc_string: "about"> '
        "net (float[N,3] x, int64[?] k) => (float[N,3] y, int64[m] z) "
        "<float[3] w = {1, 2, 3}, float[N,3] t> "
        "{ [a] t = Add(x, w) [b] y = Sigmoid(t) [c] z = Identity(k) }"
    )
    message.graph.doc_string = "a graph"
    message.graph.node[0].doc_string = "a node"
    message.graph.node[1].metadata_props.add(key="k", value="v")
    message.graph.input[0].doc_string = "an input"
    message.graph.initializer[0].doc_string = "a weight"
    message.metadata_props.add(key="author", value="me")
    written = onnx.load(save(load(message)))
    assert _plain(written) == _plain(message)


def _plain(message: onnx.ModelProto) -> str:
    """A model as text, however its weights are stored."""
    copy = onnx.ModelProto()
    copy.CopyFrom(message)
    for tensor in copy.graph.initializer:
        dense = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name)
        dense.doc_string = tensor.doc_string
        tensor.CopyFrom(dense)
    return str(copy).replace('doc_string: ""\n', "")


def test_the_json_form_says_it_all(load: Load, save: Save, tmp_path: Path) -> None:
    """A graph that has been JSON is written byte for byte like the graph itself."""
    graph = load(
        """g (bool c, float[n] x, float[2] w) => (float[n] y, float[2] b) <float[2] w = {1, 2}> {
          k = Constant<value_floats = [1.5]>()
          s = Mul(x, k)
          y = If(c) <
            then_branch = t () => (float[n] a) { a = Neg(s) },
            else_branch = e () => (float[n] b0) { b0 = Elu<alpha = 0.5>(s) }
          >
          b = Identity(w)
        }"""
    )
    direct = save(graph).read_bytes()
    again = read_graph(json.loads(json.dumps(to_json(graph))))
    assert save(again).read_bytes() == direct


def test_producers_take_the_name_of_the_output(load: Load, save: Save, runtime: Runtime) -> None:
    """When an Identity before an output goes, its source is written under the output's name."""
    graph = load(
        "g (float[3] x) => (float[3] y, float[3] z) { a = Relu(x) y = Identity(a) z = Neg(a) }"
    )
    graph.bypass(graph.node("y"))
    path = save(graph)
    assert nodes_of(path) == [("Relu", ["x"], ["y"]), ("Neg", ["y"], ["z"])]
    assert runtime(path, {"x": X})["y"].tolist() == [1, 0, 3]


def test_values_that_are_two_outputs(load: Load, save: Save, runtime: Runtime) -> None:
    """ONNX has one name per value: the second output, an input or a weight needs an Identity."""
    graph = load(
        """g (float[3] x) => (float[3] a, float[3] b, float[3] c, float[3] d, float[3] e)
        <float[3] w = {4, 5, 6}> {
          a = Neg(x) b = Identity(a) c = Identity(x) d = Identity(w) e = Identity(b)
        }"""
    )
    for name in "bcde":
        graph.bypass(graph.node(name))
    path = save(graph)
    assert nodes_of(path) == [
        ("Neg", ["x"], ["a"]),
        ("Identity", ["a"], ["b"]),
        ("Identity", ["x"], ["c"]),
        ("Identity", ["w"], ["d"]),
        ("Identity", ["a"], ["e"]),
    ]
    found = runtime(path, {"x": X})
    assert {name: value.tolist() for name, value in found.items()} == {
        "a": [-1, 2, -3],
        "b": [-1, 2, -3],
        "c": [1, -2, 3],
        "d": [4, 5, 6],
        "e": [-1, 2, -3],
    }


def test_an_input_that_is_an_output(load: Load, save: Save) -> None:
    """Under its own name an input is an output without a node, as it was in the file."""
    graph = load("g (float[3] x) => (float[3] y, float[3] x) { y = Neg(x) }")
    assert nodes_of(save(graph)) == [("Neg", ["x"], ["y"])]


def test_captures_are_captures_again(load: Load, save: Save, runtime: Runtime) -> None:
    """Trailing inputs turn back into names, those of what is left when Identity nodes go."""
    graph = load(
        """g (bool c, float[3] x) => (float[3] y) {
          i = Identity(x)
          y = If(c) <
            then_branch = t () => (float[3] a) { a = Neg(i) },
            else_branch = e () => (float[3] b) { b = Identity(i) }
          >
        }"""
    )
    graph.bypass(graph.node("i"))
    branch = graph.node("y").subgraphs["else_branch"]
    branch.bypass(graph.node("b"))
    path = save(graph)
    (node,) = onnx.load(path).graph.node
    assert list(node.input) == ["c"]
    inner = {a.name: [(n.op_type, list(n.input)) for n in a.g.node] for a in node.attribute}
    # A branch can't hand on a value from outside under its own name.
    assert inner == {"then_branch": [("Neg", ["x"])], "else_branch": [("Identity", ["x"])]}
    for c, expected in ((True, [-1, 2, -3]), (False, [1, -2, 3])):
        assert runtime(path, {"c": np.array(c), "x": X})["y"].tolist() == expected


def test_loop_bodies_that_hand_on_inputs(load: Load, save: Save, runtime: Runtime) -> None:
    """Carried values that are swapped without a node between them."""
    graph = load(
        """g (int64 n, float[3] x, float[3] z) => (float[3] p, float[3] q) {
          p, q = Loop(n, , x, z) <body = b (int64 i, bool c, float[3] a, float[3] b)
            => (bool co, float[3] ao, float[3] bo) {
              co = Identity(c) ao = Identity(b) bo = Identity(a)
          }>
        }"""
    )
    body = graph.node("p").subgraphs["body"]
    for name in ("co", "ao", "bo"):
        body.bypass(graph.node(name))
    found = runtime(save(graph), {"n": np.array(3), "x": X, "z": -X})
    assert found["p"].tolist() == [-1, 2, -3]
    assert found["q"].tolist() == [1, -2, 3]


def test_names_of_inner_graphs_hide_nothing(load: Load, save: Save, runtime: Runtime) -> None:
    """Inner values that were called like outer ones get names of their own."""
    graph = load(
        """g (bool c, float[3] x) => (float[3] y) {
          u = Neg(x)
          y = If(c) <
            then_branch = t () => (float[3] a) { u = Exp(x) a = Abs(u) },
            else_branch = e () => (float[3] b) { b = Abs(u) }
          >
        }"""
    )
    names: list[str] = []
    todo = [onnx.load(save(graph)).graph]
    while todo:
        for node in todo.pop().node:
            names.extend(node.output)
            todo.extend(a.g for a in node.attribute if a.HasField("g"))
    assert len(names) == len(set(names)) == 5


def test_edges_that_only_order(load: Load, save: Save) -> None:
    """ONNX has no control edges; nodes are listed so that they hold."""
    graph = load("g (float[3] x) => (float[3] a, float[3] b) { a = Neg(x) b = Abs(x) }")
    graph.add_control(graph.node("b"), graph.node("a"))
    assert [op for op, _, _ in nodes_of(save(graph))] == ["Abs", "Neg"]


def test_ordering_nodes_are_left_out(load: Load, save: Save) -> None:
    """A NoOp that passes put in has no ONNX form and needs none."""
    graph = load("g (float[3] x) => (float[3] a, float[3] b) { a = Neg(x) b = Abs(x) }")
    noop = graph.add_node("NoOp", "barrier", control_inputs=[graph.node("b")])
    graph.add_control(noop, graph.node("a"))
    assert [op for op, _, _ in nodes_of(save(graph))] == ["Abs", "Neg"]


@pytest.mark.parametrize(
    ("opset", "inputs", "attributes"),
    [(11, 1, {"axis": 0, "split": [2, 1]}), (13, 2, {"axis": 0}), (18, 2, {"axis": 0})],
)
def test_split_sizes_are_spelled_as_the_opset_does(
    load: Load, save: Save, opset: int, inputs: int, attributes: dict[str, Any]
) -> None:
    """Sizes are an attribute before opset 13, an input since."""
    node = (
        "a, b = Split<axis = 0, split = [2, 1]>(x)"
        if opset == 11
        else "s = Constant<value_ints = [2, 1]>() a, b = Split<axis = 0>(x, s)"
    )
    graph = load(
        parser.parse_model(
            f'<ir_version: 8, opset_import: ["": {opset}]> '
            f"g (float[3] x) => (float[2] a, float[1] b) {{ {node} }}"
        )
    )
    (found,) = (n for n in onnx.load(save(graph)).graph.node if n.op_type == "Split")
    assert len(found.input) == inputs
    assert {a.name: helper.get_attribute_value(a) for a in found.attribute} == attributes


def test_uneven_splits_ask_for_a_count_again(load: Load, save: Save) -> None:
    """Sizes that only follow from a count are written as the count."""
    graph = load("g (float[5] x) => (float[3] a, float[2] b) { a, b = Split<num_outputs = 2>(x) }")
    assert graph.node("a").attrs["size_splits"] == [3, 2]
    (found,) = onnx.load(save(graph)).graph.node
    assert list(found.input) == ["x"]
    assert {a.name: a.i for a in found.attribute} == {"axis": 0, "num_outputs": 2}


def test_shared_split_sizes_stay_shared(load: Load, save: Save) -> None:
    """One constant for many splits is one constant again, under its name."""
    graph = load(
        """g (float[3] x) => (float[2] a, float[1] b, float[2] c, float[1] d)
        <int64[2] sizes = {2, 1}> { a, b = Split(x, sizes) c, d = Split(x, sizes) }"""
    )
    message = onnx.load(save(graph))
    assert [t.name for t in message.graph.initializer] == ["sizes"]
    assert [list(n.input) for n in message.graph.node] == [["x", "sizes"], ["x", "sizes"]]


def test_nodes_of_another_opset(load: Load, tmp_path: Path) -> None:
    """What a function computed by an older opset stays so, in a function of its own."""
    graph = load(
        parser.parse_model(
            '<ir_version: 10, opset_import: ["": 20, "my": 1]> '
            "g (float[2,3,4] x) => (float[2,3,4] y) { y = my.F(x) } "
            '<opset_import: ["": 11], domain: "my"> F (i) => (o) '
            "{ t = Softsign(i) o = Softmax<axis = 1>(t) }"
        )
    )
    # Not through the checker, which refuses functions of opsets that mix.
    OnnxBackend().save(graph, tmp_path / "mixed.onnx")
    message = onnx.load(tmp_path / "mixed.onnx")
    assert [(n.domain, n.op_type) for n in message.graph.node] == [
        ("", "Softsign"),
        ("ge.opsets", "Softmax_11_0"),
    ]
    (function,) = message.functions
    assert [(i.domain, i.version) for i in function.opset_import] == [("", 11)]
    again = load(message)
    assert again.nodes_of("Softmax")[0].attrs["_onnx_opset"] == 11


def test_metadata_and_plan(load: Load, tmp_path: Path) -> None:
    """Entries given are added, replace older ones, and the plan is summed up."""
    message = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[3] x) => (float[3] y) { y = Neg(x) }'
    )
    message.metadata_props.add(key="ge.plan", value="an older one")
    message.metadata_props.add(key="author", value="me")
    graph = load(message)
    plan = Plan.from_json(
        {
            "schema": "ge-plan/1",
            "target": "generic",
            "level": "O3",
            "options": {},
            "pools": {"HBM": {"bytes": 64, "lower_bound": 32, "no_reuse": 64, "optimal": False}},
            "tensors": [],
            "workspace": [],
            "unplanned": ["a:0"],
        }
    )
    OnnxBackend().save(graph, tmp_path / "m.onnx", plan=plan, metadata={"ge.level": "O3"})
    found = {e.key: e.value for e in onnx.load(tmp_path / "m.onnx").metadata_props}
    assert json.loads(found.pop("ge.plan")) == {
        "schema": "ge-plan-summary/1",
        "pools": {"HBM": {"bytes": 64, "lower_bound": 32}},
        "unplanned": 1,
    }
    assert found == {"author": "me", "ge.level": "O3"}


def test_graphs_from_ge_are_refused(tmp_path: Path) -> None:
    """GE's ops have no ONNX form."""
    builder = GraphBuilder()
    builder.net_output(builder.data("x"))
    with pytest.raises(UsageError, match="from GE"):
        OnnxBackend().save(builder.graph, tmp_path / "m.onnx")


def test_ops_without_a_form_are_refused(load: Load, tmp_path: Path) -> None:
    """A node that no ONNX op stands for is named, and nothing is written."""
    graph = load("g (float[3] x) => (float[3] y) { y = Neg(x) }")
    end = graph.net_output
    assert end is not None
    made = graph.add_node(
        "PartitionedCall", "call", [graph.node("y").outputs[0]], [graph.node("y").outputs[0].desc]
    )
    graph.rewire(end.inputs[0], made.outputs[0])
    with pytest.raises(InputFileError, match="op 'PartitionedCall' has no ONNX form") as caught:
        OnnxBackend().save(graph, tmp_path / "out.onnx")
    assert caught.value.node == "call"
    assert not (tmp_path / "out.onnx").exists()


def test_deep_nesting_is_refused(load: Load, tmp_path: Path) -> None:
    """Graphs nested deeper than protobuf reads are an error, not a file that nobody can open."""
    message = parser.parse_model(
        '<ir_version: 10, opset_import: ["": 20, "my": 1]> '
        "g (bool c, float[2] x) => (float[2] y) { y = my.f40(c, x) }"
    )
    for at in range(41):
        call = f"a = my.f{at - 1}(c, i)" if at else "a = Neg(i)"
        message.functions.append(
            parser.parse_function(
                f'<opset_import: ["": 20, "my": 1], domain: "my"> f{at} (c, i) => (o) {{ '
                f"o = If(c) <then_branch = t () => (float[2] a) {{ {call} }}, "
                "else_branch = e () => (float[2] b) { b = Abs(i) }> }"
            )
        )
    with pytest.raises(InputFileError, match="nested more than"):
        OnnxBackend().save(load(message), tmp_path / "out.onnx")


def test_files_appear_whole(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older file stays until the new one is complete; no temporary file is left behind."""
    graph = load("g (float[3] x) => (float[3] y) { y = Neg(x) }")
    target = tmp_path / "out" / "m.onnx"
    with pytest.raises(InputFileError, match="can't be written"):
        OnnxBackend().save(graph, target)
    target.parent.mkdir()
    target.write_bytes(b"older")

    def fail(*_: object) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(InputFileError, match="no space"):
            OnnxBackend().save(graph, target)
    assert target.read_bytes() == b"older"
    assert [p.name for p in target.parent.iterdir()] == ["m.onnx"]
    OnnxBackend().save(graph, target)
    assert [op for op, _, _ in nodes_of(target)] == ["Neg"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("onnx.model", "none"),
        ("onnx.model", {"opset_imports": 7}),
        ("onnx.model", {"metadata": [1]}),
        ("onnx.value_info", [{"name": "y", "type": {"proto": b"\xff\xff"}}]),
        ("onnx.quantization", [b"\xff\xff"]),
        ("onnx.doc_string", 5),
    ],
)
def test_damaged_graph_attributes(load: Load, tmp_path: Path, name: str, value: Any) -> None:
    """A graph whose notes somebody spoilt is refused with one error."""
    graph = load("g (float[3] x) => (float[3] z) { y = Neg(x) z = Neg(y) }")
    graph.set_graph_attr(name, value)
    with pytest.raises(InputFileError) as caught:
        OnnxBackend().save(graph, tmp_path / "out.onnx")
    assert caught.value.file == str(tmp_path / "out.onnx")


def test_constants_without_a_value(load: Load, tmp_path: Path) -> None:
    """A Const whose bytes are gone can't be written."""
    graph = load("g (float[1] x) => (float[1] y) <float[1] w = {1}> { y = Add(x, w) }")
    graph.set_value(graph.node("w"), None)
    with pytest.raises(InputFileError, match="no value") as caught:
        OnnxBackend().save(graph, tmp_path / "out.onnx")
    assert (caught.value.node, caught.value.field) == ("w", "value")


@pytest.mark.parametrize(
    "form",
    [
        {"value_int": 3},
        {"value_ints": [1, 2]},
        {"value_ints": []},
        {"value_float": 0.5},
        {"value_floats": [0.5]},
        {"value_string": "a"},
        {"value_strings": ["a", "b"]},
        {"value": helper.make_tensor("v", onnx.TensorProto.INT4, [3], [1, -2, 3])},
        {
            "sparse_value": helper.make_sparse_tensor(
                helper.make_tensor("v", 1, [1], [2.0]), helper.make_tensor("i", 7, [1], [1]), [3]
            )
        },
    ],
    ids=lambda form: next(iter(form)),
)
def test_constant_nodes_keep_their_form(load: Load, tmp_path: Path, form: dict[str, Any]) -> None:
    """A Constant node is one again, its value under the attribute that it came in."""
    node = helper.make_node("Constant", [], ["c"], "c")
    for name, value in form.items():
        kind = onnx.AttributeProto.INTS if value == [] else None
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
    out = helper.make_empty_tensor_value_info("c")
    graph = helper.make_graph([node], "g", [], [out])
    message = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    OnnxBackend().save(load(message), tmp_path / "c.onnx")
    (found,) = onnx.load(tmp_path / "c.onnx").graph.node
    (attribute,) = found.attribute
    (given,) = node.attribute
    assert (attribute.name, attribute.type) == (given.name, given.type)
    if attribute.name == "value":
        assert np.array_equal(
            onnx.numpy_helper.to_array(attribute.t), onnx.numpy_helper.to_array(given.t)
        )
    elif attribute.name == "sparse_value":
        assert attribute.sparse_tensor.dims == given.sparse_tensor.dims
    else:
        assert attribute == given
