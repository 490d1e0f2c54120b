"""What is reached from some readers along one memory, in and out of subgraphs.

The links are those of `Scheme.MEMORY`, followed forwards only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ge_core.api import (
    Anchor,
    InputAnchor,
    Interfaces,
    OpRegistry,
    OutputAnchor,
    is_free_join,
    is_free_split,
    is_merge,
    output_parent_index,
    ref_of,
)

_COPIES_RESULTS: Final = frozenset({"if", "case", "while", "loop", "scan"})


class Nearby:
    """Follows one memory from its readers on."""

    def __init__(self, ops: OpRegistry, ends: Interfaces) -> None:
        self._ops = ops
        self._ends = ends

    def of(self, readers: Iterable[InputAnchor]) -> dict[Anchor, None]:
        """These inputs and all anchors that are their memory behind them, as they are reached."""
        found: dict[Anchor, None] = dict.fromkeys(readers)
        waiting = [anchor for anchor in found if isinstance(anchor, InputAnchor)]
        while waiting:
            for output in self._handed_on(waiting.pop()):
                if output in found:
                    continue
                found[output] = None
                fresh = [reader for reader in output.readers if reader not in found]
                found.update(dict.fromkeys(fresh))
                waiting += fresh
        return found

    def _handed_on(self, reader: InputAnchor) -> Iterator[OutputAnchor]:
        node = reader.node
        kind = self._ops.kind(node)
        if kind == "net_output":
            yield from self._to_callers(reader)
            return
        for graph in dict.fromkeys(node.subgraphs.values()):
            for data in self._ends.of(graph).data.get(reader.index, ()):
                yield from data.outputs
        whole = is_merge(node) or is_free_join(node) or is_free_split(node)
        for output in node.outputs:
            if whole or ref_of(output, self._ops) == reader.index:
                yield output

    def _to_callers(self, result: InputAnchor) -> Iterator[OutputAnchor]:
        node = result.node
        index = output_parent_index(node, result.index)
        if node.graph is None or index is None:
            return
        for caller, _ in node.graph.callers:
            if self._ops.kind(caller) in _COPIES_RESULTS:
                continue
            if index < len(caller.outputs):
                yield caller.outputs[index]
