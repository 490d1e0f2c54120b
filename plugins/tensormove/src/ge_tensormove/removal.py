"""Takes one copy out of the graph: the edges that keep the order, then the node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

from ge_core.api import GraphError, Keep, Node
from ge_tensormove.candidate import Candidate
from ge_tensormove.rules.listed_order import needed_order

MANY_PAIRS: Final = 1000
"""More pairs of nodes than this are ordered through one node that does nothing (GE's number)."""


class RemovalFailed(Exception):
    """The graph refused the edit; it is as it was."""


def remove(copy: Candidate) -> Keep | None:
    """Remove a copy that all rules let go.

    Returns:
        None when it is gone; a `Keep`, with nothing changed, where an edge would close a cycle.

    Raises:
        RemovalFailed: the graph's structure doesn't allow the removal; nothing has changed.
    """
    run, node, graph = copy.run, copy.copy, copy.graph
    feed, copy_input = copy.feed, copy.input
    gone = node.outputs[0] if node.outputs else None
    plans = needed_order(copy)
    try:
        with graph.transaction() as edits:
            for firsts, seconds in plans:
                refused = _order(copy, firsts, seconds)
                if refused is not None:
                    edits.rollback()
                    fields = {"first": refused[0].name, "second": refused[1].name}
                    return Keep("R3_EDGE_REFUSED", blame=list(refused), fields=fields)
            copy.ctx.revisit_neighbours(node)
            _keep_description(copy)
            if gone is None:
                _remove_unread(node)
            else:
                graph.bypass(node)
    except GraphError as error:
        raise RemovalFailed(error.plain_message) from error
    for firsts, seconds in plans:
        run.listing.hold_back(firsts, seconds)
    run.removed(copy_input, feed, gone)
    return None


def _order(
    copy: Candidate, firsts: Sequence[Node], seconds: Sequence[Node]
) -> tuple[Node, Node] | None:
    """Make every first node run before every second one; the pair that can't be, if any."""
    order = copy.run.order
    pairs: Iterable[tuple[Node, Node]] = product(firsts, seconds)
    if len(firsts) * len(seconds) > max(MANY_PAIRS, len(firsts) + len(seconds)):
        graph = copy.graph
        name = graph.fresh_name(f"{copy.copy.name}_order")
        barrier = graph.add_node("NoOp", name, control_inputs=firsts, origin=(), before=copy.copy)
        order.vouch()
        pairs = ((barrier, other) for other in seconds)
    for one, other in pairs:
        if one is not other and not order.add_control(one, other):
            return one, other
    return None


def _remove_unread(node: Node) -> None:
    """Remove a copy without outputs; who waited for it waits for what it waited for."""
    graph = node.graph
    assert graph is not None
    for before in dict.fromkeys((*node.in_nodes, *node.control_inputs)):
        for after in node.control_outputs:
            graph.add_control(before, after)
    graph.remove(node)


def _keep_description(copy: Candidate) -> None:
    """Where only the copy knew its shape, its source is told."""
    if not copy.copy.outputs:
        return
    known, source = copy.output.desc, copy.feed
    if source.desc.is_static or not known.is_static or known.dtype != source.desc.dtype:
        return
    desc = source.desc.replace(shape=known.shape, origin_shape=known.origin_shape)
    copy.graph.set_desc(source, desc)
