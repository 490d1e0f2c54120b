"""The store behind a broadcast into a variable whose input has been given a copy.

A broadcast leaves its result in the memory that it is given. Where that is a variable's and a copy
now stands in between, GE stores the result back: an Assign, before whatever else uses the result.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import ASSIGN_LIKE, InputAnchor, Node, OpRegistry, OutputAnchor
from ge_memconflict.companions.copying import Copier
from ge_memconflict.companions.marks import REFERENCE, is_variable
from ge_memconflict.identities import clean

_BROADCAST: Final = "HcomBroadcast"


def store_back(
    variable: OutputAnchor, given: InputAnchor, name: str, copier: Copier
) -> Node | None:
    """Store a broadcast's result in the variable that its input is a copy of.

    Args:
        variable: what the copy in front of the input copies.
        given: the broadcast's input.
        name: of the store; made unique where it is taken.

    Returns:
        the store; None where there is no need: the node is no broadcast, its input no variable's, a
        store reads the variable already, or no output stands for the input.
    """
    ctx, node = copier.ctx, given.node
    graph = node.graph
    if graph is None or node.op != _BROADCAST or not is_variable(variable.node, ctx.ops):
        return None
    if given.index >= len(node.outputs) or _is_stored(variable.node):
        return None
    result = node.outputs[given.index]
    ctx.changes_values()
    followers = [reader.node for reader in result.readers]
    waiting = list(node.control_outputs)
    store = graph.add_node(
        "Assign",
        graph.fresh_name(name),
        [variable, result],
        [clean(variable.desc).replace(reuse_input=0)],
        attrs={REFERENCE: True, **_stream(node)},
        origin=(),
        after=node,
    )
    for other in dict.fromkeys((*followers, *waiting)):
        graph.add_control(store, other)
    copier.memories.stored(store, node)
    size = variable.desc.nbytes
    ctx.analysis(
        store,
        "BROADCAST_STORED",
        blame=[given, variable],
        bytes=size,
        broadcast=node.name,
        variable=variable,
    )
    return store


def will_store_back(node: Node, ops: OpRegistry) -> bool:
    """Whether a node is a broadcast behind which a store will be put, once its input has a copy."""
    return node.op == _BROADCAST and any(
        anchor.source is not None
        and is_variable(anchor.source.node, ops)
        and not _is_stored(anchor.source.node)
        for anchor in node.inputs
    )


def _is_stored(variable: Node) -> bool:
    return any(reader.op in ASSIGN_LIKE for reader in variable.out_nodes)


def _stream(node: Node) -> dict[str, object]:
    return {name: node.attrs[name] for name in ("stream_id",) if name in node.attrs}
