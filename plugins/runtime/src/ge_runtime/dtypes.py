"""Element types as numpy arrays, and the packed storage of types narrower than a byte.

Storage is little-endian; n elements of b bits take ceil(n*b/8) bytes with the first element in the
lowest bits, which is how ONNX stores 4-bit tensors. Arrays hold one element per byte.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ge_core.api import bits

Array = NDArray[Any]
Bytes = NDArray[np.uint8]

_NUMPY: Final[dict[str, Any]] = {
    name: getattr(ml_dtypes, name)
    for name in (
        "bfloat16",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float4_e2m1fn",
        "int4",
        "int2",
        "uint4",
        "uint2",
    )
    if hasattr(ml_dtypes, name)
}
# Without a type of their own: single bits as 0 and 1, text as objects, the unknown as raw bytes.
_NUMPY.update(uint1=np.uint8, string=np.object_, undefined=np.uint8)


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of arrays that hold tensors of an IR dtype."""
    dtype: np.dtype[Any] = np.dtype(_NUMPY.get(name, name))
    return dtype


def sub_byte_bits(name: str) -> int | None:
    """Bits of an element that shares its byte with others; None for whole bytes."""
    width = bits(name)
    return width if width is not None and width < 8 else None


def is_stored(name: str) -> bool:
    """Whether tensors of this dtype have bytes at all."""
    return bits(name) is not None


def to_storage(array: Array, name: str) -> Bytes:
    """The bytes of an array, row by row, packed where the dtype is narrower than a byte.

    Shares memory with the array where nothing has to move.
    """
    flat = np.asarray(array, order="C").reshape(-1)
    if not flat.size:
        return np.empty(0, np.uint8)
    raw = flat.view(np.uint8)
    width = sub_byte_bits(name)
    if width is None:
        return raw
    per_byte = 8 // width
    codes = np.zeros(-(-raw.size // per_byte) * per_byte, np.uint8)
    codes[: raw.size] = raw & ((1 << width) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * width
    packed: Bytes = np.bitwise_or.reduce(codes.reshape(-1, per_byte) << shifts, axis=1)
    return packed


def from_storage(raw: Bytes, name: str, shape: tuple[int, ...]) -> Array:
    """An array of its own over the bytes of a tensor."""
    width = sub_byte_bits(name)
    count = prod(shape)
    dtype = numpy_dtype(name)
    if width is None:
        array: Array = np.empty(count, dtype)
        array.view(np.uint8)[:] = raw
        return array.reshape(shape)
    per_byte = 8 // width
    shifts = np.arange(per_byte, dtype=np.uint8) * width
    codes = ((raw[:, None] >> shifts) & ((1 << width) - 1)).reshape(-1)[:count]
    return codes.astype(np.uint8).view(dtype).reshape(shape)
