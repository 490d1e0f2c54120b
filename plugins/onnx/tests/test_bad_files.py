"""Files that are no good model: one error each, which names the file, the node and the field."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, parser

from ge_core.api import GeError, InputFileError
from ge_onnx.frontend import OnnxFrontend

HEADER = '<ir_version: 8, opset_import: ["": 17]>\n'
Change = Callable[[onnx.ModelProto], object]
GOOD = """g (float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> {
  [sum] t = Add(x, w)
  [join] y = Concat<axis = 0>(t)
}"""


def good() -> onnx.ModelProto:
    """A small model with nothing wrong in it."""
    return parser.parse_model(HEADER + GOOD)


def refuse(path: Path, data: bytes) -> InputFileError:
    """The error for a file with these bytes; it must name the file and be one line and a hint."""
    path.write_bytes(data)
    with pytest.raises(InputFileError) as caught:
        OnnxFrontend().load(path)
    error = caught.value
    assert error.exit_code == 3
    assert error.file == str(path)
    assert str(error).startswith(f"{path}: ")
    assert "\n" not in error.plain_message
    return error


@pytest.mark.parametrize("data", [b"", b"hello\n", b"\x08\x07", bytes(100), b'{"nodes": []}'])
def test_other_files(tmp_path: Path, data: bytes) -> None:
    """What is not a model, or cut off before the graph, is refused as a whole."""
    assert "not an ONNX model" in refuse(tmp_path / "m.onnx", data).plain_message


def test_missing_files(tmp_path: Path) -> None:
    """A file that can't be opened says why."""
    with pytest.raises(InputFileError, match="nothing.onnx: can't be read"):
        OnnxFrontend().load(tmp_path / "nothing.onnx")
    with pytest.raises(InputFileError, match="can't be read"):
        OnnxFrontend().load(tmp_path)


def test_cut_files(tmp_path: Path) -> None:
    """A model cut short anywhere is refused, or is a shorter model that is read whole."""
    data = good().SerializeToString()
    refused = 0
    for end in range(len(data)):
        path = tmp_path / "m.onnx"
        path.write_bytes(data[:end])
        try:
            OnnxFrontend().load(path)
        except InputFileError:
            refused += 1
    assert refused > len(data) * 0.9


CASES: dict[str, tuple[Change, str | None, str | None, str]] = {
    "no opset": (lambda m: m.ClearField("opset_import"), None, "opset_import", "no opset"),
    "old opset": (
        lambda m: setattr(m.opset_import[0], "version", 6),
        None,
        "model.opset_import",
        "opset 6 is older than 7",
    ),
    "new opset": (
        lambda m: setattr(m.opset_import[0], "version", 999),
        None,
        "model.opset_import",
        "opset 999 is newer",
    ),
    "new ir": (lambda m: setattr(m, "ir_version", 99), None, "ir_version", "IR version 99"),
    "domain not imported": (
        lambda m: setattr(m.graph.node[0], "domain", "acme"),
        "sum",
        "opset_import",
        "domain 'acme'",
    ),
    "unknown op": (
        lambda m: setattr(m.graph.node[0], "op_type", "Adda"),
        "sum",
        "op_type",
        "no op 'Adda'",
    ),
    "op of a later opset": (
        lambda m: setattr(m.graph.node[0], "op_type", "Gelu"),
        "sum",
        "op_type",
        "no op 'Gelu' in version 17",
    ),
    "op that is gone": (
        lambda m: setattr(m.graph.node[0], "op_type", "Upsample"),
        "sum",
        "op_type",
        "does not exist any more",
    ),
    "missing producer": (
        lambda m: m.graph.node[0].input.__setitem__(0, "lost"),
        "sum",
        "input",
        "nothing produces 'lost'",
    ),
    "output without producer": (
        lambda m: setattr(m.graph.output[0], "name", "lost"),
        "lost",
        "graph.output",
        "nothing produces 'lost'",
    ),
    "required input left out": (
        lambda m: m.graph.node[0].input.__setitem__(1, ""),
        "sum",
        "input",
        "needs its input 'B'",
    ),
    "too few inputs": (
        lambda m: m.graph.node[0].input.pop(),
        "sum",
        "input",
        "Add has 1 inputs, wanted are 2",
    ),
    "too many outputs": (
        lambda m: m.graph.node[0].output.append("more"),
        "sum",
        "output",
        "Add has 2 outputs, wanted are 1",
    ),
    "missing attribute": (
        lambda m: m.graph.node[1].ClearField("attribute"),
        "join",
        "axis",
        "needs its attribute 'axis'",
    ),
    "mistyped attribute": (
        lambda m: m.graph.node[1].attribute[0].CopyFrom(helper.make_attribute("axis", 1.5)),
        "join",
        "axis",
        "FLOAT, wanted is INT",
    ),
    "unknown attribute": (
        lambda m: m.graph.node[0].attribute.append(helper.make_attribute("axes", [1])),
        "sum",
        "axes",
        "no attribute 'axes'",
    ),
    "cycle": (
        lambda m: m.graph.node[0].input.__setitem__(0, "y"),
        "join",
        "input",
        "a cycle: join -> sum -> join",
    ),
    "value produced twice": (
        lambda m: m.graph.node.append(m.graph.node[0]),
        "sum_1",
        "output",
        "'t' is produced twice",
    ),
    "input named like a result": (
        lambda m: setattr(m.graph.input[0], "name", "t"),
        "sum",
        None,
        "'t' is produced twice|nothing produces 'x'",
    ),
    "nameless input": (
        lambda m: setattr(m.graph.input[0], "name", ""),
        None,
        "graph.input",
        "input 0 has no name",
    ),
    "input twice": (
        lambda m: m.graph.input.append(m.graph.input[0]),
        "x",
        "graph.input",
        "'x' is produced twice",
    ),
    "output twice": (
        lambda m: m.graph.output.append(m.graph.output[0]),
        None,
        "graph.output",
        "output 'y' is listed twice",
    ),
    "untyped input": (
        lambda m: m.graph.input[0].ClearField("type"),
        "x",
        "graph.input",
        "no type",
    ),
    "unknown dtype": (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", 77),
        None,
        None,
        "unknown element type 77",
    ),
    "negative dimension": (
        lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[0], "dim_value", -7),
        "x",
        "graph.input.shape",
        "negative dimension -7",
    ),
    "nameless initializer": (
        lambda m: setattr(m.graph.initializer[0], "name", ""),
        None,
        "graph.initializer",
        "without a name",
    ),
    "initializer twice": (
        lambda m: m.graph.initializer.append(m.graph.initializer[0]),
        "w",
        "graph.initializer",
        "'w' is initialized twice",
    ),
    "too few values": (
        lambda m: m.graph.initializer[0].float_data.pop(),
        "w",
        "graph.initializer.float_data",
        "2 values for float32",
    ),
    "raw data of another length": (
        lambda m: setattr(m.graph.initializer[0], "raw_data", b"12345"),
        "w",
        "graph.initializer.raw_data",
        "5 bytes for float32",
    ),
    "negative size": (
        lambda m: m.graph.initializer[0].dims.__setitem__(0, -3),
        "w",
        "graph.initializer.dims",
        "negative dimension",
    ),
    "unknown initializer dtype": (
        lambda m: setattr(m.graph.initializer[0], "data_type", 0),
        "w",
        "graph.initializer.data_type",
        "unknown element type 0",
    ),
    "input type that the op does not take": (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", TensorProto.BOOL),
        "sum",
        "A",
        r"Add does not take tensor\(bool\)",
    ),
    "inputs of two types": (
        lambda m: setattr(m.graph.input[0].type.tensor_type, "elem_type", TensorProto.DOUBLE),
        "sum",
        "B",
        r"takes inputs of one type, not tensor\(double\)",
    ),
    "shapes that do not fit": (
        lambda m: setattr(m.graph.input[0].type.tensor_type.shape.dim[1], "dim_value", 5),
        "sum",
        "input",
        "Add: .*[Ii]ncompatible dimensions",
    ),
    "axis that onnx cuts down to 32 bits": (
        lambda m: setattr(m.graph.node[1].attribute[0], "i", -(2**63)),
        "join",
        "axis",
        "Concat: there is no axis -9223372036854775808",
    ),
    "declared type of the output is another": (
        lambda m: setattr(m.graph.output[0].type.tensor_type, "elem_type", TensorProto.INT64),
        "join",
        "value_info.type",
        "'y' is declared as int64, what comes out is float32",
    ),
    "attribute without a type": (
        lambda m: setattr(m.graph.node[1].attribute[0], "type", 0),
        "join",
        None,
        "UNDEFINED|no type",
    ),
}


@pytest.mark.parametrize(
    ("body", "node", "text"),
    [
        ("[n] y = Reshape <allowzero = 0> (x, c)", "n", "Reshape: 6 elements do not fit 5"),
        ("[n] y, z = Split <axis = 0> (x, d)", "n", "Split: a piece of size -1"),
    ],
)
def test_what_inference_lets_pass(tmp_path: Path, body: str, node: str, text: str) -> None:
    """A Reshape to another number of elements, and pieces of a negative size."""
    message = parser.parse_model(
        f"{HEADER} g (float[6] x) => (float[N] y) <int64[1] c = {{5}}, int64[2] d = {{-1, 7}}> "
        f"{{ {body} }}"
    )
    error = refuse(tmp_path / "m.onnx", message.SerializeToString())
    assert node == error.node
    assert text in error.plain_message


@pytest.mark.parametrize("name", CASES)
def test_broken_models(tmp_path: Path, name: str) -> None:
    """Whatever is wrong is named with its node and field."""
    change, node, field, text = CASES[name]
    message = good()
    change(message)
    error = refuse(tmp_path / "m.onnx", message.SerializeToString())
    if node is not None:
        assert error.node == node
    if field is not None:
        assert error.field == field

    assert re.search(text, error.plain_message), error.plain_message


BODIES: dict[str, tuple[str, str | None, str]] = {
    "loop body with too few inputs": (
        "g (int64 n, float[2] x) => (float[2] y) { y = Loop(n, , x) <body = b (int64 i, bool c) "
        "=> (bool co, float[2] v) { co = Identity(c) v = Identity(x) }> }",
        "body",
        "the body has 2 inputs, not 3",
    ),
    "loop body with too few outputs": (
        "g (int64 n, float[2] x) => (float[2] y) { y = Loop(n, , x) <body = b (int64 i, bool c, "
        "float[2] v) => (bool co) { co = Identity(c) }> }",
        "body",
        "the body has 1 outputs",
    ),
    "loop that changes a type": (
        "g (int64 n, float[2] x) => (float[2] y) { y = Loop(n, , x) <body = b (int64 i, bool c, "
        "float[2] v) => (bool co, double[2] w) { co = Identity(c) w = Cast<to = 11>(v) }> }",
        "body",
        "a value is float32 and float64",
    ),
    "branches of two types": (
        "g (bool c, float[2] x) => (float[2] y) { y = If(c) <"
        "then_branch = t () => (float[2] a) { a = Identity(x) },"
        "else_branch = e () => (double[2] b) { b = Cast<to = 11>(x) }> }",
        "body",
        "a value is float32 and float64",
    ),
    "branch with inputs": (
        "g (bool c, float[2] x) => (float[2] y) { y = If(c) <"
        "then_branch = t (float[2] q) => (float[2] a) { a = Identity(q) },"
        "else_branch = e () => (float[2] b) { b = Identity(x) }> }",
        "then_branch",
        "the body has 1 inputs, not 0",
    ),
    "body input declared as another type": (
        "g (int64 n, float[2] x) => (float[2] y) { y = Loop(n, , x) <body = b (int64 i, bool c, "
        "int64[2] v) => (bool co, int64[2] w) { co = Identity(c) w = Neg(v) }> }",
        "graph.input.type",
        "declares its input as int64, it is handed float32",
    ),
    "condition that is a number": (
        "g (int64 c, float[2] x) => (float[2] y) { y = If(c) <"
        "then_branch = t () => (float[2] a) { a = Neg(x) },"
        "else_branch = e () => (float[2] b) { b = Identity(x) }> }",
        "cond",
        "If needs bool here, this is int64",
    ),
    "count that is a condition": (
        "g (bool n, float[2] x) => (float[2] y) { y = Loop(n, , x) <body = b (int64 i, bool c, "
        "float[2] v) => (bool co, float[2] w) { co = Identity(c) w = Neg(v) }> }",
        "M",
        "Loop needs int64 here, this is bool",
    ),
    "loop body whose condition is a number": (
        "g (int64 n, float[2] x) => (float[2] y) { y = Loop(n, , x) <body = b (int64 i, bool c, "
        "float[2] v) => (int64 co, float[2] w) { co = Identity(i) w = Neg(v) }> }",
        "body",
        "Loop needs bool here, this is int64",
    ),
    "tensor where a sequence is wanted": (
        "g (float[2] x, int64 i) => (float[2] y) { y = SequenceAt(x, i) }",
        "input_sequence",
        "does not take tensor(float)",
    ),
    "sequence where a tensor is wanted": (
        "g (seq(float[2]) x) => (float[2] y) { y = Neg(x) }",
        "X",
        "does not take seq(tensor(float))",
    ),
    "graph op over something malformed": (
        "g (float[2] x) => (seq(float[2]) y) { y = SequenceMap(x) <body = b (float[2] i) "
        "=> (float[2] o) { o = Neg(i) }> }",
        None,
        "SequenceMap",
    ),
    "capture that nobody produces": (
        "g (bool c, float[2] x) => (float[2] y) { y = If(c) <"
        "then_branch = t () => (float[2] a) { a = Identity(lost) },"
        "else_branch = e () => (float[2] b) { b = Identity(x) }> }",
        "input",
        "nothing produces 'lost'",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_broken_control_flow(tmp_path: Path, name: str) -> None:
    """Inner graphs that don't fit the node that runs them."""
    text, field, expected = BODIES[name]
    error = refuse(tmp_path / "m.onnx", parser.parse_model(HEADER + text).SerializeToString())
    assert expected in error.plain_message
    if field is not None:
        assert error.field == field
        assert error.node is not None


def test_models_that_crash_onnx(tmp_path: Path) -> None:
    """What brings onnx's own expansion down is an error like any other."""
    message = parser.parse_model(
        HEADER
        + "g (seq(float[2]) x) => (seq(float[2]) y) { y = SequenceMap(x) <body = b (float[2] i) "
        "=> (float[2] o) { o = Neg(i) }> }"
    )
    message.graph.input[0].ClearField("type")
    error = refuse(tmp_path / "m.onnx", message.SerializeToString())
    assert "can't expand 'SequenceMap'" in error.plain_message


def test_old_scan_is_refused(tmp_path: Path) -> None:
    """Scan of opset 8 works on batches, which nothing here does."""
    text = (
        '<ir_version: 3, opset_import: ["": 8]> g (float[1,2] s, float[1,3,2] x) => '
        "(float[1,2] y, float[1,3,2] z) { y, z = Scan<num_scan_inputs = 1, body = b "
        "(float[2] a, float[2] e) => (float[2] o, float[2] p) { o = Add(a, e) p = Identity(o) }>"
        "( , s, x) }"
    )
    error = refuse(tmp_path / "m.onnx", parser.parse_model(text).SerializeToString())
    assert "Scan of opset 8" in error.plain_message
    assert error.hint is not None
    assert "version_converter" in error.hint


@pytest.mark.parametrize("name", ["a\nb", "ü/€", "x:0", "a" * 3000, " ", "\x7f"])
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    """Any text may be a name; the graph has it as it is."""
    message = good()
    message.graph.input[0].name = name
    message.graph.node[0].input[0] = name
    path = tmp_path / "m.onnx"
    path.write_bytes(message.SerializeToString())
    assert OnnxFrontend().load(path).node(name).op == "Data"


def test_names_that_are_not_text(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are no name."""
    data = good().SerializeToString().replace(b"sum", b"s\xffm")
    assert "is not UTF-8" in refuse(tmp_path / "m.onnx", data).plain_message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are files on POSIX systems only")
def test_a_pipe_is_no_data_file(tmp_path: Path) -> None:
    """External data in something that is no regular file is refused, not waited for."""
    os.mkfifo(tmp_path / "pipe")
    message = good()
    tensor = message.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="pipe")
    error = refuse(tmp_path / "m.onnx", message.SerializeToString())
    assert error.field == "graph.initializer.external_data.location"


@settings(max_examples=150)
@given(data=st.data())
def test_damaged_bytes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes change, the model is read or refused with an error of ours."""
    raw = bytearray(good().SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.onnx"
    path.write_bytes(bytes(raw))
    codes = [3]
    try:
        OnnxFrontend().load(path)
    except GeError as error:
        codes.append(error.exit_code)
    assert set(codes) == {3}
