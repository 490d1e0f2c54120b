"""ONNX attributes as plain values: what stands in a node under `onnx.<name>`.

| attribute | value |
| --- | --- |
| INT, FLOAT | int, float |
| STRING | str; bytes where it is not UTF-8 |
| INTS, FLOATS, STRINGS | list; `{"empty": "INTS"}` where a list alone would not tell its kind |
| TENSOR | `{"dtype", "shape", "data"}`, with `name` where it has one |
| anything else | `{"attribute": bytes}`, the message itself |

Both ways lose nothing but notes: doc strings of tensors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onnx import AttributeProto

from ge_core.api import InputFileError, TensorDesc
from ge_onnx.proto.tensors import read_tensor, write_tensor

_LISTS = {
    AttributeProto.INTS: "ints",
    AttributeProto.FLOATS: "floats",
    AttributeProto.STRINGS: "strings",
}


def read_attribute(attribute: AttributeProto, folder: Path) -> Any:
    """The plain value of an attribute; external tensors are read.

    Raises:
        InputFileError: the attribute holds no value of a known kind.
    """
    kind = attribute.type
    if kind == AttributeProto.INT:
        return attribute.i
    if kind == AttributeProto.FLOAT:
        return attribute.f
    if kind == AttributeProto.STRING:
        return text_or_bytes(attribute.s)
    if kind in _LISTS:
        items = list(getattr(attribute, _LISTS[kind]))
        if not items:
            return {"empty": AttributeProto.AttributeType.Name(kind)}
        return [text_or_bytes(i) for i in items] if kind == AttributeProto.STRINGS else items
    if kind == AttributeProto.TENSOR:
        desc, value = read_tensor(attribute.t, folder)
        plain: dict[str, Any] = {
            "dtype": desc.dtype,
            "shape": list(desc.shape or ()),
            "data": value.read(),
        }
        if attribute.t.name:
            plain["name"] = attribute.t.name
        return plain
    if kind == AttributeProto.UNDEFINED or kind not in AttributeProto.AttributeType.values():
        raise InputFileError(f"attribute {attribute.name!r} has no type", field=attribute.name)
    return {"attribute": attribute.SerializeToString()}


def write_attribute(name: str, value: Any) -> AttributeProto:
    """The attribute message of a plain value.

    Raises:
        InputFileError: the value is none that `read_attribute` returns.
    """
    attribute = AttributeProto(name=name)
    if isinstance(value, dict):
        return _write_tagged(attribute, value)
    if isinstance(value, (list, tuple)):
        return _write_list(attribute, value)
    if isinstance(value, (str, bytes)):
        attribute.type = AttributeProto.STRING
        attribute.s = as_bytes(value)
    elif isinstance(value, int):
        attribute.type = AttributeProto.INT
        attribute.i = value
    elif isinstance(value, float):
        attribute.type = AttributeProto.FLOAT
        attribute.f = value
    else:
        raise _not_a_value(name, value)
    return attribute


def text_or_bytes(item: bytes) -> str | bytes:
    """Text where the bytes are UTF-8, else the bytes."""
    try:
        return item.decode("utf-8")
    except UnicodeDecodeError:
        return item


def as_bytes(item: str | bytes) -> bytes:
    """The bytes that `text_or_bytes` was given."""
    return item.encode("utf-8") if isinstance(item, str) else item


def _write_tagged(attribute: AttributeProto, value: dict[str, Any]) -> AttributeProto:
    try:
        if "attribute" in value:
            attribute = AttributeProto.FromString(value["attribute"])
        elif "empty" in value:
            attribute.type = AttributeProto.AttributeType.Value(value["empty"])
        else:
            desc = TensorDesc.make(value["dtype"], value["shape"])
            attribute.type = AttributeProto.TENSOR
            attribute.t.CopyFrom(write_tensor(value.get("name", ""), desc, value["data"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _not_a_value(attribute.name, value) from error
    return attribute


def _write_list(attribute: AttributeProto, items: list[Any] | tuple[Any, ...]) -> AttributeProto:
    if all(isinstance(item, int) for item in items):
        attribute.type = AttributeProto.INTS
        attribute.ints.extend(items)
    elif all(isinstance(item, (int, float)) for item in items):
        attribute.type = AttributeProto.FLOATS
        attribute.floats.extend(items)
    elif all(isinstance(item, (str, bytes)) for item in items):
        attribute.type = AttributeProto.STRINGS
        attribute.strings.extend(as_bytes(item) for item in items)
    else:
        raise _not_a_value(attribute.name, items)
    return attribute


def _not_a_value(name: str, value: object) -> InputFileError:
    return InputFileError(f"{value!r:.80} is not the value of an ONNX attribute", field=name)
