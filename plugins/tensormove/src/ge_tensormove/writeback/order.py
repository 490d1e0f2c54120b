"""Has edges say what so far only the listing said: which of two accesses comes first.

Such edges agree with the listing, and so close no cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

from ge_core.api import Keep, Node, TimedAccess, crossings
from ge_tensormove.coalesce.edges import Edge, add_edges, between
from ge_tensormove.coalesce.knowledge import Knowledge


def order_all(
    accesses: Sequence[TimedAccess], more: Sequence[Edge], name: str, known: Knowledge
) -> Keep | None:
    """Make what is listed first certainly come first; the reason where that can't be.

    Args:
        accesses: to two memories that become one.
        more: edges that are needed besides.
        name: of the node that it is done for.
    """
    edges = dict.fromkeys(more)
    for one, other in crossings(accesses):
        for first, second in between(one.access, other.access):
            if first is second or (first, second) in edges:
                continue
            if known.timeline.place(first) > known.timeline.place(second):
                # Of several callers one comes first, another last.
                return _refused(first, second)
            if not _is_before(first, second, known):
                edges[first, second] = None
    refused = add_edges(list(edges), name, known)
    return None if refused is None else _refused(*refused)


def _is_before(first: Node, second: Node, known: Knowledge) -> bool:
    """Whether edges order the two; where a search would be too long, no."""
    if any(node is first for node in (*second.in_nodes, *second.control_inputs)):
        return True
    return known.may_search() and known.order.depends(first, second)


def _refused(first: Node, second: Node) -> Keep:
    fields = {"first": first.name, "second": second.name}
    return Keep("W_ORDER", blame=[first, second], fields=fields)
