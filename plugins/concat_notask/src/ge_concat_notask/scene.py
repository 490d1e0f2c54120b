"""Scenes in which GE lays out nothing, and facts of whole graphs."""

from __future__ import annotations

from ge_concat_notask.refusal import Refusal, refuse
from ge_core.api import Graph, Node

SINGLE_OP = "_single_op_scene"
SEPARATE = "_memory_discontiguous_allocation"
_UNKNOWN = ("_dynamic_shape_partitioned", "_graph_unknown_flag")


def scene_refusal(graph: Graph) -> Refusal | None:
    """Why the whole graph is left alone, or None."""
    if _is_single_op(graph):
        return refuse("SINGLE_OP_SCENE")
    if graph.attrs.get(SEPARATE):
        return refuse("SEPARATE_ALLOCATION")
    return None


def _is_single_op(graph: Graph) -> bool:
    """The graph's own word; where it says nothing, a mark on any node in or below it."""
    if SINGLE_OP in graph.attrs:
        return bool(graph.attrs[SINGLE_OP])
    waiting, seen = [graph], {graph}
    while waiting:
        for node in waiting.pop().nodes:
            if node.attrs.get(SINGLE_OP):
                return True
            for below in node.subgraphs.values():
                if below not in seen:
                    seen.add(below)
                    waiting.append(below)
    return False


def has_unknown_shape(node: Node) -> bool:
    """Whether a runtime shape of an input or output has an unknown dimension or rank."""
    inputs = (anchor.desc for anchor in node.inputs)
    return any(not desc.is_static for desc in inputs if desc is not None) or any(
        not output.desc.is_static for output in node.outputs
    )


def in_unknown_graph(node: Node) -> bool:
    """Whether the node's own graph is of unknown shape, or was cut for dynamic shapes."""
    return node.graph is not None and any(node.graph.attrs.get(name) for name in _UNKNOWN)
