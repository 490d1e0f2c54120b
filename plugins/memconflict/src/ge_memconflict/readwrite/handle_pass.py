"""`HandleMemoryRWConflict`: no input stands at an output that its kind doesn't go with.

GE's pass, on kinds that are pure functions of the graph, with two differences. What reads a value
is relinked past an Identity only where it sees the same value there: GE looks at kinds alone, and
miscompiles what a view or a second name hides. And the order of work is such that running the pass
twice is running it once: unread Identities go first, since they make values look shared; then
copies are put in, and only then are Identities judged, by the graph that will be left. What a pass
has put in front of one node is not judged at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ge_core.api import IDENTITY_LIKE, Graph, GraphPass, Node, PassContext
from ge_memconflict.identities import RESERVED
from ge_memconflict.placing import serves_only
from ge_memconflict.readwrite.codes import CODES, COUNTERS
from ge_memconflict.readwrite.inserting import insert_where_needed
from ge_memconflict.readwrite.removing import kept_by_rule, remove_or_say, remove_unread
from ge_memconflict.readwrite.results import isolate_results
from ge_memconflict.readwrite.run import Refusal, Run
from ge_memconflict.readwrite.splitting import split
from ge_memconflict.references import refresh_references


@dataclass(frozen=True)
class HandleMemoryRWConflict(
    GraphPass,
    codes=CODES,
    counters=COUNTERS,
):
    """Puts Identity nodes where reading and writing clash, and takes out those nobody needs."""

    search_limit: int = 100
    """Comparing when memories are used takes no more steps, all together, than this many per node
    of the graph; Identities that need more stay."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Handle the root graph and everything below it at once."""
        if not graph.is_root:
            return
        refresh_references(graph, ctx.ops)
        run = Run(ctx, self.search_limit)
        isolate_results(run)
        kept: dict[Node, Refusal] = {}
        for node in reversed(run.nodes):
            if node.op in IDENTITY_LIKE and not any(output.readers for output in node.outputs):
                _note(kept, node, _untouchable(run, node) or remove_unread(run, node))
        for node in run.nodes:
            if node.graph is not None:
                insert_where_needed(run, node)
        for node in run.nodes:
            if node.op in IDENTITY_LIKE and node.graph is not None and node not in kept:
                _note(kept, node, _untouchable(run, node) or _split_or_remove(run, node))
        # Who reads a variable itself by now may hand its memory on.
        isolate_results(run)
        for node, why in kept.items():
            run.kept(node, why)
        ctx.count("removed", run.removals)
        ctx.count("inserted", run.insertions)
        ctx.count("steps", run.steps)


def _note(kept: dict[Node, Refusal], node: Node, why: Refusal | None) -> None:
    if why is not None:
        kept[node] = why


def _split_or_remove(run: Run, node: Node) -> Refusal | None:
    """Take an Identity apart or out; why it stays, or None where it is gone."""
    port = node.outputs[0]
    refused: Refusal | None = None
    if len(port.readers) > 1:
        ruled = kept_by_rule(run, node)
        if ruled is not None:
            return replace(ruled, hint=None)
        refused = split(run, node)
        if node.graph is None:
            return None
    if len(port.readers) > 1:
        fields = {"count": len(port.readers), "output": repr(node.inputs[0].source)}
        blame = tuple(port.readers[:2]) if refused is None else refused.blame
        return Refusal("KEPT_READERS", blame, fields)
    return remove_or_say(run, node)


def _untouchable(run: Run, node: Node) -> Refusal | None:
    """Why an Identity is not even looked at."""
    if node.attrs.get(RESERVED):
        return Refusal("KEPT_RESERVED", (node,))
    if run.in_loop(node):
        name = "" if node.graph is None else node.graph.name
        return Refusal("KEPT_IN_LOOP", (node,), {"graph": name})
    if len(node.inputs) != 1 or len(node.outputs) != 1:
        fields = {"inputs": len(node.inputs), "outputs": len(node.outputs)}
        return Refusal("KEPT_PORTS", (node,), fields)
    if node.inputs[0].source is None:
        return Refusal("KEPT_UNCONNECTED", (node.inputs[0],))
    served = serves_only(node)
    if served is not None:
        return Refusal("KEPT_INSERTED", (node.inputs[0], served), {"reader": served.name})
    return None
