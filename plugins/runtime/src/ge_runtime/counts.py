"""How many copies a run really made, in number and bytes, by op type of the source file."""

from __future__ import annotations

from dataclasses import dataclass, field

from ge_core.api import Node


@dataclass(slots=True)
class Tally:
    """A number of copies and the bytes they moved."""

    count: int = 0
    bytes: int = 0

    def add(self, nbytes: int) -> None:
        """One more copy."""
        self.count += 1
        self.bytes += nbytes


@dataclass(slots=True)
class CopyCounter:
    """Copies of one run.

    Attributes:
        total: all of them.
        boundary: those at the boundary of a control-flow node: an arm's result into the node's
            output, a loop's values into their slots, the pieces that a scan collects.
        by_op: all of them by op type, as the source file calls it.
    """

    total: Tally = field(default_factory=Tally)
    boundary: Tally = field(default_factory=Tally)
    by_op: dict[str, Tally] = field(default_factory=dict)

    def add(self, node: Node, nbytes: int, *, boundary: bool = False) -> None:
        """Count a copy that a node made; one that moves nothing counts nothing."""
        if nbytes == 0:
            return
        self.total.add(nbytes)
        if boundary:
            self.boundary.add(nbytes)
        op = str(node.attrs.get("_source_op") or node.op)
        self.by_op.setdefault(op, Tally()).add(nbytes)
