"""The entry points: run a node, decode a constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ge_core.api import GeError, InputFileError, Node
from ge_onnx import ops
from ge_onnx.kernels.call import Array, Call, call_of
from ge_onnx.kernels.memory import canonical, detached
from ge_onnx.kernels.random import NEEDS_SEED, run_random
from ge_onnx.kernels.reference import run_reference
from ge_onnx.kernels.table import kernel_for
from ge_onnx.proto.dtypes import numpy_dtype
from ge_onnx.proto.tensors import unpack_strings
from ge_onnx.shapes.values import is_short

_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a kernel may raise about inputs that the op does not take."""


def compute(node: Node, inputs: Sequence[Any], ctx: Any = None) -> list[Any]:
    """Compute one node.

    Args:
        node: any node of an ONNX graph but If, Loop, Scan, Data, Const and NetOutput.
        inputs: an array per input; None for one left out; a list for a sequence; None or a value
            for an optional. They are neither changed nor kept.
        ctx: of the run; its `seed` is what random ops draw from. None: a seed of zero.

    Returns:
        A fresh value per output; an empty array for an output that the model leaves out.

    Raises:
        InputFileError: no kernel for the op, or inputs that it can't compute; names the node.
    """
    call = call_of(node)
    given = [canonical(value) for value in inputs]
    try:
        with np.errstate(all="ignore"):
            results = _run(call, node, given, ctx)
    except InputFileError as error:
        raise InputFileError(error.plain_message, node=node.name, field=error.field) from error
    except _FAILURES as e:
        text = " ".join(str(e).split())[:300]
        raise InputFileError(
            f"{call.op} can't be computed: {type(e).__name__}: {text}", node=node.name
        ) from e
    return [
        detached(result, given) if wanted else np.empty(0, np.uint8)
        for result, wanted in zip(results, call.outputs, strict=True)
    ]


def _run(call: Call, node: Node, inputs: Sequence[Any], ctx: Any) -> Sequence[Any]:
    if call.op in NEEDS_SEED and not call.domain:
        found = run_random(call, node, inputs, ctx)
    else:
        kernel = kernel_for(call)
        if kernel is None:
            return run_reference(call, inputs)
        found = kernel(call, *inputs)
        if found is NotImplemented:
            return run_reference(call, inputs)
    results = list(found)[: len(call.outputs)] if isinstance(found, tuple) else [found]
    return results + [None] * (len(call.outputs) - len(results))


def constant(node: Node, inputs: Sequence[Any] = (), ctx: Any = None) -> list[Any]:
    """The value of a Const, or the default of a Data, strings included.

    Raises:
        InputFileError: it has none, or the external file can't be read.
    """
    desc = node.outputs[0].desc
    if node.value is None:
        raise InputFileError("the constant has no value", node=node.name, field="value")
    data = node.value.read()
    shape = desc.shape or ()
    if desc.dtype == "string":
        items = [item.decode("utf-8", "surrogateescape") for item in unpack_strings(data)]
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return [array.reshape(shape)]
    return [unpack(data, desc.dtype, shape)]


def unpack(data: bytes, dtype: str, shape: Sequence[int]) -> Array:
    """The array of packed little-endian bytes; elements narrower than a byte get one each."""
    kind = numpy_dtype(dtype)
    width = _sub_byte_bits(dtype)
    if width is None:
        order = kind.newbyteorder("<") if kind.isbuiltin == 1 else kind
        return np.frombuffer(data, order).astype(kind).reshape(shape)
    raw = np.frombuffer(data, np.uint8)
    per_byte = 8 // width
    shifts = np.arange(per_byte, dtype=np.uint8) * width
    codes = (raw[:, None] >> shifts) & np.uint8((1 << width) - 1)
    count = int(np.prod(shape, dtype=np.int64))
    codes = codes.reshape(-1)[:count]
    if dtype.startswith("int"):
        sign = np.uint8(1 << (width - 1))
        return ((codes ^ sign).astype(np.int8) - np.int8(sign)).astype(kind).reshape(shape)
    if dtype.startswith("uint"):
        return codes.astype(kind).reshape(shape)
    return codes.view(kind).reshape(shape)


def _sub_byte_bits(dtype: str) -> int | None:
    for ending, width in (("int4", 4), ("int2", 2), ("int1", 1), ("e2m1fn", 4)):
        if dtype.endswith(ending):
            return width
    return None


def constant_result(node: Node, inputs: Sequence[Any]) -> Array | None:
    """The one output of a node with known inputs, for shape inference; None where it has none.

    Short values of ordinary deterministic ops only.
    """
    domain, op = ops.onnx_op(node.op)
    if domain or op in NEEDS_SEED or not inputs or not is_short(node.outputs[0].desc):
        return None
    try:
        (result,) = compute(node, inputs)
    except GeError:
        return None
    if not isinstance(result, np.ndarray) or result.dtype.kind not in "biuf":
        return None
    return result
