"""Who made a memory, call by call.

Alias classes know no runs: what a subgraph with several callers returns is one class, though each
call makes memory of its own. Where two anchors of a class lead back to different makers, or to one
maker by different calls, they are different memories.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final, TypeAlias

from ge_core.analysis._alias_rules import named_memory, outer_slot
from ge_core.analysis.aliases import Anchor
from ge_core.analysis.interface import Interfaces
from ge_core.ir import InputAnchor, Node, OutputAnchor
from ge_core.ops import OpRegistry, is_subgraph_data, parent_index, ref_of

Calls: TypeAlias = "tuple[Node, ...]"
"""The calls that lead from where was asked into the maker's graph, the innermost last."""
Makers: TypeAlias = "frozenset[tuple[OutputAnchor, Calls]]"

_MOST: Final = 256
"""Outputs looked at for one anchor."""


class MakerSearch:
    """Finds makers, with some copies taken for names of what they copy.

    Args:
        without: those copies.

    Attributes:
        steps: outputs looked at.
    """

    def __init__(self, ops: OpRegistry, without: Set[Node] = frozenset()) -> None:
        self._ops = ops
        self._without = without
        self._ends = Interfaces()
        self._known: dict[Anchor, Makers | None] = {}
        self.steps = 0

    def of(self, anchor: Anchor) -> Makers | None:
        """Who may have made the memory that an anchor is, or reads; None where that is too much."""
        if anchor not in self._known:
            self._known[anchor] = self._search(anchor)
        return self._known[anchor]

    def may_be_one(self, first: Anchor, second: Anchor) -> bool:
        """Whether two anchors of one alias class may be one memory in some call."""
        return may_meet(self.of(first), self.of(second))

    def _search(self, anchor: Anchor) -> Makers | None:
        start = anchor.source if isinstance(anchor, InputAnchor) else anchor
        if start is None:
            return frozenset()
        found: dict[tuple[OutputAnchor, Calls], None] = {}
        seen: dict[tuple[OutputAnchor, Calls], None] = {(start, ()): None}
        waiting: list[tuple[OutputAnchor, Calls]] = [(start, ())]
        while waiting:
            at = waiting.pop()
            self.steps += 1
            if len(seen) > _MOST:
                return None
            earlier = list(self._earlier(*at))
            if not earlier:
                found[at] = None
            for other in earlier:
                if other not in seen:
                    seen[other] = None
                    waiting.append(other)
        return frozenset(found)

    def _earlier(self, output: OutputAnchor, calls: Calls) -> Iterator[tuple[OutputAnchor, Calls]]:
        """What an output is another name of; nothing for one that is made here."""
        node, kind = output.node, self._ops.kind(output.node)
        named = named_memory(output)
        if named is not None:
            yield named, calls
        elif is_subgraph_data(node):
            yield from self._outside(node, calls)
        elif kind == "call" and node.subgraphs:
            for graph in node.subgraphs.values():
                result = self._ends.of(graph).results.get(output.index)
                if result is not None and result.source is not None:
                    yield result.source, (*calls, node)
        elif kind == "merge":
            yield from ((a.source, calls) for a in node.inputs if a.source is not None)
        else:
            at = 0 if node in self._without else ref_of(output, self._ops)
            if at is not None and 0 <= at < len(node.inputs):
                source = node.inputs[at].source
                if source is not None:
                    yield source, calls

    def _outside(self, data: Node, calls: Calls) -> Iterator[tuple[OutputAnchor, Calls]]:
        index, graph = parent_index(data), data.graph
        if index is None or graph is None:
            return
        callers = [caller for caller, _ in graph.callers]
        if calls and calls[-1] in callers:
            callers, calls = [calls[-1]], calls[:-1]
        for caller in dict.fromkeys(callers):
            slot = outer_slot(caller, index, self._ops.kind(caller))
            outer = slot.source if isinstance(slot, InputAnchor) else slot
            if outer is not None:
                yield outer, calls


def may_meet(one: Makers | None, other: Makers | None) -> bool:
    """Whether two sets of makers may have made one memory."""
    if one is None or other is None:
        return True
    return any(
        maker is second and (_ends_with(calls, others) or _ends_with(others, calls))
        for maker, calls in one
        for second, others in other
    )


def _ends_with(calls: Calls, last: Calls) -> bool:
    return not last or calls[-len(last) :] == last
