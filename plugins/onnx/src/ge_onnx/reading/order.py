"""The order of nodes in a file, which need not be an order to run them in."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from onnx import AttributeProto, GraphProto, NodeProto

from ge_core.api import InputFileError


def subgraphs_of(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """(label, graph) of every graph that is an attribute of the node."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            for at, graph in enumerate(attribute.graphs):
                yield f"{attribute.name}[{at}]", graph


class Sorter:
    """Stable topological order of node lists; remembers what subgraphs read from outside."""

    def __init__(self) -> None:
        # By identity, and the message with it: protobuf makes a new object, perhaps at an old
        # address, whenever nobody holds the last one.
        self._free: dict[int, tuple[GraphProto, tuple[str, ...]]] = {}

    def reads(self, node: NodeProto) -> Iterator[str]:
        """The names that a node reads, what its subgraphs capture included."""
        yield from (name for name in node.input if name)
        for _, graph in subgraphs_of(node):
            yield from self._free_names(graph)

    def _free_names(self, graph: GraphProto) -> tuple[str, ...]:
        # The depth is bounded by protobuf, which parses no message nested deeper than 100 levels.
        known = self._free.get(id(graph))
        if known is None:
            own = defined_names(graph)
            read: dict[str, None] = {}
            for node in graph.node:
                read.update(dict.fromkeys(self.reads(node)))
            read.update(dict.fromkeys(output.name for output in graph.output))
            free = tuple(name for name in read if name not in own)
            known = self._free[id(graph)] = (graph, free)
        return known[1]

    def sorted(self, nodes: Sequence[NodeProto]) -> list[NodeProto]:
        """The nodes, each behind those it reads from, otherwise in the file's order.

        Raises:
            InputFileError: nodes that wait for one another.
        """
        producer = {name: at for at, node in enumerate(nodes) for name in node.output if name}
        needs: list[set[int]] = []
        for node in nodes:
            needs.append({producer[name] for name in self.reads(node) if name in producer})
        if all(max(before, default=-1) < at for at, before in enumerate(needs)):
            return list(nodes)
        readers: list[list[int]] = [[] for _ in nodes]
        for at, before in enumerate(needs):
            for earlier in sorted(before):
                readers[earlier].append(at)
        waiting = [len(before) for before in needs]
        ready = [at for at, count in enumerate(waiting) if count == 0]
        order: list[int] = []
        while ready:
            at = heapq.heappop(ready)
            order.append(at)
            for later in readers[at]:
                waiting[later] -= 1
                if waiting[later] == 0:
                    heapq.heappush(ready, later)
        if len(order) != len(nodes):
            raise _cycle_error(nodes, needs, waiting)
        return [nodes[at] for at in order]


def defined_names(graph: GraphProto) -> set[str]:
    """The names that a graph defines: inputs, initializers, results of nodes."""
    names = {info.name for info in graph.input}
    names.update(tensor.name for tensor in graph.initializer)
    names.update(tensor.values.name for tensor in graph.sparse_initializer)
    for node in graph.node:
        names.update(node.output)
    names.discard("")
    return names


def _cycle_error(
    nodes: Sequence[NodeProto], needs: list[set[int]], waiting: list[int]
) -> InputFileError:
    at = next(place for place, count in enumerate(waiting) if count > 0)
    path: dict[int, None] = {}
    while at not in path:
        path[at] = None
        at = min(before for before in needs[at] if waiting[before] > 0)
    back = list(path)[list(path).index(at) :]
    loop = [*reversed(back), back[-1]]
    names = [nodes[place].name or nodes[place].output[0] for place in loop]
    return InputFileError("a cycle: " + " -> ".join(names), node=names[0], field="input")
