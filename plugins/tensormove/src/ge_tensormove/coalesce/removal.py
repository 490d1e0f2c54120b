"""Takes one copy out of the graph: the edges that keep the order, then the node."""

from __future__ import annotations

from ge_core.api import GraphError, Keep
from ge_tensormove.coalesce.edges import add_edges
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import Move
from ge_tensormove.coalesce.verdict import Free


class RemovalFailed(Exception):
    """The graph refused the edit; it is as it was."""


def remove(move: Move, free: Free, known: Knowledge) -> Keep | None:
    """Remove a copy.

    Returns:
        None when it is gone; a `Keep`, with nothing changed, where an edge would close a cycle.

    Raises:
        RemovalFailed: the graph's structure doesn't allow the removal; nothing has changed.
    """
    graph, copy_input, gone = move.graph, move.input, move.output
    try:
        with graph.transaction() as edits:
            refused = add_edges(free.edges, move.node.name, known)
            if refused is not None:
                edits.rollback()
                one, other = refused
                fields = {"reader": one.name, "writer": other.name}
                return Keep("O4_SOURCE_READ_LATER", blame=[one, other], fields=fields)
            _keep_description(move)
            graph.bypass(move.node)
    except GraphError as error:
        raise RemovalFailed(error.plain_message) from error
    known.removed(copy_input, gone)
    return None


def _keep_description(move: Move) -> None:
    """Where only the copy knew its shape, its source is told."""
    made, source = move.output.desc, move.feed
    if source.desc.is_static or not made.is_static or made.dtype != source.desc.dtype:
        return
    desc = source.desc.replace(shape=made.shape, origin_shape=made.origin_shape)
    move.graph.set_desc(source, desc)
