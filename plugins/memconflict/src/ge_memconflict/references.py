"""Marks what is updated in place by name: an input and an output of one name are one memory.

GE refreshes these marks before every pass that asks about reading and writing, and keeps the pairs
in tables by node name. Here the pairs are read from the ports whenever somebody asks
(`named_pairs`), so that only the mark is left to set, for readers of the graph.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import Graph, Node, OpRegistry, named_pairs, ref_of, written_inputs

REFERENCE: Final = "reference"


def refresh_references(root: Graph, ops: OpRegistry) -> int:
    """Mark every node with a port name that is an input's and an output's; how many were marked.

    A node is left alone where the mark would say more than the names do: with it, a view's reuse
    index means an update.
    """
    marked = 0
    for node in root.all_nodes():
        if node.graph is None or not node.output_names or node.attrs.get(REFERENCE):
            continue
        if named_pairs(node) and _says_the_same(node, ops):
            node.graph.set_attr(node, REFERENCE, True)
            marked += 1
    return marked


def _says_the_same(node: Node, ops: OpRegistry) -> bool:
    written = written_inputs(node, ops)
    pairs = dict(named_pairs(node))
    return all(
        ref_of(output, ops) == pairs.get(output.index, ref_of(output, ops))
        and (output.desc.reuse_input is None or output.desc.reuse_input in written)
        for output in node.outputs
    )
