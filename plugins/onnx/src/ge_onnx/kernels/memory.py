"""Where arrays lie: canonical inputs, results that own their memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array

_ALIGNMENT = 64


def canonical(value: Any) -> Any:
    """The value in row-major order and aligned; a copy where it is not.

    numpy and BLAS may add in another order when memory is strided or misaligned, and an arena
    gives both; a result must have the same bits wherever its inputs lay.
    """
    if not isinstance(value, np.ndarray):
        return value
    if value.flags.c_contiguous and value.ctypes.data % _ALIGNMENT == 0:
        return value
    if value.dtype == object or value.size == 0:
        return value.copy()
    copy = aligned_empty(value.shape, value.dtype)
    copy[...] = value
    return copy


def aligned_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An uninitialised array whose memory starts at a multiple of 64 bytes."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    block = np.empty(nbytes + _ALIGNMENT, dtype=np.uint8)
    start = -block.ctypes.data % _ALIGNMENT
    return block[start : start + nbytes].view(dtype).reshape(shape)


def detached(result: Any, inputs: Sequence[Any]) -> Any:
    """The result as an array that shares no memory with the inputs."""
    if not isinstance(result, np.ndarray):
        if isinstance(result, (list, tuple)):
            return [detached(item, inputs) for item in result]
        return np.asarray(result) if isinstance(result, np.generic) else result
    if result.dtype.kind in "US":
        return result.astype(object)
    for value in inputs:
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(p, np.ndarray) and np.may_share_memory(result, p) for p in parts):
            return result.copy()
    return result
