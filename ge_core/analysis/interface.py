"""Which inner nodes stand for the inputs and outputs of a node with subgraphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ge_core.ir import Graph, InputAnchor, Node
from ge_core.ops import output_parent_index, parent_index
from ge_core.ops.builtin import DATA_LIKE

_DATA_OPS: Final = tuple(sorted(DATA_LIKE))


@dataclass(slots=True)
class Interface:
    """One subgraph's ends, by the index they have at the caller.

    Attributes:
        data: parent input -> the inner nodes that stand for it, in listing order.
        unplaced: inner inputs without an index.
        results: parent output -> the NetOutput input that delivers it; the first one counts.
        blind_from: the first NetOutput input without an index, None where all have one.
    """

    data: dict[int, list[Node]] = field(default_factory=dict)
    unplaced: list[Node] = field(default_factory=list)
    results: dict[int, InputAnchor] = field(default_factory=dict)
    blind_from: InputAnchor | None = None


def interface_of(graph: Graph) -> Interface:
    """Read the ends of a subgraph."""
    found = Interface()
    for node in graph.nodes_of(*_DATA_OPS):
        index = parent_index(node)
        if index is None:
            found.unplaced.append(node)
        else:
            found.data.setdefault(index, []).append(node)
    out = graph.net_output
    for anchor in () if out is None else out.inputs:
        index = output_parent_index(anchor.node, anchor.index)
        if index is not None:
            found.results.setdefault(index, anchor)
        elif found.blind_from is None:
            found.blind_from = anchor
    return found


class Interfaces:
    """The ends of all subgraphs, read once per version of the graph.

    Args:
        lasting: read once for all, for somebody who edits between the ends only and asks on the
            way.
    """

    def __init__(self, *, lasting: bool = False) -> None:
        self._lasting = lasting
        self._known: dict[Graph, tuple[int, Interface]] = {}

    def of(self, graph: Graph) -> Interface:
        """The ends of one subgraph."""
        found = self._known.get(graph)
        if found is not None and (self._lasting or found[0] == graph.version):
            return found[1]
        ends = interface_of(graph)
        self._known[graph] = graph.version, ends
        return ends
