"""What is declared of GE's own ops, held against the kernels that compute them here."""

from __future__ import annotations

from ge_core.api import TensorDesc
from ge_core.testing import OpSample, op_traits_conformance

ROWS = (4, 8)
TWO = (ROWS, ROWS)
UPDATED = TensorDesc.make("float32", ROWS, reuse_input=0)
HALF = TensorDesc.make("float16", ROWS)
FLAGS = TensorDesc.make("bool", ROWS)

test_arithmetic = op_traits_conformance(
    *("Relu", "Abs", "Exp", "Neg", "Sigmoid", "Sqrt", "Square", "Tanh"),
    *(OpSample(op, TWO) for op in ("Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "AddN")),
    OpSample("Cast", (ROWS,), (HALF,)),
    OpSample("Less", TWO, (FLAGS,)),
    OpSample("MatMul", (ROWS, (8, 3)), ((4, 3),)),
    OpSample("TopK", (ROWS,), (ROWS, ROWS)),
)
test_layout = op_traits_conformance(
    OpSample("ConcatD", TWO, ((8, 8),), {"concat_dim": 0}),
    OpSample("ConcatD", TWO, ((4, 16),), {"concat_dim": 1}),
    OpSample("Pack", TWO, ((2, 4, 8),), {"axis": 0}),
    OpSample("SplitD", (ROWS,), ((2, 8), (2, 8)), {"split_dim": 0, "num_split": 2}),
)
test_stores = op_traits_conformance(
    *(OpSample(op, TWO, (UPDATED,)) for op in ("Assign", "AssignAdd", "AssignSub"))
)
