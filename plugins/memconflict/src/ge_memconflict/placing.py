"""Puts an Identity in front of an input or behind an output, in the order that others rely on.

A copy stands in its reader's place: what the reader waits for must have happened before the copy is
made. So the edges of order into the reader move to the copy (GE's rule), and on several streams the
copy also waits for what the reader's other inputs come from, since that may write what is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ge_core.api import InputAnchor, Node, OutputAnchor, crosses_streams
from ge_memconflict.identities import insert_identity

CLEARS_MEMORY: Final = frozenset({"AtomicAddrClean", "DynamicAtomicAddrClean", "MemSet"})
"""Ops that zero the memory of the node that waits for them."""

INHERITED: Final = (
    "_stream_label",
    "_user_stream_label",
    "_op_aicore_num",
    "_op_vectorcore_num",
    "_super_kernel_scope",
    "_super_kernel_options",
)
"""Texts that say where a node runs; a copy runs where its reader does."""

SWITCH_LIKE: Final = frozenset(
    {"Switch", "RefSwitch", "SwitchN", "StreamSwitch", "StreamSwitchN", "LabelSwitchByIndex"}
)
"""Nodes whose edges of order say which branch runs."""


def isolate_input(reader: InputAnchor, name: str, attrs: Mapping[str, Any] | None = None) -> Node:
    """Put an Identity in front of a connected input.

    Args:
        name: made unique where it is taken.
        attrs: further marks of the new node.
    """
    feed, node = reader.source, reader.node
    assert feed is not None and node.graph is not None
    graph = node.graph
    identity = insert_identity([feed], [[reader]], name, _inherited(node, attrs), at=node)
    for before in _taken_by_siblings(node, identity):
        graph.add_control(before, identity)
    for before in node.control_inputs:
        if before.op not in CLEARS_MEMORY:
            graph.add_control(before, identity)
            graph.remove_control(before, node)
    for before in dict.fromkeys(node.in_nodes):
        if before is not identity and crosses_streams(identity, [before]):
            graph.add_control(before, identity)
    return identity


def isolate_output(output: OutputAnchor, name: str, attrs: Mapping[str, Any] | None = None) -> Node:
    """Put an Identity behind an output, in front of all its readers.

    What waits for the producer waits for the copy then, but where those edges choose a branch.
    """
    node = output.node
    assert node.graph is not None
    waiting = node.control_outputs
    identity = insert_identity([output], [list(output.readers)], name, attrs, at=node, behind=True)
    if node.op not in SWITCH_LIKE:
        for after in waiting:
            node.graph.add_control(identity, after)
            node.graph.remove_control(node, after)
    return identity


def _inherited(node: Node, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
    texts = {name: node.attrs[name] for name in INHERITED if isinstance(node.attrs.get(name), str)}
    return {**texts, **(attrs or {})}


def _taken_by_siblings(node: Node, identity: Node) -> list[Node]:
    """What copies in front of the node's other inputs wait for in its stead."""
    found: dict[Node, None] = {}
    for other in dict.fromkeys(node.in_nodes):
        if other is not identity and serves_only(other) is node:
            found.update(dict.fromkeys(other.control_inputs))
    return list(found)


def serves_only(identity: Node) -> Node | None:
    """The node in front of which a pass has put an Identity; None for other nodes."""
    if identity.op != "Identity" or identity.origin != () or len(identity.outputs) != 1:
        return None
    nodes = dict.fromkeys(reader.node for reader in identity.outputs[0].readers)
    return next(iter(nodes)) if len(nodes) == 1 else None
