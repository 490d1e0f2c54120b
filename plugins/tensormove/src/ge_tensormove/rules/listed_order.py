"""R3 concluded: the edges that a removal needs must not upset what only the listing orders."""

from __future__ import annotations

from ge_core.api import Keep, Node
from ge_tensormove.candidate import Candidate
from ge_tensormove.rules.after_copy import reading_nodes, waiting_nodes
from ge_tensormove.rules.single_path import planned_edges


class ListedOrder:
    """Keeps copies whose removal would hold nodes back that others must not overtake.

    GE sorts anew after its removals and takes care of edges only.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        plans = needed_order(copy)
        for firsts, seconds in plans:
            if not copy.run.may_search():
                return Keep("R3_SEARCH_LIMIT", blame=firsts[0])
            overtaken = copy.run.listing.overtaken(firsts, seconds)
            if overtaken is not None:
                one, other = overtaken
                fields = {"one": one.name, "other": other.name}
                return Keep("R3_LISTED_ORDER", blame=[one, other], fields=fields)
        return None


def needed_order(copy: Candidate) -> list[tuple[list[Node], list[Node]]]:
    """Groups of nodes of which the first must come before the second once the copy is gone."""
    plans = (planned_edges(copy), (reading_nodes(copy), waiting_nodes(copy)))
    return [(firsts, seconds) for firsts, seconds in plans if firsts and seconds]
