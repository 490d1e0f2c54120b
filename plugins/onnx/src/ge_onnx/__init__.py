"""Reads and writes ONNX models, and computes their nodes.

The drivers are `ge_onnx.frontend:OnnxFrontend` and `ge_onnx.backend:OnnxBackend`. This module
registers the traits of ONNX's ops and the kernels; importing it imports neither onnx nor numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ge_core.api import hookimpl
from ge_onnx.traits import register

if TYPE_CHECKING:
    from ge_core.api import Kernels, OpRegistry


@hookimpl
def ge_register_ops(ops: OpRegistry) -> None:
    """What ONNX's ops do with memory."""
    register(ops)


@hookimpl
def ge_register_kernels(kernels: Kernels) -> None:
    """One kernel for every op of an ONNX graph, and one for constants, text among them."""
    for op in ("ConcatD", "SplitD", "SplitVD"):
        kernels.add(op, "ge_onnx.kernels:compute", source="onnx")
    kernels.add("Const", "ge_onnx.kernels:constant", source="onnx")
    kernels.fallback("onnx", "ge_onnx.kernels:compute")
