"""`GraphLint`: warns of readers and writers of one value that nothing orders.

It only looks. Run before and after copies are removed it tells whether a removal let a store meet a
reader that no edge keeps apart from it: it must never find more than before.
"""

from __future__ import annotations

from dataclasses import dataclass

from ge_core.api import AnalysisPass, Graph, PassContext
from ge_memconflict.companions.codes import LINT
from ge_memconflict.companions.lint import Linter


@dataclass(frozen=True)
class GraphLint(AnalysisPass, codes=LINT):
    """Warns of readers and writers of one value that no path of edges orders."""

    limit: int = 100
    """At most this many remarks per graph."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Remark on the pairs of one graph."""
        linter = Linter(ctx.ops, ctx.order)
        for count, found in enumerate(linter.findings(graph)):
            if count >= self.limit:
                return
            ctx.analysis(
                found.writer.node,
                "UNORDERED_WRITERS" if found.both_write else "UNORDERED_READER",
                blame=[found.writer, found.other],
                bytes=found.value.desc.nbytes,
                hint={"edge": f"{found.writer.node.name} -> {found.other.node.name}"},
                writer=found.writer,
                other=found.other,
                value=found.value,
            )
