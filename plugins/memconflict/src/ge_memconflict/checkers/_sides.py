"""Where a copy stands so that a variable still sees its update."""

from __future__ import annotations

from typing import Any

from ge_core.api import (
    ASSIGN_LIKE,
    VAR_LIKE,
    Anchor,
    InputAnchor,
    Node,
    OutputAnchor,
    written_inputs,
)
from ge_memconflict.anchor_types import names_graph_input


def assigned_input(constrained: Anchor, query: Any) -> InputAnchor | None:
    """The input of a constrained node that a store into this very memory feeds, if any.

    A copy there leaves what the store updates its value. What it updates is its first input, or
    what its output names. (GE doesn't ask what the store writes.)
    """
    for port in constrained.node.inputs:
        source = port.source
        if source is None or source.node.op not in ASSIGN_LIKE or not query.holds(port):
            continue
        updated = source.node.inputs[:1]
        if any(query.holds(target) for target in updated) or names_graph_input(source):
            return port
    return None


def in_front_of(held: OutputAnchor, constrained: Anchor, query: Any) -> Anchor:
    """Where a copy keeps a constrained node off memory that isn't the arena's.

    Behind the memory itself, so that one copy serves all its readers; in front of the constrained
    node, where a store feeds that, or where others update a variable and have to go on doing so.
    """
    stored = assigned_input(constrained, query)
    if stored is not None:
        return stored
    lasts = held.node.op in VAR_LIKE
    if lasts and len(held.readers) > 1 and _others_update(constrained.node, query):
        if isinstance(constrained, InputAnchor):
            return constrained
        return next((port for port in constrained.node.inputs if query.holds(port)), held)
    return held


def _others_update(node: Node, query: Any) -> bool:
    return any(
        isinstance(member, InputAnchor)
        and member.node is not node
        and member.index in written_inputs(member.node, query.ops)
        for member in query.members()
    )


def entry_of(constrained: Anchor, query: Any) -> Anchor:
    """The first input of a node by which the memory comes in; the anchor itself where none does."""
    return next((port for port in constrained.node.inputs if query.holds(port)), constrained)


def one_producer(operand: InputAnchor, query: Any) -> bool:
    """Whether all operands of a join are one and the same tensor."""
    return len({query.producer(anchor) for anchor in operand.node.inputs}) == 1
