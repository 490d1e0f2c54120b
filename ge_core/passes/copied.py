"""What a node copies when the graph runs, in bytes: the one rule for remarks and for counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_core.ir import InputAnchor, Node, OutputAnchor
from ge_core.ops import OpRegistry, is_no_task, written_inputs

_OF_INPUTS: Final = frozenset({"join", "pack"})
_OF_OUTPUTS: Final = frozenset({"move", "split", "slice"})


def copied_sizes(node: Node, ops: OpRegistry) -> list[int | None]:
    """Bytes of each tensor that a node copies, None where a size is not known.

    A move copies its tensor, a join what it gathers, a split or slice what it gives, an Assign of a
    whole buffer the value. There are none where nothing moves at run time: the node has no task,
    its output is its input's memory, or there are no bytes.
    """
    if is_no_task(node):
        return []
    sizes = [None if a.desc is None else a.desc.nbytes for a in _copied(node, ops)]
    return [] if all(size == 0 for size in sizes) else sizes


def copied_bytes(node: Node, ops: OpRegistry) -> int | None:
    """Bytes that a node copies: 0 where it copies nothing, None where a size is not known."""
    sizes = copied_sizes(node, ops)
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _copied(node: Node, ops: OpRegistry) -> Iterator[InputAnchor | OutputAnchor]:
    kind = ops.kind(node)
    if kind in _OF_INPUTS:
        yield from (anchor for anchor in node.inputs if anchor.source is not None)
    elif kind in _OF_OUTPUTS:
        yield from (output for output in node.outputs if output.desc.reuse_input is None)
    elif is_write_back(node, ops):
        yield from node.inputs[1:2]


def is_write_back(node: Node, ops: OpRegistry) -> bool:
    """Whether a node stores a whole value into a buffer of the same size: an Assign."""
    if node.op not in ("Assign", "AssignVariableOp") or len(node.inputs) < 2:
        return False
    if 0 not in written_inputs(node, ops):
        return False
    target, value = (anchor.desc for anchor in node.inputs[:2])
    return target is not None and value is not None and target.nbytes == value.nbytes
