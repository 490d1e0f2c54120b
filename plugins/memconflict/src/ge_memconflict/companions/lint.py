"""Readers and writers of one value that no path of edges orders.

Per output, consumers are looked at in a topological order. Where each writer is joined by a path to
what stands between it and the next one, everything is in order, and the searches of one output lie
side by side; only where a path is missing every writer is held against every other consumer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    Graph,
    InputAnchor,
    Interfaces,
    Node,
    OpRegistry,
    Order,
    OutputAnchor,
    written_inputs,
)

_CMO: Final = "Cmo"


@dataclass(frozen=True, slots=True)
class Finding:
    """Two consumers of one output without an order.

    Attributes:
        value: the output.
        writer: an input that is written.
        other: an input of another node, read or written.
        both_write: whether the other one is written too.
    """

    value: OutputAnchor
    writer: InputAnchor
    other: InputAnchor
    both_write: bool


class Linter:
    """Finds such pairs below one root.

    Attributes:
        steps: edges looked at where a path is missing; the order counts the others.
    """

    def __init__(self, ops: OpRegistry, order: Order) -> None:
        self._ops = ops
        self._order = order
        self._ends = Interfaces()
        self.steps = 0

    def findings(self, graph: Graph) -> Iterator[Finding]:
        """The pairs of one graph, by output and consumer."""
        for node in graph.nodes:
            for output in node.outputs:
                if len(output.readers) > 1:
                    yield from self._of(output)

    def _of(self, value: OutputAnchor) -> Iterator[Finding]:
        uses = self._uses(value)
        if not any(writes for _, writes in uses.values()) or len(uses) < 2:
            return
        nodes = sorted(uses, key=self._order.label)
        if self._all_in_order(nodes, uses):
            return
        for at, first in enumerate(nodes):
            reached = self._behind(first, nodes[-1])
            for second in nodes[at + 1 :]:
                one, other = uses[first], uses[second]
                if not (one[1] or other[1]) or second in reached:
                    continue
                writer, reader = (one, other) if one[1] else (other, one)
                yield Finding(value, writer[0], reader[0], one[1] and other[1])

    def _behind(self, node: Node, last: Node) -> set[Node]:
        """The nodes that a path leads to, up to one that is last in the order."""
        limit = self._order.label(last)
        found: set[Node] = set()
        waiting = [node]
        while waiting:
            at = waiting.pop()
            for other in (*at.out_nodes, *at.control_outputs):
                self.steps += 1
                if other not in found and self._order.label(other) <= limit:
                    found.add(other)
                    waiting.append(other)
        return found

    def _uses(self, value: OutputAnchor) -> dict[Node, tuple[InputAnchor, bool]]:
        """Per consumer one input, the written one where there is one, and whether it is."""
        found: dict[Node, tuple[InputAnchor, bool]] = {}
        for reader in value.readers:
            if reader.node.op.startswith(_CMO):
                continue
            writes = self.writes(reader)
            known = found.get(reader.node)
            if known is None or (writes and not known[1]):
                found[reader.node] = reader, writes
        return found

    def writes(self, anchor: InputAnchor) -> bool:
        """Whether a node, or directly inside its subgraphs some node, updates this input."""
        node = anchor.node
        if anchor.index in written_inputs(node, self._ops):
            return True
        return any(
            reader.index in written_inputs(reader.node, self._ops)
            for graph in dict.fromkeys(node.subgraphs.values())
            for data in self._ends.of(graph).data.get(anchor.index, ())
            for output in data.outputs
            for reader in output.readers
        )

    def _all_in_order(
        self, nodes: Sequence[Node], uses: dict[Node, tuple[InputAnchor, bool]]
    ) -> bool:
        """Whether each writer is joined to all that stand between it and its neighbours."""
        before: Node | None = None
        between: list[Node] = []
        for node in nodes:
            if not uses[node][1]:
                between.append(node)
                continue
            if not self._joined(before, between, node):
                return False
            before, between = node, []
        return self._joined(before, between, None)

    def _joined(self, before: Node | None, between: list[Node], after: Node | None) -> bool:
        order = self._order
        if before is not None:
            targets = between if between else [] if after is None else [after]
            if targets and order.missed(before, targets) is not None:
                return False
        return after is None or not between or order.stray(between, after) is None
