"""Where inputs lie has no influence on a result, and a result lies nowhere near its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import Graph, Node, TensorDesc
from ge_onnx.kernels import compute
from ge_onnx.kernels.memory import canonical

OPS: dict[str, tuple[list[tuple[int, ...]], dict[str, Any]]] = {
    "MatMul": ([(17, 33), (33, 9)], {}),
    "Gemm": ([(17, 33), (33, 9), (9,)], {}),
    "Conv": ([(2, 3, 9, 9), (5, 3, 3, 3)], {}),
    "ConvTranspose": ([(2, 3, 5, 5), (3, 5, 3, 3)], {}),
    "Softmax": ([(5, 37)], {"onnx.axis": 1}),
    "ReduceMean": ([(5, 37)], {}),
    "ReduceL2": ([(5, 37)], {}),
    "LayerNormalization": ([(5, 37), (37,)], {}),
    "Exp": ([(5, 37)], {}),
    "Tanh": ([(5, 37)], {}),
    "Sin": ([(5, 37)], {}),
    "Erf": ([(5, 37)], {}),
    "Pow": ([(5, 37), (5, 37)], {}),
    "AveragePool": ([(1, 2, 9, 9)], {"onnx.kernel_shape": [3, 3]}),
    "Einsum": ([(5, 7), (7, 6)], {"onnx.equation": "ij,jk->ik"}),
    "LSTM": ([(3, 2, 5), (1, 16, 5), (1, 16, 4)], {"onnx.hidden_size": 4}),
}
SAME = ["Reshape", "Squeeze", "Unsqueeze", "Transpose", "TensorMove", "Dropout", "Slice", "SplitD"]


def node(op: str, shapes: list[tuple[int, ...]], attrs: dict[str, Any], outputs: int = 1) -> Node:
    """A node over inputs of these shapes."""
    graph = Graph("g", "onnx")
    data = [
        graph.add_node("Data", f"x{at}", outputs=[TensorDesc.make("float32", shape)])
        for at, shape in enumerate(shapes)
    ]
    return graph.add_node(
        op,
        "n",
        [d.outputs[0] for d in data],
        [TensorDesc.make("float32", None)] * outputs,
        attrs=attrs,
    )


def moved(array: np.ndarray, shift: int, gap: int) -> np.ndarray:
    """The same values, `shift` bytes behind an aligned place, rows `gap` elements apart."""
    width = array.shape[-1] + gap if array.ndim else 1
    rows = array.size // max(array.shape[-1], 1) if array.ndim else 1
    block = np.zeros(rows * width * array.itemsize + 64, np.uint8)
    start = -block.ctypes.data % 64 + shift * 4
    flat = block[start : start + rows * width * array.itemsize].view(array.dtype)
    view = flat.reshape(*array.shape[:-1], width)[..., : array.shape[-1]]
    view[...] = array
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("op", OPS)
def test_results_do_not_depend_on_places(op: str) -> None:
    """Misaligned and strided inputs give the bits that plain ones give; read-only ones will do."""
    shapes, attrs = OPS[op]
    generator = np.random.default_rng(0)
    inputs = [np.abs(generator.standard_normal(shape)).astype(np.float32) for shape in shapes]
    made = node(op, shapes, attrs)
    (expected,) = compute(made, inputs)
    for shift, gap in ((1, 0), (3, 5), (0, 1)):
        (found,) = compute(made, [moved(value, shift, gap) for value in inputs])
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("op", SAME)
def test_results_have_memory_of_their_own(op: str) -> None:
    """What is a view to numpy is a copy here: the arena changes under it."""
    x = np.arange(8, dtype=np.float32).reshape(1, 8)
    more: dict[str, list[np.ndarray]] = {
        "Reshape": [np.array([8])],
        "Squeeze": [np.array([0])],
        "Unsqueeze": [np.array([0])],
        "Slice": [np.array([1]), np.array([4]), np.array([1])],
    }
    attrs: dict[str, Any] = {"split_dim": 1, "num_split": 2} if op == "SplitD" else {}
    inputs = [x, *more.get(op, [])]
    made = node(op, [value.shape for value in inputs], attrs, 2 if op == "SplitD" else 1)
    results = compute(made, inputs)
    assert [np.may_share_memory(result, x) for result in results] == [False] * len(results)


@given(
    shape=st.lists(st.integers(0, 3), max_size=3),
    dtype=st.sampled_from(["float32", "int8", "bool", "complex64"]),
    turned=st.booleans(),
)
def test_canonical_arrays(shape: list[int], dtype: str, turned: bool) -> None:
    """Same values, shape and dtype; contiguous and aligned."""
    array = np.ones(shape, dtype)
    found = canonical(array.T if turned else array)
    assert found.shape == (array.T if turned else array).shape
    assert found.dtype == array.dtype
    assert found.flags.c_contiguous
    assert found.size == 0 or found.ctypes.data % 64 == 0
    assert np.array_equal(found, array.T if turned else array)


def test_sequences_keep_their_elements() -> None:
    """A sequence op answers with arrays that later changes to its inputs don't reach."""
    x = np.ones(3, np.float32)
    made = node("SequenceConstruct", [(3,), (3,)], {})
    (found,) = compute(made, [x, x])
    x[:] = 7
    assert [item.tolist() for item in found] == [[1, 1, 1], [1, 1, 1]]
