"""The order in which nodes are listed: ONNX has no control edges, runtimes follow the listing."""

from __future__ import annotations

import heapq

from ge_core.api import Graph, Node


def ordered(graph: Graph) -> list[Node]:
    """The nodes, each behind those whose results or end it needs, otherwise in listing order."""
    nodes = list(graph.nodes)
    place = {node: at for at, node in enumerate(nodes)}
    waiting: list[int] = []
    for node in nodes:
        waiting.append(len({*node.in_nodes, *node.control_inputs}))
    ready = [at for at, count in enumerate(waiting) if count == 0]
    order: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for later in dict.fromkeys((*node.out_nodes, *node.control_outputs)):
            at = place[later]
            waiting[at] -= 1
            if waiting[at] == 0:
                heapq.heappush(ready, at)
    return order
