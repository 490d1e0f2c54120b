"""What the plugin registers, and that it is light and true."""

from __future__ import annotations

import subprocess
import sys
from inspect import unwrap
from typing import Any

import numpy as np
import pytest
from onnx import defs

import ge_onnx
from ge_core.api import Graph, Kernels, OpRegistry, TensorDesc, register_builtin_ops
from ge_onnx.kernels import compute
from ge_onnx.traits import onnx_traits

CONTROL_AND_MOVES = {"Concat", "Constant", "Identity", "If", "Loop", "Scan", "Slice", "Split"}
"""Ops that the kernel knows under these or other names."""
EXPANDED = {"SequenceMap"}
INPLACE = sorted(t.op for t in onnx_traits() if t.inplace and t.op != "Dropout")


def test_registering_imports_nothing_heavy() -> None:
    """Listing passes and plugins must not wait for numpy or onnx."""
    code = (
        "import sys, ge_onnx; from ge_core.api import Kernels, OpRegistry;"
        "ge_onnx.ge_register_ops(OpRegistry()); ge_onnx.ge_register_kernels(Kernels());"
        "print([m for m in ('numpy', 'onnx', 'ml_dtypes') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_op_of_onnx_is_declared() -> None:
    """No op of the two standard domains is taken for an unknown one."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    ge_onnx.ge_register_ops(ops)
    missing = [
        schema.name
        for schema in defs.get_all_schemas()
        if schema.domain in ("", "ai.onnx.ml")
        and schema.name not in CONTROL_AND_MOVES | EXPANDED
        and not ops.of(
            f"{schema.domain}::{schema.name}" if schema.domain else schema.name, "onnx"
        ).known
    ]
    assert missing == []


def test_no_op_writes_its_inputs() -> None:
    """ONNX has no op with such an effect."""
    assert [t.op for t in onnx_traits() if t.writes or t.scribbles or t.aliases] == []


def test_ops_that_read_only_a_shape() -> None:
    """Their input may have any content."""
    found = {t.op: t.shape_only for t in onnx_traits() if t.shape_only}
    assert found == {
        "CastLike": (1,),
        "EyeLike": (0,),
        "RandomNormalLike": (0,),
        "RandomUniformLike": (0,),
        "Shape": (0,),
        "Size": (0,),
    }


def test_kernels_are_registered_for_onnx_only() -> None:
    """One function computes every op; graphs from GE are none of its business."""
    kernels = Kernels()
    ge_onnx.ge_register_kernels(kernels)
    found = {(entry.op, entry.source): entry.reference for entry in kernels}
    assert found == {
        ("ConcatD", "onnx"): "ge_onnx.kernels:compute",
        ("Const", "onnx"): "ge_onnx.kernels:constant",
        ("SplitD", "onnx"): "ge_onnx.kernels:compute",
        ("SplitVD", "onnx"): "ge_onnx.kernels:compute",
        (None, "onnx"): "ge_onnx.kernels:compute",
    }
    entry = kernels.find("Relu", "onnx")
    assert entry is not None
    assert unwrap(kernels.load(entry)) is compute


@pytest.mark.parametrize("op", INPLACE)
def test_in_place_ops_work_element_by_element(op: str) -> None:
    """Changing one element of such an input changes that element of the result, and no other."""
    trait = next(t for t in onnx_traits() if t.op == op)
    schema = defs.get_schema(op)
    integers = {"BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"}
    logical = {"And", "Not", "Or", "Xor"}
    dtype = "uint8" if op in integers else "bool" if op in logical else "float32"
    base = np.array([0.3, 0.6, 0.9, 0.2]).reshape(1, 4)
    others = {"bool": True, "uint8": 2, "float32": 0.7}
    attrs: dict[str, dict[str, Any]] = {
        "Cast": {"onnx.to": 1},
        "BitShift": {"onnx.direction": "LEFT"},
        "Mod": {"onnx.fmod": 1},
        "TensorScatter": {"onnx.axis": 1},
    }
    one = np.full((1, 1), 0.7, np.float32)
    start = np.zeros((1, 1), np.int64)
    updates = {
        "Scatter": [start, one],
        "ScatterElements": [start, one],
        "ScatterND": [np.zeros((1, 2), np.int64), one[0]],
        "TensorScatter": [one, start[0]],
    }
    for output, at in trait.inplace:
        assert output == 0
        # Acosh starts at one.
        first = _typed(base + 1 if op == "Acosh" else base, dtype)
        inputs = [
            first if k == at else _typed(np.full((1, 4), others[dtype]), dtype)
            for k in range(max(at + 1, schema.min_input))
        ]
        if op == "BatchNormalization":
            inputs = [first, *(np.full(4, 0.5, np.float32) for _ in range(4))]
        inputs = [first, *updates[op]] if op in updates else inputs
        graph = Graph("g", "onnx")
        desc = TensorDesc.make(dtype, (1, 4))
        data = [graph.add_node("Data", f"x{k}", outputs=[desc]) for k in range(len(inputs))]
        node = graph.add_node(
            op, "n", [d.outputs[0] for d in data], [desc], attrs=attrs.get(op, {})
        )
        (before,) = compute(node, inputs)
        changed = first.copy()
        changed[0, 2] = not changed[0, 2] if dtype == "bool" else changed[0, 2] + first[0, 3]
        (after,) = compute(node, [changed if k == at else v for k, v in enumerate(inputs)])
        assert before.shape == first.shape
        same = (before == after)[0].tolist()
        assert [same[0], same[1], same[3]] == [True, True, True]


def _typed(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "uint8":
        return (values * 10).astype(np.uint8)
    return (values > 0.5) if dtype == "bool" else values.astype(dtype)
