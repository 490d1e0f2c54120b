"""Tensor messages and the constants of the graph.

Constants are raw little-endian bytes, types narrower than a byte packed from the low bits up: what
ONNX calls `raw_data`. Strings have no such form; they are packed here as a 4-byte little-endian
length before each element's bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from onnx import TensorProto

from ge_core.api import ConstValue, InputFileError, TensorDesc
from ge_onnx.proto.dtypes import NUMBERS, dtype_name
from ge_onnx.proto.external import external_file

LAZY_BYTES: Final = 1 << 16
"""Longer data is left in the message until somebody asks, instead of being held twice."""

_TYPED_FIELDS: Final = {
    "float32": ("float_data", "<f4"),
    "complex64": ("float_data", "<f4"),
    "float64": ("double_data", "<f8"),
    "complex128": ("double_data", "<f8"),
    "int64": ("int64_data", "<i8"),
    "uint32": ("uint64_data", "<u4"),
    "uint64": ("uint64_data", "<u8"),
    "int32": ("int32_data", "<i4"),
    "int16": ("int32_data", "<i2"),
    "uint16": ("int32_data", "<u2"),
    "float16": ("int32_data", "<u2"),
    "bfloat16": ("int32_data", "<u2"),
}
"""Where a message without `raw_data` keeps its elements; all others: bytes in `int32_data`."""


def read_tensor(tensor: TensorProto, folder: Path) -> tuple[TensorDesc, ConstValue]:
    """Description and bytes of a tensor message; external data is found, not read.

    Args:
        folder: of the model file; external data must lie below it.

    Raises:
        InputFileError: naming the field that is wrong.
    """
    desc = tensor_desc(tensor.data_type, tensor.dims)
    if tensor.HasField("segment"):
        raise InputFileError("tensors in segments are not supported", field="segment")
    if desc.dtype == "string":
        return desc, ConstValue(data=pack_strings(_checked_strings(tensor, desc)))
    nbytes = desc.data_bytes
    assert nbytes is not None
    if tensor.data_location == TensorProto.EXTERNAL:
        file, offset = external_file(tensor, nbytes, folder)
        return desc, ConstValue(file=file, offset=offset, nbytes=nbytes)
    if not tensor.HasField("raw_data"):
        return desc, ConstValue(data=_typed_bytes(tensor, desc, nbytes))
    found = len(tensor.raw_data)
    if found != nbytes:
        raise InputFileError(f"{found} bytes for {desc!r}, which has {nbytes}", field="raw_data")
    if nbytes < LAZY_BYTES:
        return desc, ConstValue(data=tensor.raw_data)
    return desc, ConstValue(load=partial(getattr, tensor, "raw_data"), nbytes=nbytes)


def tensor_desc(number: int, dims: Sequence[int]) -> TensorDesc:
    """The description of a tensor with all dimensions given.

    Raises:
        InputFileError: an unknown element type or a negative dimension.
    """
    if any(dim < 0 for dim in dims):
        raise InputFileError(f"negative dimension in {list(dims)}", field="dims")
    return TensorDesc.make(dtype_name(number), dims)


def write_tensor(name: str, desc: TensorDesc, data: bytes) -> TensorProto:
    """A tensor message that holds these bytes."""
    tensor = TensorProto(name=name, data_type=NUMBERS[desc.dtype], dims=desc.shape or ())
    if desc.dtype == "string":
        tensor.string_data.extend(unpack_strings(data))
    else:
        tensor.raw_data = data
    return tensor


def pack_strings(items: Iterable[bytes]) -> bytes:
    """The elements of a string tensor as one run of bytes."""
    return b"".join(struct.pack("<I", len(item)) + item for item in items)


def unpack_strings(data: bytes) -> list[bytes]:
    """What `pack_strings` was given.

    Raises:
        InputFileError: the bytes are no packed strings.
    """
    items: list[bytes] = []
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise InputFileError("a string constant ends early", field="value")
        (length,) = struct.unpack_from("<I", data, at)
        at += 4 + length
        if at > len(data):
            raise InputFileError("a string constant ends early", field="value")
        items.append(data[at - length : at])
    return items


def _checked_strings(tensor: TensorProto, desc: TensorDesc) -> Sequence[bytes]:
    if tensor.HasField("raw_data") or tensor.data_location == TensorProto.EXTERNAL:
        raise InputFileError("strings can't be raw or external", field="raw_data")
    if len(tensor.string_data) != desc.elements:
        raise InputFileError(f"{len(tensor.string_data)} strings for {desc!r}", field="string_data")
    return list(tensor.string_data)


def _typed_bytes(tensor: TensorProto, desc: TensorDesc, nbytes: int) -> bytes:
    field, kind = _TYPED_FIELDS.get(desc.dtype, ("int32_data", "<u1"))
    items = getattr(tensor, field)
    if field == "int32_data":
        data = np.array(items, dtype=np.int64).astype(kind).tobytes()
    elif field == "uint64_data":
        data = np.array(items, dtype=np.uint64).astype(kind).tobytes()
    else:
        data = np.array(items, dtype=kind).tobytes()
    if len(data) != nbytes:
        raise InputFileError(f"{len(items)} values for {desc!r}", field=field)
    return data
