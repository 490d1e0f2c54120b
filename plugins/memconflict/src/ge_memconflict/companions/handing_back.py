"""Copies of graph inputs whose stores the caller is still shown.

A store into a graph input changes what the caller finds there. While a copy stands in front of such
a store, an Assign behind each store into the copy puts the copy's contents in the input as well.
Both go together: without them the graph is as it came.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import InputAnchor, Node, OutputAnchor
from ge_memconflict.companions.broadcast import will_store_back
from ge_memconflict.companions.copying import Copier
from ge_memconflict.companions.marks import INNER_IDENTITY, REFERENCE
from ge_memconflict.companions.ways import up
from ge_memconflict.identities import STREAM, clean

_STORE: Final = "Assign"


def can_hand_back(target: InputAnchor, copier: Copier) -> bool:
    """Whether what is stored in a copy of an input's value can be stored in the value as well.

    So where the value is a graph input of the root, no copy of one, and its node's only target
    there. Where another pass will change values on purpose nobody could vouch for it.
    """
    value = target.source
    graph = target.node.graph
    if value is None or graph is None or not graph.is_root or not copier.memories.is_owned(value):
        return False
    ways = up(value, copier.ctx.ops)
    if copier.memories.is_updated_twice(target) or any(_is_copy(at.node) for at in ways):
        return False
    return not any(will_store_back(node, copier.ctx.ops) for node in graph.all_nodes())


def _is_copy(node: Node) -> bool:
    return bool(node.attrs.get(INNER_IDENTITY))


def hand_back(copy: Node, value: OutputAnchor, copier: Copier) -> None:
    """Store in a value what is stored in its copy, right behind each store."""
    graph, given = copy.graph, copy.outputs[0]
    assert graph is not None
    for node in copier.memories.storing(given.readers, graph):
        store = graph.add_node(
            _STORE,
            graph.fresh_name(f"{copy.name}_{_STORE}"),
            [value, given],
            [clean(value.desc).replace(reuse_input=0)],
            attrs={
                REFERENCE: True,
                INNER_IDENTITY: True,
                **{name: node.attrs[name] for name in (STREAM,) if name in node.attrs},
            },
            origin=(),
            after=node,
        )
        graph.add_control(node, store)
        copier.memories.stored(store, node)
        copier.ctx.analysis(
            store,
            "STORE_HANDED_BACK",
            blame=[value, given],
            bytes=value.desc.nbytes,
            store=node.name,
            value=value,
        )


def handing_back(copy: Node) -> list[Node]:
    """The stores that were put in with a copy."""
    value = copy.inputs[0].source
    return [
        reader.node
        for reader in copy.outputs[0].readers
        if is_handing_back(reader.node)
        and reader.index == 1
        and reader.node.inputs[0].source is value
    ]


def is_handing_back(node: Node) -> bool:
    """Whether a node is such a store."""
    return node.op == _STORE and node.origin == () and bool(node.attrs.get(INNER_IDENTITY))
