"""What ONNX's own inference lets pass although no runtime can compute it.

It cuts an axis down to 32 bits, adds up sizes of pieces without looking at their signs, and
believes a Reshape whatever it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ge_core.api import InputFileError, Node, TensorDesc
from ge_onnx import ops

_INT32: Final = 1 << 31


def check_agreement(
    node: Node, op: str, inputs: Sequence[TensorDesc | None], result: TensorDesc
) -> None:
    """Compare what a node asks for with what goes in and comes out, as far as that is known.

    Args:
        op: op type in the file's words.
        result: output 0.

    Raises:
        InputFileError: naming the field that is wrong.
    """
    axis = node.attrs.get("concat_dim", node.attrs.get("split_dim", node.attrs.get("onnx.axis")))
    if isinstance(axis, int) and not -_INT32 <= axis < _INT32:
        raise InputFileError(f"{op}: there is no axis {axis}", field="axis")
    sizes = node.attrs.get("size_splits", ())
    if any(size < 0 for size in sizes):
        raise InputFileError(f"{op}: a piece of size {min(sizes)}", field="split")
    source = inputs[0] if inputs else None
    if node.op in ops.RESHAPES and source is not None:
        given, wanted = source.elements, result.elements
        if given is not None and wanted is not None and given != wanted:
            raise InputFileError(f"{op}: {given} elements do not fit {wanted}", field="input")
