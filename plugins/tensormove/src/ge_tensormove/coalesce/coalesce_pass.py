"""`TensorMoveCoalescePass`: removes every copy that nobody would miss, by exact accesses.

GE looks at a copy's direct neighbours. Here all accesses to the source's memory and to the copy's
are known, through views, calls, branches and names, and are played through as if both were one
memory. Where a reader only has to come before a writer, an edge sees to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ge_core.api import Graph, GraphPass, Keep, Node, PassContext, blame_two
from ge_tensormove.coalesce.codes import CODES
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import COPIES, Move, reserved
from ge_tensormove.coalesce.removal import RemovalFailed, remove
from ge_tensormove.coalesce.search import chosen, worth
from ge_tensormove.coalesce.verdict import is_enough, listed_verdict, verdict

_COUNTERS = {
    "steps": "accesses, edges and trace steps looked at",
    "edges": "edges added to keep an order",
}


@dataclass(frozen=True)
class TensorMoveCoalescePass(GraphPass, codes=CODES, counters=_COUNTERS):
    """Removes TensorMove and Identity nodes whose copy nobody can see, by exact accesses."""

    branches: bool = False
    """Also remove copies whose value comes through an If or Case, where no arm minds; GE keeps all
    copies behind control flow."""

    search_limit: int = 100
    """Searches for the order of a copy's neighbours look at no more edges, all together, than this
    many per node of the graph; then edges are added unasked, and copies that need more stay."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at the copies of all graphs at once, since memory knows no bounds of graphs."""
        if not graph.is_root:
            return
        copies = [node for node in _all_nodes(graph) if node.op in COPIES]
        if copies:
            known = Knowledge(ctx, self.search_limit, self.branches)
            _Run(known, ctx).run(copies)


def _all_nodes(root: Graph) -> Iterator[Node]:
    for graph in root.all_graphs():
        yield from graph.nodes


class _Run:
    def __init__(self, known: Knowledge, ctx: PassContext) -> None:
        self._known = known
        self._ctx = ctx
        self._contexts: dict[Graph, PassContext] = {}
        self._reasons: dict[Move, Keep] = {}

    def run(self, copies: list[Node]) -> None:
        """Remove what can go; say of all others why they stay."""
        known = self._known
        moves: list[Move] = []
        for place, node in enumerate(copies):
            keep = reserved(node, known)
            if keep is not None:
                self._missed(node, keep)
                continue
            move = Move(node, place)
            # Before any choice is made: what stays must not take the place of what could go.
            ruled = self._ctx.kept_by_rule(node)
            if ruled is None:
                moves.append(move)
            else:
                self._reasons[move] = self._first_reason(move, ruled)
        first = chosen(moves, known)
        ahead = frozenset(first)
        left = [*first, *sorted((move for move in moves if move not in ahead), key=worth)]
        while left:
            # What has gone may have changed the order, so those that stayed are asked again.
            stayed = [move for move in left if not self._remove(move)]
            left = stayed if len(stayed) < len(left) else []
        for move in sorted(self._reasons, key=lambda move: move.place):
            keep = self._reasons[move]
            if keep.hint is not None and not is_enough(keep, move, known):
                keep = replace(keep, hint=None)
            self._missed(move.node, keep)
        known.relist()
        self._ctx.count("steps", known.steps)

    def _first_reason(self, move: Move, ruled: Keep) -> Keep:
        """Why a copy stays that a plugin's rule keeps: what is our own reason comes first.

        The rule's hint is for a copy that could go at once otherwise.
        """
        answer = listed_verdict(move, self._known)
        if isinstance(answer, Keep):
            return answer
        return ruled if answer.is_free else replace(ruled, hint=None)

    def _remove(self, move: Move) -> bool:
        """Remove a copy, where it may go; False where it stays, for now."""
        answer = verdict(move, self._known)
        context, node, size = self._context(move.graph), move.node, move.output.desc.nbytes
        if isinstance(answer, Keep):
            self._reasons[move] = answer
            return False
        # Again, as other copies may have gone since, and what they said of the memory.
        ruled = self._ctx.kept_by_rule(node)
        if ruled is not None:
            self._reasons[move] = ruled
            return False
        try:
            keep = remove(move, answer, self._known)
        except RemovalFailed as error:
            keep = Keep("O4_REMOVAL_FAILED", blame=node, fields={"error": str(error)})
        if keep is not None:
            self._reasons[move] = keep
            return False
        self._reasons.pop(move, None)
        self._ctx.count("edges", len(answer.edges))
        context.applied(node, "O4_REMOVED", bytes=size)
        return True

    def _missed(self, node: Node, keep: Keep) -> None:
        size = node.outputs[0].desc.nbytes if node.outputs else 0
        assert node.graph is not None
        context = self._context(node.graph)
        blame = blame_two(node, keep.blame)
        context.missed(node, keep.code, blame=blame, bytes=size, hint=keep.hint, **keep.fields)

    def _context(self, graph: Graph) -> PassContext:
        """Remarks name the graph that a node is in, or was in."""
        found = self._contexts.get(graph)
        if found is None:
            ctx = self._ctx
            found = PassContext(ctx.environment, ctx.declaration, graph, None, ctx.counters)
            self._contexts[graph] = found
        return found
