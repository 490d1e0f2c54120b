"""`CheckRWConflict`: reports inputs of which nobody can tell what they do to what they read.

GE's check gives up at the first node without readers, at the first loop, and does nothing without
subgraphs; this one looks at every edge. Nothing but kinds that can't be told, or contradict each
other, is reported: what needs a copy gets one elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ge_core.api import (
    AnalysisPass,
    Effects,
    Graph,
    InputAnchor,
    InputKind,
    Interfaces,
    OutputAnchor,
    OutputKind,
    PassContext,
)
from ge_memconflict.readwrite.codes import CHECK_CODES


@dataclass(frozen=True)
class CheckRWConflict(AnalysisPass, codes=CHECK_CODES):
    """Reports reads and writes whose kind can't be told."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at every edge below the root at once."""
        if not graph.is_root:
            return
        effects = Effects(ctx.ops, Interfaces(lasting=True), lasting=True)
        for output, reader, code in _wrong(graph, effects):
            fields = {"output": repr(output), "reader": repr(reader)}
            ctx.analysis(reader.node, code, blame=[output, reader], **fields)


def _wrong(root: Graph, effects: Effects) -> Iterator[tuple[OutputAnchor, InputAnchor, str]]:
    for node in root.all_nodes():
        for output in node.outputs:
            readers = output.readers
            if readers and effects.output_kind(output) is OutputKind.INVALID:
                yield output, readers[0], "WRONG_OUTPUT"
            for reader in readers:
                if effects.input_kind(reader) is InputKind.INVALID:
                    yield output, reader, "WRONG_READER"
