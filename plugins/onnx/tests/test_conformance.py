"""What is declared of ONNX's ops, held against the kernels that compute them here."""

from __future__ import annotations

from ge_core.api import TensorDesc
from ge_core.testing import OpSample, op_traits_conformance
from ge_onnx.traits import onnx_traits

ROWS = (4, 8)
FLAGS = TensorDesc.make("bool", ROWS)
INTS = TensorDesc.make("int32", ROWS)
UNSIGNED = TensorDesc.make("uint32", ROWS)
HALF = TensorDesc.make("float16", ROWS)
SCALAR = TensorDesc.make("float32", ())

CACHE = TensorDesc.make("float32", (128, 8))
"""As many rows as indices are drawn from."""
ONE_ROW = TensorDesc.make("float32", (1, 8))
INDEX = TensorDesc.make("int64", (1, 1))
INDEXES = TensorDesc.make("int64", (1, 8))

ON_FLAGS = ("And", "Or", "Xor", "Not")
ON_INTS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot")
SPECIAL = (
    OpSample("BatchNormalization", (ROWS, (8,), (8,), (8,), (8,)), source="onnx"),
    OpSample(
        "BitShift", (UNSIGNED, UNSIGNED), (UNSIGNED,), {"onnx.direction": "LEFT"}, source="onnx"
    ),
    OpSample("Cast", (ROWS,), (HALF,), {"onnx.to": 10}, source="onnx"),
    OpSample("CastLike", (ROWS, HALF), (HALF,), source="onnx"),
    OpSample("Clip", (ROWS, SCALAR), source="onnx"),
    OpSample("Dropout", source="onnx"),
    OpSample("PRelu", (ROWS, ROWS), source="onnx"),
    OpSample("Pow", (ROWS, ROWS), source="onnx"),
    OpSample("Scatter", (CACHE, INDEXES, ONE_ROW), (CACHE,), source="onnx"),
    OpSample("ScatterElements", (CACHE, INDEXES, ONE_ROW), (CACHE,), source="onnx"),
    OpSample("ScatterND", (CACHE, INDEX, ONE_ROW), (CACHE,), source="onnx"),
    OpSample(
        "TensorScatter",
        (
            TensorDesc.make("float32", (1, 128, 8)),
            TensorDesc.make("float32", (1, 1, 8)),
            TensorDesc.make("int64", (1,)),
        ),
        (TensorDesc.make("float32", (1, 128, 8)),),
        source="onnx",
    ),
    OpSample("Where", (FLAGS, ROWS, ROWS), (ROWS,), source="onnx"),
)
_APART = {sample.op for sample in SPECIAL}


def usual(op: str, inputs: int) -> OpSample:
    """An op whose inputs and output are alike."""
    kind = FLAGS if op in ON_FLAGS else INTS if op in ON_INTS else TensorDesc.make("float32", ROWS)
    return OpSample(op, (kind,) * inputs, (kind,), source="onnx")


IN_PLACE = [
    usual(traits.op, 1 + max(at for _, at in traits.inplace))
    for traits in onnx_traits()
    if traits.inplace and traits.op not in _APART
]

test_ops_that_work_in_place = op_traits_conformance(*IN_PLACE, *SPECIAL, seeds=1)
test_ops_that_read_a_shape = op_traits_conformance(
    OpSample("Shape", (ROWS,), (TensorDesc.make("int64", (2,)),), source="onnx"),
    OpSample("Size", (ROWS,), (TensorDesc.make("int64", ()),), source="onnx"),
    OpSample("EyeLike", source="onnx"),
)
test_ops_that_draw = op_traits_conformance(
    OpSample("RandomNormalLike", source="onnx"),
    OpSample("RandomUniformLike", source="onnx"),
    OpSample("Bernoulli", source="onnx"),
)
