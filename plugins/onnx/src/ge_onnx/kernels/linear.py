"""Matrix products: what is narrower than float32 is computed in float32, which BLAS does fast."""

from __future__ import annotations

from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call


def mat_mul(call: Call, left: Array, right: Array) -> Array:
    """MatMul."""
    found: Array = np.matmul(_widened(left), _widened(right))
    return np.asarray(found).astype(left.dtype, copy=False)


def gemm(call: Call, left: Array, right: Array, added: Array | None = None) -> Any:
    """Gemm of floats; integers are left to the reference."""
    if left.dtype.kind in "iu":
        return NotImplemented
    kind = left.dtype
    left, right = _widened(left), _widened(right)
    left = left.T if call.get("transA", 0) else left
    right = right.T if call.get("transB", 0) else right
    result = np.matmul(left, right)
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    if alpha != 1:
        result = result * result.dtype.type(alpha)
    if added is not None and beta != 0:
        scaled = _widened(added)
        result = result + (scaled if beta == 1 else scaled * scaled.dtype.type(beta))
    return result.astype(kind, copy=False)


def _widened(array: Array) -> Array:
    narrow = array.dtype.kind not in "iub" and array.dtype.itemsize < 4
    return array.astype(np.float32) if narrow else array
