"""ONNX's ops and the graph's: names both ways, and the attributes that are spelled differently.

| ONNX | graph |
| --- | --- |
| Identity | TensorMove |
| Concat (axis) | ConcatD (concat_dim) |
| Split, equal pieces (axis) | SplitD (split_dim, num_split) |
| Split, sizes given (axis) | SplitVD (split_dim, num_split, size_splits) |
| Constant, initializer | Const |
| op of another domain | `domain::Op` |

Constant sizes of a Split are an attribute in the graph, whichever way the opset spells them; sizes
that are computed stay an input. Bounds of a Slice stay inputs; where they are computed and yet
known, the attributes of GE's SliceD (offsets, size) tell them. Everything else keeps its
name, its attributes as `onnx.<name>`.
"""

from __future__ import annotations

from typing import Any, Final

PREFIX: Final = "onnx."
"""Of ONNX's own attributes."""

SOURCE_OP: Final = "_source_op"
"""The op type in the file."""
DOC: Final = "_onnx_doc"
METADATA: Final = "_onnx_metadata"
REST: Final = "_onnx_rest"
"""What else a node's message holds, as bytes."""
NODE_NAME: Final = "_onnx_name"
"""The name in the file, where the node has another."""
OPSET: Final = "_onnx_opset"
"""The version of its domain that a node follows, where the model imports another."""
INPUT_INFO: Final = "_onnx_input"
"""Value info of a Data or Const that the model lists as an input, with its place `at`."""
OUTPUT_INFOS: Final = "_onnx_outputs"
"""Value infos of a graph's outputs, on its NetOutput."""
EXTERNAL: Final = "_onnx_external"
"""The external reference of a Const."""
SPARSE: Final = "_onnx_sparse"
"""The sparse form of a Const, as bytes."""
FORM: Final = "_onnx_form"
"""Which attribute of a Constant node held the value, where not `value`."""
EVEN: Final = "_onnx_even"
"""On a SplitVD: the file asks for this many pieces as even as possible."""

SIZES_NAME: Final = "_onnx_split"
"""On a SplitVD: the name of the constant that held its sizes."""

RESHAPES: Final = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
"""Ops whose result is their input in another shape."""

TO_GRAPH: Final = {"Identity": "TensorMove", "Concat": "ConcatD", "Split": "SplitD"}
TO_ONNX: Final = {
    "TensorMove": "Identity",
    "ConcatD": "Concat",
    "ConcatV2D": "Concat",
    "PhonyConcat": "Concat",
    "SplitD": "Split",
    "SplitVD": "Split",
    "PhonySplit": "Split",
    "Const": "Constant",
}
JOINS: Final = frozenset(name for name, op in TO_ONNX.items() if op == "Concat")
SPLITS: Final = frozenset(name for name, op in TO_ONNX.items() if op == "Split")
CONTROL_FLOW: Final = frozenset({"If", "Loop", "Scan"})


def graph_op(
    domain: str, op: str, attrs: dict[str, Any], outputs: int
) -> tuple[str, dict[str, Any]]:
    """Op type and attributes in the graph of an ONNX op.

    Args:
        attrs: by ONNX's names.
        outputs: how many it has.
    """
    if domain:
        return f"{domain}::{op}", _prefixed(attrs)
    own: dict[str, Any] = {}
    if op == "Concat":
        own["concat_dim"] = attrs.pop("axis")
    elif op == "Split":
        own["split_dim"] = attrs.pop("axis", 0)
        own["num_split"] = outputs
        attrs.pop("num_outputs", None)
        sizes = attrs.pop("split", None)
        if sizes is not None:
            own["size_splits"] = sizes
            return "SplitVD", {**own, **_prefixed(attrs)}
    return TO_GRAPH.get(op, op), {**own, **_prefixed(attrs)}


def onnx_op(op: str) -> tuple[str, str]:
    """Domain and op type in ONNX of a graph's op."""
    domain, mark, name = op.rpartition("::")
    if mark:
        return domain, name
    return "", TO_ONNX.get(op, op)


def onnx_attrs(op: str, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes by ONNX's names; sizes of a split are left to the caller."""
    found = {
        name.removeprefix(PREFIX): value for name, value in attrs.items() if name.startswith(PREFIX)
    }
    if op in JOINS:
        found["axis"] = attrs.get("concat_dim", 0)
    elif op in SPLITS:
        found["axis"] = attrs.get("split_dim", 0)
    return found


def _prefixed(attrs: dict[str, Any]) -> dict[str, Any]:
    return {PREFIX + name: value for name, value in attrs.items()}
