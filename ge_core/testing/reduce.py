"""Makes a graph that shows a fault smaller, as long as it shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ge_core.errors import GeError
from ge_core.ir import Graph, Node, clone, verify

MOST = 400
"""Attempts before it is small enough."""


def reduce_graph(graph: Graph, shows: Callable[[Graph], bool], *, most: int = MOST) -> Graph:
    """A smaller graph that still shows a fault; the given one where nothing can go.

    Args:
        shows: whether a graph shows the fault; what it raises counts as no.
        most: how often it is asked.
    """
    best, tries = graph, most
    progress = True
    while progress:
        progress = False
        for attempt in _smaller(best):
            if tries == 0:
                return best
            tries -= 1
            if _shows(attempt, shows):
                best, progress = attempt, True
                break
    return best


def _shows(graph: Graph, shows: Callable[[Graph], bool]) -> bool:
    try:
        verify(graph)
        return shows(graph)
    except Exception:  # another fault than the one that is looked for
        return False


def _smaller(graph: Graph) -> Iterator[Graph]:
    """Graphs with something less in them; what takes most away comes first."""
    names = [node.name for node in graph.all_nodes()]
    for name in reversed(names):
        for change in (_without_rest, _bypassed, _as_input, _without_result):
            attempt = clone(graph)
            node = attempt.find(name)
            try:
                if node is not None and change(node):
                    yield attempt
            except GeError:
                continue


def _without_rest(node: Node) -> bool:
    """Drop the node where nobody reads it, and what nobody reads then."""
    graph = node.graph
    if graph is None or node.op == "NetOutput" or node.out_nodes:
        return False
    if node.op == "Data" and not graph.is_root:
        return False
    _drop(node)
    return True


def _drop(node: Node) -> None:
    graph = node.graph
    assert graph is not None
    feeders = node.in_nodes
    inner = list(node.subgraphs.values())
    graph.remove(node)
    for sub in inner:
        if not sub.callers and sub.name in graph.root.subgraphs:
            graph.root.remove_subgraph(sub)
    for other in feeders:
        if other.graph is graph and not other.out_nodes and other.op != "Data":
            _drop(other)


def _bypassed(node: Node) -> bool:
    """Let the readers of the node read one of its inputs that is described alike."""
    graph = node.graph
    if graph is None or not node.outputs:
        return False
    for anchor in node.inputs:
        source = anchor.source
        if source is None or source.desc.shape != node.outputs[0].desc.shape:
            continue
        if source.desc.dtype != node.outputs[0].desc.dtype or any(
            out.readers for out in node.outputs[1:]
        ):
            continue
        inner = list(node.subgraphs.values())
        graph.bypass(node, input=anchor.index)
        for sub in inner:
            if not sub.callers:
                graph.root.remove_subgraph(sub)
        return True
    return False


def _as_input(node: Node) -> bool:
    """Make the node a graph input of its own."""
    graph = node.graph
    if graph is None or not graph.is_root or len(node.outputs) != 1 or not node.inputs:
        return False
    feeders = node.in_nodes
    index = max((int(d.attrs.get("index", 0)) for d in graph.data_nodes), default=-1) + 1
    data = graph.add_node(
        "Data",
        graph.fresh_name("in"),
        outputs=[node.outputs[0].desc.replace(reuse_input=None)],
        attrs={"index": index},
        before=node,
    )
    for reader in list(node.outputs[0].readers):
        graph.rewire(reader, data.outputs[0])
    for later in list(node.control_outputs):
        graph.remove_control(node, later)
    graph.remove(node)
    for other in feeders:
        if other.graph is graph and not other.out_nodes and other.op != "Data":
            _drop(other)
    return True


def _without_result(node: Node) -> bool:
    """Drop the last of several results."""
    graph = node.graph
    if graph is None or not graph.is_root or node.op != "NetOutput" or len(node.inputs) < 2:
        return False
    graph.remove_input(node)
    return True
