"""Counting copies: what of a graph's moves, joins, splits, slices and write-backs moves bytes."""

from __future__ import annotations

from dataclasses import dataclass

from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry
from ge_core.passes.copied import copied_sizes


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

    Counted are the nodes that copy something at run time, by the rule of `copied_sizes`.
    """
    total = Copies()
    by_op: dict[str, Copies] = {}
    for node in graph.all_nodes():
        sizes = copied_sizes(node, ops)
        if not sizes:
            continue
        moved = sum(size or 0 for size in sizes)
        total = total.plus(moved)
        key = source_op(node)
        by_op[key] = by_op.get(key, Copies()).plus(moved)
    return CopyCount(total, dict(sorted(by_op.items())))


def source_op(node: Node) -> str:
    """The op type in the source file: "Identity" for what became a TensorMove."""
    return str(node.attrs.get("_source_op", node.op))
