"""Counting copies: what of a graph's moves, joins, splits, slices and write-backs moves bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.ops import OpRegistry, is_no_task, written_inputs

OF_INPUTS: Final = frozenset({"join", "pack"})
OF_OUTPUTS: Final = frozenset({"move", "split", "slice"})


@dataclass(frozen=True, slots=True)
class Copies:
    """How many nodes copy, and how many bytes; a size that is not known counts as 0 bytes."""

    count: int = 0
    bytes: int = 0

    def plus(self, bytes: int) -> Copies:
        """One more copying node."""
        return Copies(self.count + 1, self.bytes + bytes)

    def to_json(self) -> dict[str, int]:
        """`{"count", "bytes"}`."""
        return {"count": self.count, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class CopyCount:
    """The copies of one graph, in all and by the op types of the source file."""

    total: Copies
    by_op: dict[str, Copies]


def count_copies(graph: Graph, ops: OpRegistry) -> CopyCount:
    """Count the copies of a graph and its subgraphs.

    Counted are TensorMove and Identity (bytes of the tensor), Concat and Pack (of the inputs),
    Split and Slice (bytes of the outputs), Assign-like write-backs of a whole buffer (bytes of the
    value). A node that moves nothing at run time, because it has no task, its output is its input's
    memory or there are no bytes, counts zero.
    """
    total = Copies()
    by_op: dict[str, Copies] = {}
    for node in graph.all_nodes():
        moved = copied_bytes(node, ops)
        if moved is None:
            continue
        total = total.plus(moved)
        key = source_op(node)
        by_op[key] = by_op.get(key, Copies()).plus(moved)
    return CopyCount(total, dict(sorted(by_op.items())))


def copied_bytes(node: Node, ops: OpRegistry) -> int | None:
    """Bytes that a node copies, 0 where they are not known; None where it copies nothing."""
    if is_no_task(node):
        return None
    kind = ops.kind(node)
    anchors: Iterator[InputAnchor | OutputAnchor]
    if kind in OF_INPUTS:
        anchors = (anchor for anchor in node.inputs if anchor.source is not None)
    elif kind in OF_OUTPUTS:
        anchors = (output for output in node.outputs if output.desc.reuse_input is None)
    elif is_write_back(node, ops):
        anchors = iter(node.inputs[1:2])
    else:
        return None
    sizes = [None if anchor.desc is None else anchor.desc.nbytes for anchor in anchors]
    if not sizes or all(size == 0 for size in sizes):
        return None
    return sum(size or 0 for size in sizes)


def is_write_back(node: Node, ops: OpRegistry) -> bool:
    """Whether a node stores a whole value into a buffer of the same size: an Assign."""
    if node.op not in ("Assign", "AssignVariableOp") or 0 not in written_inputs(node, ops):
        return False
    target, value = (anchor.desc for anchor in node.inputs[:2])
    return target is not None and value is not None and target.nbytes == value.nbytes


def source_op(node: Node) -> str:
    """The op type in the source file: "Identity" for what became a TensorMove."""
    return str(node.attrs.get("_source_op", node.op))
