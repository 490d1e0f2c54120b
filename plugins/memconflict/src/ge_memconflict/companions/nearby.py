"""What is reached from some readers along one memory, in and out of subgraphs.

The links are those of `Scheme.MEMORY`, followed forwards only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    Anchor,
    InputAnchor,
    Interfaces,
    MakerSearch,
    OpRegistry,
    OutputAnchor,
    is_free_join,
    is_free_split,
    is_merge,
    is_subgraph_data,
    output_parent_index,
    ref_of,
)
from ge_memconflict.companions.ways import callers_feeds

_COPIES_RESULTS: Final = frozenset({"if", "case", "while", "loop", "scan"})


@dataclass(frozen=True, slots=True)
class Near:
    """What is reached from readers.

    Attributes:
        anchors: the readers and their memory behind them, as they are reached.
        shared: those of them that a subgraph's other callers lead to as well, with the memory that
            the readers have left.
    """

    anchors: dict[Anchor, None]
    shared: Set[Anchor] = frozenset()

    def __contains__(self, anchor: object) -> bool:
        return anchor in self.anchors

    def __iter__(self) -> Iterator[Anchor]:
        return iter(self.anchors)

    def is_far(self, anchor: Anchor) -> bool:
        """Whether the memory is reached at an anchor without these readers, too."""
        return anchor not in self.anchors or anchor in self.shared


class Nearby:
    """Follows one memory from its readers on."""

    def __init__(self, ops: OpRegistry, ends: Interfaces) -> None:
        self._ops = ops
        self._ends = ends

    def of(self, readers: Iterable[InputAnchor], source: OutputAnchor | None = None) -> Near:
        """These inputs and all anchors that are their memory behind them, as they are reached.

        Args:
            source: the memory that they have left, or are to leave; without it nothing is shared.
        """
        found = self._behind(dict.fromkeys(readers))
        others = [] if source is None else list(self._given_otherwise(found, source))
        return Near(found, self._behind(dict.fromkeys(others)).keys() if others else frozenset())

    def _given_otherwise(
        self, found: dict[Anchor, None], source: OutputAnchor
    ) -> Iterator[InputAnchor]:
        """The readers of inner inputs that another caller gives the same memory."""
        search = MakerSearch(self._ops)
        for anchor in found:
            if not isinstance(anchor, OutputAnchor) or not is_subgraph_data(anchor.node):
                continue
            feeds = callers_feeds(anchor.node)
            if len(feeds) > 1 and any(
                feed not in found and search.may_be_one(feed, source) for feed in feeds
            ):
                yield from anchor.readers

    def _behind(self, found: dict[Anchor, None]) -> dict[Anchor, None]:
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
