"""Types and shapes of one node by ONNX's own inference, remembered by what it depends on.

Models repeat themselves: most nodes are answered from memory, which makes up for the cost of
crossing into onnx's C++ per node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from onnx import OperatorSetIdProto, TensorProto, TypeProto, checker, defs, shape_inference

from ge_core.api import InputFileError, Node, TensorDesc
from ge_onnx import ops
from ge_onnx.kernels.call import call_of, frozen
from ge_onnx.kernels.windows import windows_of
from ge_onnx.messages import absent_outputs, node_message, split_facts, version_of
from ge_onnx.proto.dtypes import NUMBERS
from ge_onnx.proto.types import ABSENT, TYPE_ATTR, UNKNOWN, desc_type, type_desc
from ge_onnx.reading.schemas import schema_of
from ge_onnx.shapes.agree import check_agreement
from ge_onnx.shapes.values import Array

_NOTES: Final = frozenset(
    {ops.DOC, ops.METADATA, ops.REST, ops.NODE_NAME, ops.SOURCE_OP, ops.SIZES_NAME}
)
_FLOAT_VALUES: Final = {"Resize": (1, 2), "Upsample": (1,), "Range": (0, 1, 2)}
"""Inputs that are no integers and still settle a shape."""

_FAILURES = (
    shape_inference.InferenceError,
    checker.ValidationError,
    IndexError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What onnx raises about a node that it does not accept."""

Data = Sequence[Array | None]


class SchemaTypes:
    """Answers for the nodes of one graph.

    Args:
        ir_version: of the model.
    """

    def __init__(self, ir_version: int) -> None:
        self._ir_version = ir_version
        self._known: dict[Any, list[TensorDesc] | InputFileError] = {}

    def of(self, node: Node, data: Data, *, shapes: bool = True) -> list[TensorDesc] | None:
        """Descriptions of a node's outputs; None for an op that ONNX doesn't define.

        Args:
            data: the inputs' values, where known.
            shapes: False: as if of the inputs only the types were known.

        Raises:
            InputFileError: input types or shapes that the op doesn't take.
        """
        domain, op = ops.onnx_op(node.op)
        version = version_of(node)
        schema = schema_of(domain, op, version)
        if schema is None:
            return None
        used = [
            value if shapes and value is not None and _settles_shapes(op, at, value) else None
            for at, value in enumerate(data)
        ]
        inputs = [None if anchor.source is None else anchor.source.desc for anchor in node.inputs]
        if not shapes:
            inputs = [None if desc is None else desc.replace(shape=None) for desc in inputs]
        absent = absent_outputs(node)
        key = (
            node.op,
            version,
            frozen({k: v for k, v in node.attrs.items() if k not in _NOTES}),
            tuple(inputs),
            tuple(None if v is None else (v.dtype.str, v.shape, v.tobytes()) for v in used),
            tuple(absent),
        )
        found = self._known.get(key)
        if found is None:
            try:
                found = self._ask(node, schema, version, inputs, used, absent)
            except InputFileError as error:
                found = error
            self._known[key] = found
        if isinstance(found, InputFileError):
            raise InputFileError(found.plain_message, node=node.name, field=found.field)
        return found

    def _ask(
        self,
        node: Node,
        schema: defs.OpSchema,
        version: int,
        inputs: Sequence[TensorDesc | None],
        data: Data,
        absent: Sequence[bool],
    ) -> list[TensorDesc]:
        check_types(schema, inputs)
        names = ["" if desc is None else f"i{at}" for at, desc in enumerate(inputs)]
        types = {name: desc_type(desc) for name, desc in zip(names, inputs, strict=True) if desc}
        values = {f"i{at}": _message(value) for at, value in enumerate(data) if value is not None}
        extra: dict[str, Any] = {}
        if node.op in ops.SPLITS:
            sizes, extra = split_facts(node, version)
            if sizes is not None:
                names.append("sizes")
                types["sizes"] = desc_type(TensorDesc.make("int64", (len(sizes),)))
                values["sizes"] = _message(np.array(sizes, dtype=np.int64))
        results = ["" if gone else f"o{at}" for at, gone in enumerate(absent)]
        message = node_message(node, names, results, extra)
        imports = [OperatorSetIdProto(domain=message.domain, version=version)]
        try:
            found = shape_inference.infer_node_outputs(
                schema, message, types, values, {}, imports, self._ir_version
            )
        except _FAILURES as error:
            raise InputFileError(f"{message.op_type}: {_one_line(error)}", field="input") from error
        descs = [
            ABSENT if gone else _desc(found.get(name))
            for name, gone in zip(results, absent, strict=True)
        ]
        descs = complete(node, message.op_type, inputs, descs)
        if descs:
            check_agreement(node, message.op_type, inputs, descs[0])
        return descs


def complete(
    node: Node, op: str, inputs: Sequence[TensorDesc | None], descs: list[TensorDesc]
) -> list[TensorDesc]:
    """Add what ONNX's inference leaves open although it follows, and correct what it gets wrong."""
    if op == "Dropout" and len(descs) == 2 and inputs[0] is not None and descs[1] is not ABSENT:
        return [descs[0], descs[1].replace(shape=inputs[0].shape)]
    if op in ("AveragePool", "MaxPool") and node.attrs.get("onnx.ceil_mode") and inputs[0]:
        # It counts a last window that would lie in the padding behind the input; runtimes don't.
        shape, kernel = inputs[0].shape, node.attrs["onnx.kernel_shape"]
        if shape is not None and inputs[0].is_static and len(shape) == len(kernel) + 2:
            out = windows_of(call_of(node), shape, kernel, ceil=True).out
            return [desc.replace(shape=(*shape[:2], *out)) for desc in descs]
    return descs


def check_types(schema: defs.OpSchema, inputs: Sequence[TensorDesc | None]) -> None:
    """Compare input types with what a schema allows.

    Raises:
        InputFileError: naming the op, the input and what it would take.
    """
    bound: dict[str, tuple[str, str]] = {}
    for at, desc in enumerate(inputs):
        kind = None if desc is None else _type_name(desc)
        if kind is None or not schema.inputs:
            continue
        formal = schema.inputs[min(at, len(schema.inputs) - 1)]
        if kind not in formal.types:
            raise InputFileError(
                f"{schema.name} does not take {kind} as its input {formal.name!r}",
                field=formal.name,
            )
        if not formal.is_homogeneous and at >= len(schema.inputs) - 1:
            continue
        first, other = bound.setdefault(formal.type_str, (formal.name, kind))
        if other != kind:
            raise InputFileError(
                f"{schema.name} takes inputs of one type, not {other} as {first!r} and {kind} as "
                f"{formal.name!r}",
                field=formal.name,
            )


def _type_name(desc: TensorDesc) -> str | None:
    """A type as schemas write it; None where it is unknown."""
    plain = desc.attrs.get(TYPE_ATTR)
    if plain is not None:
        return _plain_name(plain)
    return None if desc.dtype == "undefined" else _plain_name({"tensor": desc.dtype})


def _plain_name(plain: Mapping[str, Any]) -> str | None:
    for key, word in (("sequence", "seq"), ("optional", "optional")):
        if key in plain:
            inner = _plain_name(plain[key])
            return None if inner is None else f"{word}({inner})"
    dtype = plain.get("tensor")
    return f"tensor({_SCHEMA_NAMES.get(dtype, dtype)})" if dtype else None


_SCHEMA_NAMES: Final = {
    "float32": "float",
    "float64": "double",
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
    "float8_e8m0fnu": "float8e8m0",
    "float4_e2m1fn": "float4e2m1",
}


def _settles_shapes(op: str, at: int, value: Array) -> bool:
    return value.dtype.kind in "iu" or at in _FLOAT_VALUES.get(op, ())


def _message(value: Array) -> TensorProto:
    dtype = value.dtype
    return TensorProto(
        data_type=NUMBERS[dtype.name],
        dims=value.shape,
        raw_data=value.astype(dtype.newbyteorder("<")).tobytes(),
    )


def _desc(found: TypeProto | None) -> TensorDesc:
    desc = UNKNOWN if found is None else type_desc(found)
    # Inference may keep the names of symbolic dimensions in a type; a description has none.
    return desc if TYPE_ATTR in desc.attrs or desc.dtype != "undefined" else UNKNOWN


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:300] + "..."
