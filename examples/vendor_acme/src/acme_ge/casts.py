"""Removes Cast nodes whose input already has the requested dtype."""

from __future__ import annotations

from dataclasses import dataclass

from ge_core.api import Graph, GraphPass, PassContext


@dataclass(frozen=True)
class DropNoOpCast(GraphPass, codes=("CHANGES_DTYPE", "LIMIT_REACHED", "NOOP", "WRITTEN")):
    """A Cast to the dtype that its input already has is a copy; its readers get the input."""

    limit: int | None = None
    """At most this many removals per graph; none by default."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at every Cast of the graph."""
        removed = 0
        for node in graph.nodes_of("Cast"):
            source = node.inputs[0].source
            if source is None or source.desc.dtype != node.outputs[0].desc.dtype:
                ctx.missed(node, "CHANGES_DTYPE", blame=source)
            elif removed == self.limit:
                ctx.missed(node, "LIMIT_REACHED")
            elif not ctx.may_share(node.outputs[0], source):
                # The two become one memory: whoever writes it would change what others read.
                ctx.missed(node, "WRITTEN", blame=source)
            else:
                graph.bypass(node)
                ctx.applied(node, "NOOP", bytes=source.desc.nbytes)
                removed += 1
