"""R3 continued: who uses the copy's memory without reading the copy."""

from __future__ import annotations

from typing import Final

from ge_core.api import Keep, Node, OutputAnchor, lifted
from ge_tensormove.candidate import Candidate
from ge_tensormove.rules.single_path import sibling_nodes, writing_nodes

_MOST_HINTED: Final = 64
"""Beside more siblings than this nobody looks whether all but one are in order."""


class BehindViews:
    """Keeps copies whose memory is used out of order further down.

    * What overwrites it behind a view or a call must come after the siblings, by edges that are
      there or that the removal adds. GE looks at direct readers only and lets such a store destroy
      what a sibling has yet to read.
    * Where a sibling overwrites the source, who reads the memory behind a call must come before.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        if len(copy.feed.readers) < 2 or not copy.copy.outputs:
            return None
        if copy.siblings.writers:
            return self._read_late(copy)
        hidden = dict.fromkeys(anchor.node for anchor in copy.hidden_writers())
        if not hidden:
            return None
        writing = writing_nodes(copy)
        others = sibling_nodes(copy)
        for writer in hidden:
            if not copy.run.may_search():
                return Keep("R3_SEARCH_LIMIT", blame=others[0])
            if self._held_back(copy, writing, writer):
                continue
            stray = self._stray(copy, others, writer)
            if stray is not None:
                return self._keep(copy, others, stray, writer, len(hidden))
        return None

    def _held_back(self, copy: Candidate, writing: list[Node], writer: Node) -> bool:
        """Whether a direct writer, which waits for the siblings, contains or precedes it."""
        order = copy.run.order
        around = lifted(writer, copy.graph)
        return bool(around) and all(
            node in writing or any(order.depends(one, node) for one in writing) for node in around
        )

    def _stray(self, copy: Candidate, others: list[Node], writer: Node) -> Node | None:
        """The first of the nodes beside the copy that doesn't have to run before a writer."""
        order = copy.run.order
        # Most copies fail at the first, whose search is short.
        if not lifted(writer, copy.graph) or not order.depends(others[0], writer):
            # A writer outside: to it they all are what calls the copy's graph.
            return None if order.depends(others[0], writer) else others[0]
        order.work.steps += len(others)
        return order.stray(others, writer)

    def _keep(
        self, copy: Candidate, others: list[Node], stray: Node, writer: Node, writers: int
    ) -> Keep:
        hint = None
        alone = writer.graph is copy.graph and writers == 1 and len(others) <= _MOST_HINTED
        rest = [node for node in others if node is not stray] if alone else []
        if alone and copy.run.order.stray(rest, writer) is None:
            hint = {"edge": f"{stray.name} -> {writer.name}"}
        fields = {"writer": writer.name, "sibling": stray.name}
        return Keep("R3_WRITER_BEHIND_VIEW", [writer, stray], hint, fields)

    # ---- siblings that overwrite ---------------------------------------------------------------

    def _read_late(self, copy: Candidate) -> Keep | None:
        late = _read_behind(copy)
        if late is None:
            return None
        writer = next(iter(copy.siblings.writers))
        fields = {"sibling": writer.node.name, "reader": late.node.name}
        return Keep("R3_READER_BEHIND_VIEW", blame=[writer, late], fields=fields)


def _read_behind(copy: Candidate) -> OutputAnchor | None:
    """Another output in the copy's graph that is the copy's memory and may be read too late."""
    # What is read inside a direct reader is done when that is; outside the copy's graph the memory
    # is known only through a result, and a result is a direct reader that nobody can wait for.
    order = copy.run.order
    writers = list(dict.fromkeys(anchor.node for anchor in copy.siblings.writers))
    for anchor in copy.run.memory.members(copy.output):
        if not isinstance(anchor, OutputAnchor) or anchor is copy.output:
            continue
        if anchor.node.graph is not copy.graph:
            continue
        for reader in dict.fromkeys(reader.node for reader in anchor.readers):
            if not copy.run.may_search() or not all(order.depends(reader, w) for w in writers):
                return anchor
    return None
