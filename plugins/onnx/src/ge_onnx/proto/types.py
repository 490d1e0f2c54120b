"""Types of values: ONNX's messages, plain values that the graph keeps, and descriptions.

A plain type is `{"tensor": dtype, "shape": [3, "batch", None]}` (without `shape` the rank is
unknown), `{"sequence": type}`, `{"optional": type}`, or `{"proto": bytes}`, the message itself, for
what these forms can't say. A plain value info is `{"name": ..., "type": ..., "doc": ...}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from onnx import TypeProto, ValueInfoProto

from ge_core.api import InputFileError, TensorDesc
from ge_onnx.proto.dtypes import NUMBERS, dtype_name

TYPE_ATTR: Final = "onnx.type"
"""Where the description of a sequence or optional keeps its plain type."""

UNKNOWN: Final = TensorDesc.make("undefined", None)
"""Of a value nothing is known."""

ABSENT: Final = TensorDesc.make("uint8", (0,))
"""Of an optional output that the model leaves out: it takes no memory."""

Bindings = Mapping[str, int]
"""Sizes that symbolic dimensions have been given."""


# ---- messages and plain values -----------------------------------------------------------------


def read_type(message: TypeProto) -> dict[str, Any]:
    """The plain form of a type."""
    plain = _read_simple(message)
    if plain is None or write_type(plain) != message:
        return {"proto": message.SerializeToString()}
    return plain


def write_type(plain: Mapping[str, Any]) -> TypeProto:
    """The message of a plain type.

    Raises:
        InputFileError: it is none.
    """
    message = TypeProto()
    if "proto" in plain:
        message.ParseFromString(plain["proto"])
        return message
    if "tensor" in plain:
        _write_tensor_type(message.tensor_type, plain)
    elif "sequence" in plain:
        message.sequence_type.elem_type.CopyFrom(write_type(plain["sequence"]))
    elif "optional" in plain:
        message.optional_type.elem_type.CopyFrom(write_type(plain["optional"]))
    elif plain:
        raise InputFileError(f"{plain!r:.80} is not the type of an ONNX value", field=TYPE_ATTR)
    return message


def read_info(message: ValueInfoProto) -> dict[str, Any]:
    """The plain form of a value info."""
    plain: dict[str, Any] = {"name": message.name, "type": read_type(message.type)}
    if message.doc_string:
        plain["doc"] = message.doc_string
    if message.metadata_props:
        plain["metadata"] = {entry.key: entry.value for entry in message.metadata_props}
    return plain


def write_info(plain: Mapping[str, Any], name: str) -> ValueInfoProto:
    """The message of a plain value info, under this name."""
    message = ValueInfoProto(name=name, doc_string=plain.get("doc"))
    kind = plain.get("type")
    if kind:
        message.type.CopyFrom(write_type(kind))
    for key, value in plain.get("metadata", {}).items():
        message.metadata_props.add(key=key, value=value)
    return message


def _read_simple(message: TypeProto) -> dict[str, Any] | None:
    kind = message.WhichOneof("value")
    if kind is None:
        return {}
    if kind == "sequence_type":
        return {"sequence": read_type(message.sequence_type.elem_type)}
    if kind == "optional_type":
        return {"optional": read_type(message.optional_type.elem_type)}
    if kind != "tensor_type":
        return None
    tensor = message.tensor_type
    plain: dict[str, Any] = {"tensor": dtype_name(tensor.elem_type) if tensor.elem_type else ""}
    if tensor.HasField("shape"):
        plain["shape"] = [
            dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
            for dim in tensor.shape.dim
        ]
    return plain


def _write_tensor_type(message: TypeProto.Tensor, plain: Mapping[str, Any]) -> None:
    if plain["tensor"]:
        message.elem_type = NUMBERS[plain["tensor"]]
    if plain.get("shape") is None:
        return
    message.shape.SetInParent()
    for size in plain["shape"]:
        dim = message.shape.dim.add()
        if isinstance(size, str):
            dim.dim_param = size
        elif size is not None:
            dim.dim_value = size


# ---- descriptions ------------------------------------------------------------------------------


def type_desc(message: TypeProto, bindings: Bindings | None = None) -> TensorDesc:
    """The description of a value of this type; symbolic dimensions have their bound sizes.

    Raises:
        InputFileError: an unknown element type, or a dimension below -1 (-1 means unknown).
    """
    kind = message.WhichOneof("value")
    if kind is None:
        return UNKNOWN
    if kind != "tensor_type":
        return UNKNOWN.with_attr(TYPE_ATTR, read_type(message))
    tensor = message.tensor_type
    dtype = dtype_name(tensor.elem_type) if tensor.elem_type else "undefined"
    if not tensor.HasField("shape"):
        return TensorDesc.make(dtype, None)
    shape = []
    for dim in tensor.shape.dim:
        if not dim.HasField("dim_value"):
            shape.append((bindings or {}).get(dim.dim_param, -1))
        elif dim.dim_value < -1:
            raise InputFileError(f"negative dimension {dim.dim_value}", field="shape")
        else:
            shape.append(dim.dim_value)
    return TensorDesc.make(dtype, shape)


def desc_type(desc: TensorDesc) -> TypeProto:
    """The type of a value with this description."""
    plain = desc.attrs.get(TYPE_ATTR)
    if plain is not None:
        return write_type(plain)
    message = TypeProto()
    if desc.dtype == "undefined":
        return message
    message.tensor_type.elem_type = NUMBERS[desc.dtype]
    if desc.shape is not None:
        message.tensor_type.shape.SetInParent()
        for size in desc.shape:
            dim = message.tensor_type.shape.dim.add()
            if size >= 0:
                dim.dim_value = size
    return message
