"""A deep copy of a graph: same names, order and origins; descriptions and values are shared."""

from __future__ import annotations

from ge_core.ir.collector import collector_paused
from ge_core.ir.graph import Graph
from ge_core.ir.node import Node


def clone(graph: Graph) -> Graph:
    """Copy a root graph with its subgraphs. The copy's edits don't reach the original."""
    with collector_paused():
        return _clone(graph)


def _clone(graph: Graph) -> Graph:
    copy = Graph(graph.name, graph.source)
    parts = [(graph, copy)]
    parts += [(sub, copy.add_subgraph(sub.name)) for sub in graph.subgraphs.values()]
    twins: dict[Node, Node] = {}
    for old, new in parts:
        for name, value in old.attrs.items():
            new.set_graph_attr(name, value)
        for node in old.nodes:
            twins[node] = _copy_node(node, new)
    for node, twin in twins.items():
        assert twin.graph is not None
        for anchor in node.inputs:
            twin.graph.add_input(twin, None, anchor.own_desc)
    # By readers, not by inputs: the order of an output's readers is part of the graph.
    for node, twin in twins.items():
        assert twin.graph is not None
        for output, other in zip(node.outputs, twin.outputs, strict=True):
            for reader in output.readers:
                twin.graph.connect(other, twins[reader.node].inputs[reader.index])
    for node, twin in twins.items():
        assert twin.graph is not None
        for earlier in node.control_inputs:
            twin.graph.add_control(twins[earlier], twin)
        for label, sub in node.subgraphs.items():
            twin.graph.set_subgraph(twin, label, copy.subgraphs[sub.name])
    return copy


def _copy_node(node: Node, graph: Graph) -> Node:
    return graph.add_node(
        node.op,
        node.name,
        outputs=[output.desc for output in node.outputs],
        attrs=node.attrs,
        value=node.value,
        origin=node._origin,
        input_names=node.input_names,
        output_names=node.output_names,
    )
