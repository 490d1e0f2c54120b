"""Which graphs have addresses of their own: the ones whose layout is settled before they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_core.api import Graph

_UNKNOWN: Final = ("_graph_unknown_flag", "_dynamic_shape_partitioned")


def is_unknown(graph: Graph) -> bool:
    """Whether a graph says itself that its shapes are known only when it runs."""
    return any(graph.attrs.get(mark) for mark in _UNKNOWN)


def is_top(graph: Graph) -> bool:
    """Whether a graph is laid out as a whole: a static root, or what an unknown graph launches."""
    if is_unknown(graph):
        return False
    if graph.is_root:
        return True
    return is_unknown(graph.root) and any(
        caller.graph is not None and is_unknown(caller.graph) for caller, _ in graph.callers
    )


def top_graphs(root: Graph) -> Iterator[Graph]:
    """The graphs that are laid out as a whole, in the order they were added."""
    yield from (graph for graph in root.all_graphs() if is_top(graph))
