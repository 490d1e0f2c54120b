"""The order a graph runs in: as listed, or in stable topological order where the list is none."""

from __future__ import annotations

import heapq

from ge_core.errors import GraphError
from ge_core.ir import Graph, Node


def run_order(graph: Graph) -> list[Node]:
    """The nodes of one graph in running order, subgraphs not entered.

    Among the nodes that may come next the one listed first does, so that a list which is
    topological already comes back as it is.

    Raises:
        GraphError: the graph has a cycle.
    """
    listed = list(graph.nodes)
    place = {node: at for at, node in enumerate(listed)}
    if all(
        place[earlier] < at
        for at, node in enumerate(listed)
        for earlier in (*node.in_nodes, *node.control_inputs)
    ):
        return listed
    waiting = [len(node.in_nodes) + len(node.control_inputs) for node in listed]
    ready = [at for at, count in enumerate(waiting) if count == 0]
    order: list[Node] = []
    while ready:
        node = listed[heapq.heappop(ready)]
        order.append(node)
        for later in (*node.out_nodes, *node.control_outputs):
            at = place[later]
            waiting[at] -= 1
            if waiting[at] == 0:
                heapq.heappush(ready, at)
    if len(order) != len(listed):
        stuck = next(node for node in listed if waiting[place[node]] > 0)
        raise GraphError(f"graph {graph.name!r} has a cycle", node=stuck.name)
    return order
