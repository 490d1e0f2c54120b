"""Initializers and Constant nodes, in every form that ONNX has for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, SparseTensorProto, TensorProto

from ge_core.api import ConstValue, InputFileError, LimitExceeded, TensorDesc
from ge_onnx import ops
from ge_onnx.proto.external import external_reference
from ge_onnx.proto.tensors import pack_strings, read_tensor, tensor_desc

MAX_DENSE_BYTES: Final = 1 << 31
"""A sparse tensor that would be longer than this is refused: nothing could hold it."""


_FORMS: Final = frozenset(
    {
        "value",
        "sparse_value",
        "value_float",
        "value_floats",
        "value_int",
        "value_ints",
        "value_string",
        "value_strings",
    }
)


@dataclass
class Constant:
    """A constant as the graph holds it: description, bytes, attributes of its node."""

    desc: TensorDesc
    value: ConstValue
    attrs: dict[str, Any] = field(default_factory=dict)


def read_initializers(proto: GraphProto, folder: Path) -> dict[str, Constant]:
    """The initializers of a graph by name, in the file's order.

    Raises:
        InputFileError: naming the initializer and its field.
    """
    found: dict[str, Constant] = {}
    named = [(t.name, partial(_dense, t, folder)) for t in proto.initializer]
    named += [(t.values.name, partial(_sparse, t, folder)) for t in proto.sparse_initializer]
    for name, read in named:
        if not name:
            raise InputFileError("an initializer without a name", field="graph.initializer")
        if name in found:
            raise InputFileError(
                f"{name!r} is initialized twice", node=name, field="graph.initializer"
            )
        found[name] = _labelled(read, name, "graph.initializer")
    return found


def read_constant_node(
    node: NodeProto, label: str, attributes: Mapping[str, AttributeProto], folder: Path
) -> Constant:
    """The value of a Constant node.

    Raises:
        InputFileError: no value, several, or a malformed one.
    """
    given = [form for form in attributes if form in _FORMS]
    if len(given) != 1:
        raise InputFileError(
            f"a Constant has one value, this one {len(given)}", node=label, field="attribute"
        )
    (form,) = given
    attribute = attributes[form]
    constant = _labelled(partial(_from_attribute, form, attribute, folder), label, form)
    constant.attrs[ops.SOURCE_OP] = "Constant"
    if form != "value":
        constant.attrs[ops.FORM] = form
    return constant


def _labelled(read: Any, label: str, field: str) -> Constant:
    try:
        found = read()
    except InputFileError as error:
        raise InputFileError(
            error.plain_message,
            node=label,
            field=field if error.field is None else f"{field}.{error.field}",
            hint=error.hint,
        ) from error
    assert isinstance(found, Constant)
    return found


def _from_attribute(form: str, attribute: AttributeProto, folder: Path) -> Constant:
    if form == "value":
        return _dense(attribute.t, folder)
    if form == "sparse_value":
        return _sparse(attribute.sparse_tensor, folder)
    if form in ("value_string", "value_strings"):
        items = [attribute.s] if form == "value_string" else list(attribute.strings)
        shape = () if form == "value_string" else (len(items),)
        return Constant(TensorDesc.make("string", shape), ConstValue(data=pack_strings(items)))
    numbers: dict[str, tuple[str, Any]] = {
        "value_int": ("int64", attribute.i),
        "value_ints": ("int64", list(attribute.ints)),
        "value_float": ("float32", attribute.f),
        "value_floats": ("float32", list(attribute.floats)),
    }
    dtype, items = numbers[form]
    array = np.array(items, dtype=dtype)
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return Constant(TensorDesc.make(dtype, array.shape), ConstValue(data=data))


def _dense(tensor: TensorProto, folder: Path) -> Constant:
    desc, value = read_tensor(tensor, folder)
    attrs: dict[str, Any] = {}
    if tensor.doc_string:
        attrs[ops.DOC] = tensor.doc_string
    if tensor.metadata_props:
        attrs[ops.METADATA] = {entry.key: entry.value for entry in tensor.metadata_props}
    if value.file is not None:
        reference = external_reference(tensor)
        attrs[ops.EXTERNAL] = {
            key: text for key, text in reference.items() if key not in ("offset", "length")
        }
    return Constant(desc, value, attrs)


def _sparse(tensor: SparseTensorProto, folder: Path) -> Constant:
    """A sparse tensor as a dense constant, filled in when somebody asks for the bytes."""
    desc = tensor_desc(tensor.values.data_type, tensor.dims)
    values_desc, values = read_tensor(tensor.values, folder)
    indices_desc, indices = read_tensor(tensor.indices, folder)
    elements, count = desc.elements, values_desc.elements
    size = desc.data_bytes
    if size is None or desc.dtype.endswith(("int4", "int2", "e2m1fn")):
        raise InputFileError(f"sparse tensors of {desc.dtype} are not supported", field="values")
    assert elements is not None and count is not None
    if size > MAX_DENSE_BYTES:
        raise LimitExceeded(f"a sparse tensor of {size} bytes; the limit is {MAX_DENSE_BYTES}")
    rank = len(desc.shape or ())
    if indices_desc.dtype != "int64" or indices_desc.shape not in ((count,), (count, rank)):
        raise InputFileError(
            f"indices {indices_desc!r} for {count} values of {desc!r}", field="indices"
        )
    places = np.frombuffer(indices.read(), "<i8").reshape(indices_desc.shape)
    if places.ndim == 2:
        if ((places < 0) | (places >= np.array(desc.shape))).any():
            raise InputFileError("an index lies outside the tensor", field="indices")
        places = np.ravel_multi_index(tuple(places.T), desc.shape or ()).astype(np.int64)
    if ((places < 0) | (places >= elements)).any():
        raise InputFileError("an index lies outside the tensor", field="indices")

    def fill() -> bytes:
        width = size // max(elements, 1)
        dense = np.zeros((elements, width), dtype=np.uint8)
        dense[places] = np.frombuffer(values.read(), np.uint8).reshape(count, width)
        return dense.tobytes()

    value = ConstValue(load=fill, nbytes=size)
    return Constant(desc, value, {ops.SPARSE: tensor.SerializeToString()})
