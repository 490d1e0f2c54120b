"""Computes one ONNX node with numpy.

What onnx's reference implementation computes right and fast enough is left to it; `table` lists
the ops computed here. Inputs are brought into one canonical memory layout first, so that the bits
of a result don't depend on where its inputs lie.
"""

from ge_onnx.kernels.compute import compute, constant, constant_result

__all__ = ["compute", "constant", "constant_result"]
