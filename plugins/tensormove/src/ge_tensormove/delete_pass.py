"""`TensorMoveDeletePass`: removes copies that nobody can tell from their source.

A TensorMove copies its input into fresh memory, so that later writes don't reach the source. Where
no write can, the copy only costs time and bandwidth. The pass looks back from each copy to where
the value was made, asks a chain of rules, and relinks the copy's readers to its producer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ge_core.api import Keep, Node, NodePass, PassContext
from ge_tensormove.advice import advised, blaming_two
from ge_tensormove.candidate import Candidate
from ge_tensormove.codes import CODES
from ge_tensormove.removal import RemovalFailed, remove
from ge_tensormove.rules import CHAIN
from ge_tensormove.run import Run

ANALYSIS: Final = "ge_tensormove"


@dataclass(frozen=True)
class TensorMoveDeletePass(NodePass, codes=CODES):
    """Removes TensorMove nodes whose copy nobody can see."""

    only = ("TensorMove",)

    search_limit: int = 100
    """Searches for the order of a copy's neighbours look at no more edges, all together, than this
    many per node of the graph; copies that need a further search stay."""

    def visit(self, node: Node, ctx: PassContext) -> None:
        """Judge one node, and remove it where all rules agree."""
        analyses = ctx.environment.analyses
        run: Run = analyses.get(ANALYSIS, lambda: Run(ctx, self.search_limit))
        copy = Candidate(node, ctx, run)
        keep = _first_no(copy)
        size = node.outputs[0].desc.nbytes if node.outputs else 0
        try:
            refused = None if keep else remove(copy)
            keep = advised(copy, refused) if refused else keep
        except RemovalFailed as error:
            ctx.failed(node, "REMOVAL_FAILED", error=str(error), bytes=size)
            return
        if keep is None:
            ctx.applied(node, "REMOVED", bytes=size)
        elif run.verdicts.get(node) != keep.code:
            # A copy may be looked at several times; each new reason is said once.
            run.verdicts[node] = keep.code
            keep = blaming_two(copy, keep)
            ctx.missed(node, keep.code, blame=keep.blame, bytes=size, hint=keep.hint, **keep.fields)


def _first_no(copy: Candidate) -> Keep | None:
    """The first rule's no; plugins' rules are asked after the built-in ones.

    A rule's hint is said only where no later rule would keep the copy anyway.
    """
    first: Keep | None = None
    for keep in _noes(copy):
        if first is not None:
            return replace(first, hint=None)
        if keep.hint is None:
            return keep
        first = keep
    return first


def _noes(copy: Candidate) -> Iterator[Keep]:
    """What the rules say that say no, as far as anybody asks."""
    if copy.copy.name in copy.ctx.environment.kept:
        # No rule's business: it could go, if memory did not matter.
        yield Keep("RAISES_PEAK", hint="--objective copies")
        return
    for rule in CHAIN:
        keep = rule(copy)
        if keep is not None:
            yield advised(copy, keep)
    # A rule may rely on both ends; a copy without an output gives nothing to anybody.
    contributed = copy.ctx.kept_by_rule(copy) if copy.copy.outputs else None
    if contributed is not None:
        yield contributed
