"""`verify`: the structure that every graph must have, checked after passes on request."""

from __future__ import annotations

from collections import Counter, deque

from ge_core.errors import GraphError
from ge_core.ir.graph import Graph
from ge_core.ir.node import Node, OutputAnchor


def verify(graph: Graph) -> None:
    """Check names, both ends of every edge, callers and acyclicity, below the root of `graph`.

    Raises:
        GraphError: names the first node and what is wrong with it.
    """
    root = graph.root
    seen: dict[str, Node] = {}
    for part in root.all_graphs():
        for node in part.nodes:
            if node.graph is not part:
                raise GraphError("the node is listed in a graph it does not know", node=node.name)
            if seen.setdefault(node.name, node) is not node:
                raise GraphError("the name is used twice", node=node.name)
    fed: Counter[OutputAnchor] = Counter()
    for node in seen.values():
        _check_inputs(node, fed)
        _check_control(node)
        _check_subgraphs(root, node)
    for node in seen.values():
        _check_outputs(node, fed)
    if root._shared.names != seen:
        raise GraphError("the name table disagrees with the node lists")
    for part in root.all_graphs():
        check_acyclic(part)
    _check_nesting(root)


def _check_inputs(node: Node, fed: Counter[OutputAnchor]) -> None:
    for at, anchor in enumerate(node.inputs):
        if anchor.node is not node or anchor.index != at:
            raise GraphError(f"input {at} is mislabelled", node=node.name)
        source = anchor.source
        if source is None:
            continue
        if source.node.graph is not node.graph:
            raise GraphError(f"input {at} is fed by {source!r} of another graph", node=node.name)
        fed[source] += 1


def _check_outputs(node: Node, fed: Counter[OutputAnchor]) -> None:
    for at, output in enumerate(node.outputs):
        if output.node is not node or output.index != at:
            raise GraphError(f"output {at} is mislabelled", node=node.name)
        for reader in output.readers:
            if reader.source is not output:
                raise GraphError(f"output {at} lists a stale reader {reader!r}", node=node.name)
        # Every listed reader is right and none is listed twice: then the counts agree only if
        # every input that is fed from here is listed.
        if not fed[output] == len(output.readers) == len(set(map(id, output.readers))):
            raise GraphError(f"output {at} does not list all its readers", node=node.name)
        reuse = output.desc.reuse_input
        if reuse is not None and not 0 <= reuse < max(1, len(node.inputs)):
            raise GraphError(
                f"output {at} reuses input {reuse}, of {len(node.inputs)}",
                node=node.name,
                field="reuse_input",
            )


def _check_control(node: Node) -> None:
    for other in node.control_inputs:
        if other.graph is not node.graph or node not in other.control_outputs:
            raise GraphError(f"broken control edge from {other.name!r}", node=node.name)
    for other in node.control_outputs:
        if other.graph is not node.graph or node not in other.control_inputs:
            raise GraphError(f"broken control edge to {other.name!r}", node=node.name)


def _check_subgraphs(root: Graph, node: Node) -> None:
    for label, graph in node.subgraphs.items():
        if root.subgraphs.get(graph.name) is not graph:
            raise GraphError(f"subgraph {graph.name!r} is not the root's", node=node.name)
        if (node, label) not in graph.callers:
            raise GraphError(f"subgraph {graph.name!r} does not know its caller", node=node.name)


def check_acyclic(graph: Graph) -> None:
    """Raise `GraphError` naming a cycle of data and control edges, where there is one."""
    waiting: dict[Node, int] = {}
    ready: deque[Node] = deque()
    for node in graph.nodes:
        count = sum(anchor.source is not None for anchor in node.inputs) + len(node.control_inputs)
        waiting[node] = count
        if count == 0:
            ready.append(node)
    done = 0
    while ready:
        node = ready.popleft()
        done += 1
        for other in (*node.out_nodes, *node.control_outputs):
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    if done != len(waiting):
        stuck = [node for node, count in waiting.items() if count > 0]
        raise GraphError(
            "a cycle: " + " -> ".join(node.name for node in _cycle(stuck)), node=stuck[0].name
        )


def _cycle(stuck: list[Node]) -> list[Node]:
    """Walk back among nodes that wait for one another until one comes again."""
    members = set(map(id, stuck))
    path: list[Node] = []
    at: dict[int, int] = {}
    node = stuck[0]
    while id(node) not in at:
        at[id(node)] = len(path)
        path.append(node)
        node = next(n for n in (*node.in_nodes, *node.control_inputs) if id(n) in members)
    return [node, *reversed(path[at[id(node)] :])]


def _check_nesting(root: Graph) -> None:
    """A subgraph must not call itself, directly or through others."""
    state: dict[str, int] = {}
    for start in root.all_graphs():
        stack = [(start, iter(_callees(start)))]
        if state.setdefault(start.name, 1) == 2:
            continue
        while stack:
            graph, callees = stack[-1]
            following = next(callees, None)
            if following is None:
                state[graph.name] = 2
                stack.pop()
                continue
            mark = state.get(following.name, 0)
            if mark == 1:
                raise GraphError(f"subgraph {following.name!r} calls itself", field="subgraphs")
            if mark == 0:
                state[following.name] = 1
                stack.append((following, iter(_callees(following))))


def _callees(graph: Graph) -> list[Graph]:
    return [sub for node in graph.nodes for sub in node.subgraphs.values()]
