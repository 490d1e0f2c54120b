"""Kernels of GE's own ops in numpy: real where the op is simple, a deterministic stand-in else.

This module only names them, so that listing the plugin imports no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ge_core.api import Kernels

_LAYOUT: Final = (
    ("join", ("ConcatD", "ConcatV2D", "PhonyConcat"), "*"),
    ("join", ("Concat", "ConcatV2"), "ge"),
    ("pack", ("Pack",), "ge"),
    ("split", ("SplitD", "SplitVD", "PhonySplit"), "*"),
    ("split", ("Split", "SplitV"), "ge"),
    ("cut", ("Slice", "SliceD"), "ge"),
)
_SHAPES: Final = (
    ("transpose", ("Transpose", "TransposeD")),
    ("reshape", ("Reshape", "Squeeze", "Unsqueeze", "ExpandDims", "Flatten", "FlattenV2")),
)
_ARITHMETIC: Final = (
    ("relu", ("Relu",)),
    ("add", ("Add", "AddV2")),
    ("sub", ("Sub",)),
    ("mul", ("Mul",)),
    ("add_n", ("AddN",)),
    ("mat_mul", ("MatMul", "MatMulV2", "BatchMatMul")),
    ("cast", ("Cast",)),
    ("div", ("Div", "RealDiv")),
    ("maximum", ("Maximum",)),
    ("minimum", ("Minimum",)),
    ("less", ("Less",)),
    ("less_equal", ("LessEqual",)),
    ("greater", ("Greater",)),
    ("greater_equal", ("GreaterEqual",)),
    ("equal", ("Equal",)),
    ("not_equal", ("NotEqual",)),
    ("absolute", ("Abs",)),
    ("exp", ("Exp",)),
    ("log", ("Log",)),
    ("neg", ("Neg",)),
    ("power", ("Pow",)),
    ("reciprocal", ("Reciprocal",)),
    ("rsqrt", ("Rsqrt",)),
    ("sigmoid", ("Sigmoid",)),
    ("sqrt", ("Sqrt",)),
    ("square", ("Square",)),
    ("tanh", ("Tanh",)),
    ("top_k", ("TopK", "TopKV2", "TopKD")),
)
_STORES: Final = (
    ("assign", ("Assign", "AssignVariableOp")),
    ("assign_add", ("AssignAdd", "AssignAddVariableOp")),
    ("assign_sub", ("AssignSub", "AssignSubVariableOp")),
)


_OWN: Final[tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]] = (
    ("shapes", _SHAPES),
    ("arithmetic", _ARITHMETIC),
    ("stores", _STORES),
)
"""Modules for graphs from GE alone: functions, and the ops that each computes."""


def register(kernels: Kernels) -> None:
    """Add the built-in kernels, and the stand-in for every other op of GE."""
    for function, ops, source in _LAYOUT:
        for op in ops:
            kernels.add(op, f"ge_runtime.kernels.layout:{function}", source=source)
    for module, table in _OWN:
        for function, names in table:
            for op in names:
                kernels.add(op, f"ge_runtime.kernels.{module}:{function}", source="ge")
    kernels.fallback("ge", "ge_runtime.kernels.standin:compute")
