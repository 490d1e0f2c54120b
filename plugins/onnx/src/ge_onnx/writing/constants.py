"""Constants as initializers and Constant nodes."""

from __future__ import annotations

from typing import Any

from onnx import NodeProto, SparseTensorProto, TensorProto

from ge_core.api import InputFileError, Node
from ge_onnx import ops
from ge_onnx.proto.dtypes import NUMBERS
from ge_onnx.proto.tensors import unpack_strings, write_tensor
from ge_onnx.proto.values import write_attribute
from ge_onnx.writing.external import ExternalData


def is_initializer(node: Node) -> bool:
    """Whether a Const is written as an initializer, not as a Constant node."""
    return node.op == "Const" and node.attrs.get(ops.SOURCE_OP) != "Constant"


def tensor_message(node: Node, name: str, external: ExternalData) -> TensorProto:
    """The tensor of a Const, or the default of a Data.

    Raises:
        InputFileError: it has no value, or bytes that don't fit its type.
    """
    desc, value = node.outputs[0].desc, node.value
    if value is None:
        raise InputFileError("the constant has no value", node=node.name, field="value")
    if desc.dtype not in NUMBERS or not desc.is_static:
        raise InputFileError(f"{desc!r} has no ONNX form", node=node.name, field="outputs")
    if desc.data_bytes is not None and desc.data_bytes != value.nbytes:
        raise InputFileError(f"{value.nbytes} bytes for {desc!r}", node=node.name, field="value")
    if external.wants(value):
        tensor = TensorProto(name=name, data_type=NUMBERS[desc.dtype], dims=desc.shape or ())
        external.refer(tensor, value, dict(node.attrs.get(ops.EXTERNAL, {})))
    else:
        tensor = write_tensor(name, desc, value.read())
    if node.attrs.get(ops.DOC) and node.attrs.get(ops.SOURCE_OP) != "Constant":
        tensor.doc_string = node.attrs[ops.DOC]
    if is_initializer(node):
        for key, text in node.attrs.get(ops.METADATA, {}).items():
            tensor.metadata_props.add(key=key, value=text)
    return tensor


def sparse_message(node: Node, name: str) -> SparseTensorProto | None:
    """The sparse form of a Const, where it came in one."""
    data = node.attrs.get(ops.SPARSE)
    if data is None:
        return None
    sparse: SparseTensorProto = SparseTensorProto.FromString(data)
    sparse.values.name = name
    return sparse


def constant_message(node: Node, name: str, external: ExternalData) -> NodeProto:
    """The Constant node of a Const, its value in the form that it came in."""
    message = NodeProto(op_type="Constant", output=[name])
    form = node.attrs.get(ops.FORM, "value")
    sparse = sparse_message(node, "")
    if form == "sparse_value" and sparse is not None:
        attribute = message.attribute.add()
        attribute.name, attribute.type = form, attribute.SPARSE_TENSOR
        attribute.sparse_tensor.CopyFrom(sparse)
        return message
    if form == "value" or form == "sparse_value":
        attribute = message.attribute.add()
        attribute.name, attribute.type = "value", attribute.TENSOR
        attribute.t.CopyFrom(tensor_message(node, "", external))
        return message
    message.attribute.append(write_attribute(form, _plain(node, form)))
    return message


def _plain(node: Node, form: str) -> Any:
    desc, value = node.outputs[0].desc, node.value
    assert value is not None
    data = value.read()
    if form in ("value_string", "value_strings"):
        items: list[Any] = list(unpack_strings(data))
    else:
        import numpy as np

        items = np.frombuffer(data, np.dtype(desc.dtype).newbyteorder("<")).tolist()
    if form in ("value_string", "value_int", "value_float"):
        return items[0]
    if not items:
        kinds = {"value_ints": "INTS", "value_floats": "FLOATS", "value_strings": "STRINGS"}
        return {"empty": kinds[form]}
    return items
