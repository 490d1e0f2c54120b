"""Kernels against onnxruntime: every version of an op that differs, odd attributes, odd types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.reference
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import helper

from ge_core.api import Graph, InputFileError, Node
from ge_onnx.frontend import OnnxFrontend

Interpret = Callable[..., dict[str, Any]]
Runtime = Callable[[Path, dict[str, Any]], dict[str, Any]]
Array = np.ndarray
Attrs = dict[str, Any]


def draw(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Seeded normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def ints(*values: int) -> Array:
    """A vector of int64."""
    return np.array(values, np.int64)


def one_node(
    op: str, opset: int, inputs: list[Array | None], attrs: Attrs, outputs: int = 1
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of one node, and what feeds it; integer vectors become constants."""
    names = ["" if value is None else f"x{at}" for at, value in enumerate(inputs)]
    results = [f"y{at}" for at in range(outputs)]
    node = helper.make_node(op, names, results, **attrs)
    given = [(n, v) for n, v in zip(names, inputs, strict=True) if v is not None]
    fixed = [(n, v) for n, v in given if n != "x0" and (v.dtype == np.int64 or v.ndim == 1)]
    fed = {n: v for n, v in given if n not in dict(fixed)}
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for n, v in fed.items()
        ],
        [helper.make_empty_tensor_value_info(name) for name in results],
        [onnx.numpy_helper.from_array(v, n) for n, v in fixed],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model, fed


def check(
    path: Path,
    interpret: Interpret,
    runtime: Runtime,
    model: onnx.ModelProto,
    fed: dict[str, Array],
    tolerance: float = 1e-5,
) -> None:
    """Compare with onnxruntime: dtype, shape, values, and the shape that was inferred."""
    path.write_bytes(model.SerializeToString())
    graph = OnnxFrontend().load(path)
    wrong: list[str] = []

    def seen(node: Node, outputs: list[Any]) -> None:
        for output, value in zip(node.outputs, outputs, strict=True):
            shape = output.desc.shape
            fits = shape is None or (
                len(shape) == value.ndim
                and all(a in (-1, b) for a, b in zip(shape, value.shape, strict=True))
            )
            if output.desc.dtype != str(value.dtype) or not fits:
                wrong.append(f"{output!r} is {output.desc!r}, computed {value.dtype}{value.shape}")

    found = interpret(graph, fed, seen=seen)
    assert wrong == []
    for name, expected in runtime(path, fed).items():
        assert (found[name].dtype, found[name].shape) == (expected.dtype, expected.shape)
        scale = max(float(np.abs(expected.astype(float)).max(initial=0)), 1e-12)
        gap = np.abs(found[name].astype(float) - expected.astype(float)).max(initial=0) / scale
        assert gap <= tolerance


IMAGE = draw(2, 4, 7, 6)
LINE = draw(2, 3, 11)
LSTM_INPUTS: list[Array | None] = [
    draw(5, 3, 4),
    draw(2, 32, 4, seed=1),
    draw(2, 32, 8, seed=2),
    draw(2, 64, seed=3),
    np.array([5, 2, 3], np.int32),
    draw(2, 3, 8, seed=4),
    draw(2, 3, 8, seed=5),
    draw(2, 24, seed=6),
]
GRU_INPUTS: list[Array | None] = [
    draw(5, 3, 4),
    draw(2, 24, 4, seed=1),
    draw(2, 24, 8, seed=2),
    draw(2, 48, seed=3),
    np.array([5, 2, 3], np.int32),
    draw(2, 3, 8, seed=4),
]
RNN_INPUTS: list[Array | None] = [
    draw(5, 3, 4),
    draw(1, 8, 4, seed=1),
    draw(1, 8, 8, seed=2),
    draw(1, 16, seed=3),
]
LAST = {"direction": "bidirectional", "hidden_size": 8}

CASES: dict[str, tuple[str, int, list[Array | None], Attrs, int]] = {
    "conv": ("Conv", 11, [IMAGE, draw(5, 4, 3, 3), draw(5)], {"pads": [1, 0, 2, 1]}, 1),
    "conv strided": ("Conv", 11, [IMAGE, draw(6, 2, 3, 2)], {"group": 2, "strides": [2, 3]}, 1),
    "conv dilated": ("Conv", 11, [IMAGE, draw(5, 4, 2, 2)], {"dilations": [3, 2]}, 1),
    "conv depthwise": ("Conv", 11, [IMAGE, draw(8, 1, 3, 3)], {"group": 4}, 1),
    "conv same upper": (
        "Conv",
        11,
        [IMAGE, draw(5, 4, 3, 2)],
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        1,
    ),
    "conv same lower": (
        "Conv",
        11,
        [IMAGE, draw(5, 4, 3, 2)],
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        1,
    ),
    "conv valid": ("Conv", 11, [IMAGE, draw(5, 4, 3, 2)], {"auto_pad": "VALID"}, 1),
    "conv 1d": ("Conv", 11, [LINE, draw(4, 3, 3)], {"pads": [2, 0]}, 1),
    "conv 3d": ("Conv", 11, [draw(1, 2, 4, 5, 6), draw(3, 2, 2, 3, 2)], {}, 1),
    "transposed": ("ConvTranspose", 11, [IMAGE, draw(4, 3, 3, 3), draw(3)], {}, 1),
    "transposed strided": (
        "ConvTranspose",
        11,
        [IMAGE, draw(4, 3, 3, 2)],
        {"strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 2], "group": 2},
        1,
    ),
    "transposed dilated": (
        "ConvTranspose",
        11,
        [IMAGE, draw(4, 3, 2, 2)],
        {"dilations": [2, 3]},
        1,
    ),
    "transposed to a shape": (
        "ConvTranspose",
        11,
        [IMAGE, draw(4, 3, 3, 3)],
        {"strides": [2, 2], "output_shape": [14, 13]},
        1,
    ),
    "transposed same": (
        "ConvTranspose",
        11,
        [IMAGE, draw(4, 3, 3, 3)],
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        1,
    ),
    "max pool": ("MaxPool", 12, [IMAGE], {"kernel_shape": [3, 2], "pads": [1, 1, 0, 1]}, 1),
    "max pool places": (
        "MaxPool",
        12,
        [IMAGE],
        {"kernel_shape": [2, 2], "strides": [2, 2], "dilations": [2, 1]},
        2,
    ),
    "max pool places by column": (
        "MaxPool",
        12,
        [IMAGE],
        {"kernel_shape": [2, 2], "strides": [2, 1], "storage_order": 1},
        2,
    ),
    "max pool rounded up": (
        "MaxPool",
        12,
        [IMAGE],
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        1,
    ),
    "max pool of bytes": (
        "MaxPool",
        12,
        [np.arange(-60, 60, dtype=np.int8).reshape(1, 2, 6, 10)],
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]},
        1,
    ),
    "average pool": ("AveragePool", 11, [IMAGE], {"kernel_shape": [3, 2], "pads": [1, 1, 0, 1]}, 1),
    "average pool with padding": (
        "AveragePool",
        11,
        [IMAGE],
        {"kernel_shape": [3, 2], "pads": [1, 1, 0, 1], "count_include_pad": 1},
        1,
    ),
    "average pool rounded up": (
        "AveragePool",
        11,
        [IMAGE],
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        1,
    ),
    "average pool of old": ("AveragePool", 7, [LINE], {"kernel_shape": [4], "strides": [3]}, 1),
    "average pool dilated": (
        "AveragePool",
        19,
        [IMAGE],
        {"kernel_shape": [2, 3], "dilations": [3, 2]},
        1,
    ),
    "global average": ("GlobalAveragePool", 7, [IMAGE], {}, 1),
    "global lp": ("GlobalLpPool", 7, [IMAGE], {"p": 3}, 1),
    "batch norm": (
        "BatchNormalization",
        15,
        [IMAGE, draw(4), draw(4), draw(4), np.abs(draw(4))],
        {"epsilon": 1e-3},
        1,
    ),
    "batch norm of old": (
        "BatchNormalization",
        7,
        [IMAGE, draw(4), draw(4), draw(4), np.abs(draw(4))],
        {"momentum": 0.7},
        1,
    ),
    "softmax": ("Softmax", 13, [IMAGE], {"axis": 1}, 1),
    "softmax of old": ("Softmax", 11, [IMAGE], {"axis": 2}, 1),
    "softmax of old by default": ("Softmax", 9, [IMAGE], {}, 1),
    "log softmax": ("LogSoftmax", 13, [IMAGE], {"axis": 0}, 1),
    "log softmax of old": ("LogSoftmax", 8, [IMAGE], {"axis": 2}, 1),
    "hardmax of old": ("Hardmax", 11, [IMAGE], {"axis": 1}, 1),
    "hardmax": ("Hardmax", 13, [IMAGE], {"axis": 1}, 1),
    "lrn": ("LRN", 13, [IMAGE], {"size": 3, "alpha": 0.2, "bias": 1.5}, 1),
    "lstm": ("LSTM", 14, LSTM_INPUTS, LAST, 3),
    "lstm of other functions": (
        "LSTM",
        14,
        LSTM_INPUTS,
        {
            **LAST,
            "clip": 0.6,
            "activations": ["HardSigmoid", "Relu", "Softsign", "Sigmoid", "Elu", "Tanh"],
            "activation_alpha": [0.3, 0.9],
            "activation_beta": [0.4],
        },
        3,
    ),
    "lstm with coupled gates": (
        "LSTM",
        14,
        [v[:1] if v is not None and v.shape[0] == 2 else v for v in LSTM_INPUTS[:4]],
        {"hidden_size": 8, "input_forget": 1, "direction": "reverse"},
        3,
    ),
    "gru": ("GRU", 14, GRU_INPUTS, LAST, 2),
    "gru with the gate behind": ("GRU", 14, GRU_INPUTS, {**LAST, "linear_before_reset": 1}, 2),
    "rnn": ("RNN", 14, RNN_INPUTS, {"hidden_size": 8, "activations": ["Relu"]}, 2),
    "upsample of old": ("Upsample", 7, [IMAGE], {"scales": [1.0, 1.0, 2.0, 1.5]}, 1),
    "upsample": ("Upsample", 9, [IMAGE, np.array([1, 1, 2, 3], np.float32)], {"mode": "linear"}, 1),
    "resize of old": ("Resize", 10, [IMAGE, np.array([1, 1, 0.6, 2], np.float32)], {}, 1),
    "resize to a size": ("Resize", 13, [IMAGE, None, None, ints(2, 4, 10, 4)], {}, 1),
    "dequantize": (
        "DequantizeLinear",
        10,
        [
            np.arange(12, dtype=np.uint8).reshape(3, 4),
            np.array(0.5, np.float32),
            np.array(3, np.uint8),
        ],
        {},
        1,
    ),
    "dequantize by channel": (
        "DequantizeLinear",
        13,
        [np.arange(12, dtype=np.int8).reshape(3, 4), draw(4), np.arange(4, dtype=np.int8)],
        {"axis": -1},
        1,
    ),
    "scatter": (
        "Scatter",
        9,
        [IMAGE, ints(*[1] * 12).reshape(1, 1, 2, 6), draw(1, 1, 2, 6)],
        {},
        1,
    ),
    "split unevenly": ("Split", 18, [LINE], {"axis": 2, "num_outputs": 3}, 3),
    "flatten": ("Flatten", 13, [LINE], {}, 1),
    "flatten from behind": ("Flatten", 13, [LINE], {"axis": -1}, 1),
    "flatten everything": ("Flatten", 9, [LINE], {"axis": 0}, 1),
    "flatten no rows": ("Flatten", 13, [draw(0, 3)], {"axis": 1}, 1),
    "flatten no columns": ("Flatten", 13, [draw(2, 3, 0)], {"axis": 3}, 1),
    "split by sizes": ("Split", 13, [LINE, ints(4, 0, 7)], {"axis": -1}, 3),
    "erf": ("Erf", 13, [draw(400) * 3], {}, 1),
    "gelu": ("Gelu", 20, [draw(400) * 3], {}, 1),
    "gelu by tanh": ("Gelu", 20, [draw(400) * 3], {"approximate": "tanh"}, 1),
    "sigmoid": ("Sigmoid", 13, [draw(400) * 60], {}, 1),
    "dropout of old": ("Dropout", 10, [IMAGE], {}, 1),
    "matmul": ("MatMul", 13, [draw(3, 5, 4), draw(4, 6)], {}, 1),
    "gemm": ("Gemm", 13, [draw(5, 4), draw(6, 4), draw(6)], {"transB": 1, "alpha": 0.5}, 1),
    "gemm turned": (
        "Gemm",
        11,
        [draw(4, 5), draw(4, 6), draw(5, 6)],
        {"transA": 1, "beta": 0.25},
        1,
    ),
    "gemm of two": ("Gemm", 11, [draw(5, 4), draw(4, 6)], {}, 1),
    "clip of old": ("Clip", 6, [IMAGE], {"min": -0.5, "max": 0.5}, 1),
    "integer division": ("Div", 14, [ints(-7, 7, -8), ints(2, -2, 3)], {}, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_against_onnxruntime(
    name: str, tmp_path: Path, interpret: Interpret, runtime: Runtime
) -> None:
    """The kernel's answer is onnxruntime's, within 1e-5 of its largest value."""
    op, opset, inputs, attrs, outputs = CASES[name]
    if op == "Clip":
        opset = 10
    model, fed = one_node(op, opset, inputs, attrs, outputs)
    check(tmp_path / "m.onnx", interpret, runtime, model, fed)


sizes = st.integers(1, 9)


@settings(max_examples=60)
@given(data=st.data())
def test_windows_of_any_geometry(
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
    interpret: Interpret,
    runtime: Runtime,
) -> None:
    """Convolutions and pools with random kernels, strides, dilations and padding."""
    rank = data.draw(st.integers(1, 2))
    shape = [data.draw(sizes) for _ in range(rank)]
    kernel = [data.draw(st.integers(1, 4)) for _ in range(rank)]
    strides = [data.draw(st.integers(1, 3)) for _ in range(rank)]
    dilations = [data.draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [data.draw(st.integers(0, k - 1)) for k in [*kernel, *kernel]]
    room = [
        size + before + after - (k - 1) * d
        for size, before, after, k, d in zip(
            shape, pads[:rank], pads[rank:], kernel, dilations, strict=True
        )
    ]
    assume(min(room) >= 1)
    attrs: Attrs = {
        "kernel_shape": kernel,
        "strides": strides,
        "pads": pads,
        "dilations": dilations,
    }
    op = data.draw(st.sampled_from(["Conv", "MaxPool", "AveragePool"]))
    x = draw(2, 3, *shape)
    inputs: list[Array | None] = [x]
    if op == "Conv":
        inputs.append(draw(4, 3, *kernel))
    elif data.draw(st.booleans()) and op == "MaxPool":
        attrs["ceil_mode"] = 1
    if op == "AveragePool":
        attrs["count_include_pad"] = data.draw(st.integers(0, 1))
    model, fed = one_node(op, 19, inputs, attrs)
    check(tmp_path_factory.getbasetemp() / "w.onnx", interpret, runtime, model, fed)


@settings(max_examples=60)
@given(data=st.data())
def test_resize_in_every_mode(
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
    interpret: Interpret,
    runtime: Runtime,
) -> None:
    """Resize with random sizes in all modes that onnxruntime computes."""
    mode = data.draw(st.sampled_from(["nearest", "linear", "cubic"]))
    modes = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
    if mode != "nearest":
        # Which neighbour is nearest hangs on the last bit here, and on how it was compiled there.
        modes.append("half_pixel_symmetric")
    coordinates = data.draw(st.sampled_from(modes))
    attrs: Attrs = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attrs["nearest_mode"] = data.draw(
            st.sampled_from(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
        )
    if mode == "cubic":
        attrs["cubic_coeff_a"] = data.draw(st.sampled_from([-0.75, -0.5]))
        attrs["exclude_outside"] = data.draw(st.integers(0, 1))
    before = [data.draw(st.integers(2, 6)) for _ in range(2)]
    after = [data.draw(st.integers(1, 12)) for _ in range(2)]
    model, fed = one_node(
        "Resize", 19, [draw(1, 2, *before), None, None, ints(1, 2, *after)], attrs
    )
    check(tmp_path_factory.getbasetemp() / "r.onnx", interpret, runtime, model, fed)


def test_double_precision(tmp_path: Path, interpret: Interpret) -> None:
    """Doubles are computed in doubles: onnx's reference agrees to the last few bits."""
    model, fed = one_node("Conv", 11, [draw(1, 2, 5).astype("f8"), draw(3, 2, 3).astype("f8")], {})
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    found = interpret(OnnxFrontend().load(path), fed)["y0"]
    (expected,) = onnx.reference.ReferenceEvaluator(model).run(None, fed)
    assert found.dtype == np.float64
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "op", ["Conv", "Softmax", "Gelu", "Sigmoid", "Erf", "AveragePool", "MatMul"]
)
def test_half_precision(tmp_path: Path, interpret: Interpret, kind: str, op: str) -> None:
    """Sixteen-bit floats are computed in more and rounded once."""
    import ml_dtypes

    dtype = np.dtype(np.float16 if kind == "float16" else ml_dtypes.bfloat16)
    inputs: list[Array | None] = [draw(1, 2, 5, 5).astype(dtype)]
    attrs: Attrs = {"kernel_shape": [2, 2]} if op == "AveragePool" else {}
    if op == "Conv":
        inputs.append(draw(3, 2, 2, 2).astype(dtype))
    if op == "MatMul":
        inputs.append(draw(5, 4).astype(dtype))
    model, fed = one_node(op, 22, inputs, attrs)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    found = interpret(OnnxFrontend().load(path), fed)["y0"]
    wide, wide_fed = one_node(op, 22, [v if v is None else v.astype("f4") for v in inputs], attrs)
    path.write_bytes(wide.SerializeToString())
    expected = interpret(OnnxFrontend().load(path), wide_fed)["y0"].astype(dtype)
    assert found.dtype == dtype
    assert np.array_equal(found, expected)


def test_four_bit_values(load: Callable[..., Graph], interpret: Interpret) -> None:
    """Values of four bits come unpacked and go through casts."""
    graph = load(
        onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["": 21]> '
            "g (int4[3] x) => (float[3] y) { y = Cast<to = 1>(x) }"
        )
    )
    import ml_dtypes

    x = np.array([-8, 0, 7], ml_dtypes.int4)
    assert interpret(graph, {"x": x})["y"].tolist() == [-8, 0, 7]


def test_text(load: Callable[..., Graph], interpret: Interpret) -> None:
    """Strings are arrays of objects."""
    graph = load(
        """g (string[2] x) => (string[2] y) {
          c = Constant<value_strings = ["a", "ü"]>()
          y = StringConcat(x, c)
        }"""
    )
    x = np.array(["1", "2"], dtype=object)
    found = interpret(graph, {"x": x})["y"]
    assert (found.dtype, found.tolist()) == (np.dtype(object), ["1a", "2ü"])


def test_ops_without_a_kernel(load: Callable[..., Graph], interpret: Interpret) -> None:
    """An op that nothing computes is an error that names node and op."""
    graph = load(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 17, "acme": 1]> '
            "g (float[2] x) => (float[2] y) { [n] y = acme.Magic(x) }"
        )
    )
    with pytest.raises(InputFileError, match="no kernel for op 'acme::Magic'") as caught:
        interpret(graph, {"x": draw(2)})
    assert caught.value.node == "n"


def test_values_that_an_op_does_not_take(load: Callable[..., Graph], interpret: Interpret) -> None:
    """A kernel that fails names the node and says why."""
    graph = load("g (float[4] x, int64[1] s) => (float[?] y) { [n] y = Reshape(x, s) }")
    with pytest.raises(InputFileError, match="Reshape can't be computed") as caught:
        interpret(graph, {"x": draw(4), "s": ints(3)})
    assert caught.value.node == "n"
