"""Where nodes stand in the nesting of subgraphs, and which nodes contain them."""

from __future__ import annotations

from collections.abc import Container

from ge_core.ir import Graph, Node


def containers(node: Node) -> dict[Graph, tuple[Node, ...]]:
    """Per graph around the node, innermost first: the nodes of that graph that contain it.

    In its own graph that is the node itself. A subgraph with several callers gives several nodes.
    Raises `ValueError` for a node that has been removed.
    """
    if node.graph is None:
        raise ValueError(f"node {node.name!r} is in no graph")
    found: dict[Graph, dict[Node, None]] = {node.graph: {node: None}}
    waiting = [node.graph]
    for graph in waiting:
        for caller, _ in graph.callers:
            outer = caller.graph
            if outer is None:
                continue
            known = found.get(outer)
            if known is None:
                found[outer] = {caller: None}
                waiting.append(outer)
            else:
                known[caller] = None
    return {graph: tuple(nodes) for graph, nodes in found.items()}


def lifted(node: Node, graph: Graph) -> tuple[Node, ...]:
    """The nodes of `graph` that contain the node, or are it; empty where none does."""
    if node.graph is graph:
        return (node,)
    return containers(node).get(graph, ())


def lift_both(first: Node, second: Node) -> tuple[Graph, tuple[Node, ...], tuple[Node, ...]] | None:
    """The innermost graph that holds both, and what contains each of them there.

    None where no graph does (one is in a subgraph that nobody calls). Two nodes of one subgraph
    are compared inside it: the answer is about one run of it.
    """
    if first.graph is second.graph and first.graph is not None:
        return first.graph, (first,), (second,)
    around_first, around_second = containers(first), containers(second)
    for graph, nodes in around_first.items():
        others = around_second.get(graph)
        if others is not None:
            return graph, nodes, others
    return None


def inner_graphs(node: Node, known: Container[Graph] = ()) -> list[Graph]:
    """The subgraphs of a node and theirs, each once and after those that it calls itself.

    Args:
        known: graphs to leave out, with what only they call.
    """
    found: dict[Graph, None] = {}
    opened: set[Graph] = set()
    stack = [graph for graph in reversed(list(node.subgraphs.values())) if graph not in known]
    while stack:
        graph = stack[-1]
        if graph in opened:
            stack.pop()
            found[graph] = None
            continue
        opened.add(graph)
        stack.extend(
            sub
            for inner in graph.nodes
            for sub in inner.subgraphs.values()
            if sub not in known and sub not in opened
        )
    return list(found)
