"""Element types: ONNX's numbers, the graph's names, numpy's dtypes."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
from onnx import TensorProto

from ge_core.api import InputFileError

NAMES: Final[dict[int, str]] = {
    TensorProto.FLOAT: "float32",
    TensorProto.UINT8: "uint8",
    TensorProto.INT8: "int8",
    TensorProto.UINT16: "uint16",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.STRING: "string",
    TensorProto.BOOL: "bool",
    TensorProto.FLOAT16: "float16",
    TensorProto.DOUBLE: "float64",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
    TensorProto.COMPLEX64: "complex64",
    TensorProto.COMPLEX128: "complex128",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.FLOAT8E4M3FN: "float8_e4m3fn",
    TensorProto.FLOAT8E4M3FNUZ: "float8_e4m3fnuz",
    TensorProto.FLOAT8E5M2: "float8_e5m2",
    TensorProto.FLOAT8E5M2FNUZ: "float8_e5m2fnuz",
    TensorProto.UINT4: "uint4",
    TensorProto.INT4: "int4",
}
# Later releases of onnx added these; an older installation reads models that don't use them.
for _name, _dtype in (
    ("FLOAT4E2M1", "float4_e2m1fn"),
    ("FLOAT8E8M0", "float8_e8m0fnu"),
    ("UINT2", "uint2"),
    ("INT2", "int2"),
):
    _number = getattr(TensorProto, _name, None)
    if _number is not None:
        NAMES[_number] = _dtype

NUMBERS: Final = {name: number for number, name in NAMES.items()}

_NUMPY: Final = frozenset(
    "float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex64 "
    "complex128".split()
)


def dtype_name(number: int) -> str:
    """The graph's name of an ONNX element type.

    Raises:
        InputFileError: the number stands for nothing that can be computed with.
    """
    name = NAMES.get(number)
    if name is None:
        known = TensorProto.DataType.DESCRIPTOR.values_by_number.get(number)
        what = f"{number}" if known is None else f"{number} ({known.name})"
        raise InputFileError(f"unknown element type {what}", field="data_type")
    return name


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype of the graph's name; strings are objects, as everywhere in onnx.

    Raises:
        InputFileError: the name has no array type ("undefined").
    """
    if name in _NUMPY:
        return np.dtype(name)
    if name == "string":
        return np.dtype(object)
    found = getattr(ml_dtypes, name, None)
    if found is None:
        raise InputFileError(f"no arrays of dtype {name!r}", field="dtype")
    dtype: np.dtype[Any] = np.dtype(found)
    return dtype
