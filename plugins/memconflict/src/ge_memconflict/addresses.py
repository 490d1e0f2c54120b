"""Which ops can be told new addresses between runs, and whether addresses change at all.

GE's rules. Stream and label switches never can. Collectives of the hccl library can where the
arena's base may move. An op of the library for custom ops says so itself (`OpTraits`), all others
can.
"""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import InputAnchor, Node, OutputAnchor
from ge_memconflict.graphs import is_unknown

SWITCHES: Final = frozenset({"StreamSwitch", "LabelSwitchByIndex"})
_LIBRARY: Final = "_ge_attr_op_kernel_lib_name"
_HCCL: Final = "ops_kernel_info_hccl"
_CUSTOM: Final = "DNN_VM_CUSTOM_OP_STORE"
_PHYSICAL: Final = "4"


def may_be_fixed(node: Node) -> bool:
    """Whether there are options or traits by which the node can't take new addresses."""
    return node.op in SWITCHES or node.attrs.get(_LIBRARY) in (_HCCL, _CUSTOM)


def is_fixed(anchor: InputAnchor | OutputAnchor, query: Any) -> bool:
    """Whether the anchor's node can't take new addresses."""
    node = anchor.node
    if node.op in SWITCHES:
        return True
    library = node.attrs.get(_LIBRARY)
    if library == _HCCL:
        return not _arena_moves(node, query)
    return library == _CUSTOM and not query.ops.traits(node).address_refresh


def addresses_move(one: Any, other: Any, query: Any) -> bool:
    """Whether two anchors of one memory will be told new addresses between runs.

    That is where the arena's base moves, or where a device that pages its static memory has a
    switch look at a physical address.
    """
    if any(_arena_moves(anchor.node, query) for anchor in (one, other)):
        return True
    paged = query.option("ge.exec.staticMemoryPolicy") == _PHYSICAL
    return paged and any(anchor.node.op in SWITCHES for anchor in (one, other))


def _arena_moves(node: Node, query: Any) -> bool:
    """Whether the arena of the node's graph may lie elsewhere in the next run."""
    if not query.target.address_refresh:
        return False
    if query.option("ge.featureBaseRefreshable") == "1":
        return True
    return is_unknown(query.root) and node.graph is not None and not is_unknown(node.graph)
