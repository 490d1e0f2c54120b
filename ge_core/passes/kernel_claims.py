"""The kernel's own claims: what GE says in comments only, and what planning relies on.

Sources: GE's graph_manager.cc demands that nothing deletes nodes after VariableRefDelete, that
nothing removes MemcpyAsync or Identity after SubgraphPass, and that a pass after AttachStreamLabel
labels its own new nodes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ge_core.ir import Graph, Node
from ge_core.ops.builtin import CONST_LIKE, DATA_LIKE, MOVE_OPS, VARIABLES
from ge_core.passes.claims import Breach, Claim, ClaimRegistry
from ge_core.passes.stages import Stage
from ge_core.registry import kernel_owner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ge_core.passes.registry import PassRegistry

STREAM_LABEL: Final = "_stream_label"
"""GE's attribute: nodes with one label run on one stream."""
_UNLABELLED: Final = frozenset({*CONST_LIKE, *DATA_LIKE, *VARIABLES})
"""Sources of values run on no stream."""


def _all(graph: Graph) -> dict[Node, None]:
    return dict.fromkeys(graph.all_nodes())


def _first_gone(before: Mapping[Node, None]) -> Breach | None:
    gone = next((node for node in before if node.graph is None), None)
    return None if gone is None else Breach(f"({gone.op}) is gone", gone)


def _nodes_stay(graph: Graph, before: dict[Node, None]) -> Breach | None:
    return _first_gone(before)


def _no_new_nodes(graph: Graph, before: dict[Node, None]) -> Breach | None:
    new = next((node for node in graph.all_nodes() if node not in before), None)
    return None if new is None else Breach(f"({new.op}) is new", new)


def _moves(graph: Graph) -> dict[Node, str]:
    return {node: node.op for node in graph.all_nodes() if node.op in MOVE_OPS}


def _moves_stay(graph: Graph, before: dict[Node, str]) -> Breach | None:
    for node, op in before.items():
        if node.graph is None:
            return Breach(f"({op}) is gone", node)
        if node.op not in MOVE_OPS:
            return Breach(f"was a {op} and is a {node.op}", node)
    return None


def _listing(graph: Graph) -> list[list[Node]]:
    return [list(part.nodes) for part in graph.all_graphs()]


def _order_frozen(graph: Graph, before: list[list[Node]]) -> Breach | None:
    now = _listing(graph)
    if now == before:
        return None
    hint = "register it in SCHEDULE or before"
    old = {node: None for nodes in before for node in nodes}
    found = _first_gone(old) or _no_new_nodes(graph, old)
    if found is not None:
        return Breach(found.text, found.node, hint)
    pairs = zip((n for ns in before for n in ns), (n for ns in now for n in ns), strict=False)
    moved = next((new for one, new in pairs if one is not new), None)
    return Breach("stands elsewhere in the listed order", moved, hint)


def _stream_labels(graph: Graph, before: dict[Node, None]) -> Breach | None:
    for node in graph.all_nodes():
        if node in before or node.op in _UNLABELLED or STREAM_LABEL in node.attrs:
            continue
        near = next((n for n in (*node.in_nodes, *node.out_nodes) if STREAM_LABEL in n.attrs), None)
        if near is not None:
            text = f"({node.op}) is new and has no {STREAM_LABEL}, as its neighbour {near.name!r}"
            return Breach(text, node, f"set the attribute {STREAM_LABEL} on new nodes")
    return None


def register_builtin_claims(passes: PassRegistry) -> None:
    """Declare the kernel's claims, by the path that plugins use."""
    _add(passes.claims)


def _add(claims: ClaimRegistry) -> None:
    claims.add("nodes_stay", remember=_all, check=_nodes_stay, summary="no node is deleted")
    claims.add("no_new_nodes", remember=_all, check=_no_new_nodes, summary="no node is added")
    claims.add(
        "moves_stay",
        remember=_moves,
        check=_moves_stay,
        summary="no TensorMove, Identity or MemcpyAsync is deleted",
    )
    claims.add(
        "stream_labels",
        remember=_all,
        check=_stream_labels,
        summary="new nodes bear a stream label where their neighbours do",
    )
    claims.add(
        "order_frozen",
        remember=_listing,
        check=_order_frozen,
        holds_after=Stage.SCHEDULE,
        summary="nodes are neither added, deleted nor moved after SCHEDULE",
    )


@cache
def kernel_claims() -> dict[str, Claim]:
    """They hold in every compile, whatever the catalog was made of."""
    staged, stamped = ClaimRegistry(), ClaimRegistry()
    _add(staged)
    stamped.absorb(staged, kernel_owner())
    return {entry.name: entry.value for entry in stamped.entries()}
