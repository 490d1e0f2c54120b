"""What only the listed order keeps apart.

A graph means what it computes when it is run in its listed order, so two accesses to one memory may
be in order without an edge between them. A new edge that agrees with the listing changes nothing
for them. One that goes against it holds nodes back, which others then overtake: that must not be
nodes that use the same memory, or have effects of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ge_core.api import (
    Anchor,
    Graph,
    Node,
    crosses_streams,
    inner_graphs,
    is_no_task,
    listed_order,
    ref_of,
)

if TYPE_CHECKING:
    from ge_tensormove.run import Run


def sort_listing(root: Graph) -> None:
    """List the nodes of every graph in topological order, as close to the listing as can be."""
    for graph in root.all_graphs():
        order = listed_order(graph)
        if any(one is not other for one, other in zip(order, graph.nodes, strict=True)):
            graph.reorder(order)


class Listing:
    """The order in which nodes will be run, one stream supposed.

    Attributes:
        steps: nodes and edges looked at, for the bound on work.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._orders: dict[Graph, list[Node]] = {}
        self._places: dict[Node, int] = {}
        self.steps = 0

    def overtaken(
        self, firsts: Sequence[Node], seconds: Sequence[Node]
    ) -> tuple[Node, Node] | None:
        """Two nodes that would change places, and mustn't, if all firsts came before all seconds.

        None where nothing moves, or nobody minds. The nodes are of one graph.
        """
        region = self._region(firsts, seconds)
        if region is None:
            return None
        held, passing = self._parted(region, seconds)
        uses = self._uses(held, passing)
        for of_held, of_passing in (*uses.values(), *self._meetings(held, passing)):
            found = _crossing(of_held, of_passing, self._places)
            if found is not None:
                return found
        return None

    def hold_back(self, firsts: Sequence[Node], seconds: Sequence[Node]) -> None:
        """Edges now make all firsts come before all seconds."""
        region = self._region(firsts, seconds)
        if region is None:
            return
        held, passing = self._parted(region, seconds)
        order = self._orders[_graph_of(firsts[0])]
        start = self._places[region[0]]
        for at, node in enumerate((*passing, *held), start):
            order[at] = node
            self._places[node] = at

    def _region(self, firsts: Sequence[Node], seconds: Sequence[Node]) -> list[Node] | None:
        """The nodes from the earliest second to the latest first; None where all are in order."""
        if not firsts or not seconds:
            return None
        graph = _graph_of(firsts[0])
        if graph not in self._orders:
            order = self._orders[graph] = list(graph.nodes)
            self._places |= {node: at for at, node in enumerate(order)}
        # A node made on the way, to wait for others, is held back by its edges alone.
        low = min((self._places[node] for node in seconds if node in self._places), default=0)
        high = max((self._places[node] for node in firsts if node in self._places), default=-1)
        return self._orders[graph][low : high + 1] if low <= high else None

    def _parted(self, region: list[Node], seconds: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """The nodes of a region that are held back, with what depends on them; and the others."""
        waiting = set(seconds)
        held: list[Node] = []
        passing: list[Node] = []
        for node in region:
            self.steps += 1 + len(node.inputs)
            before = (*node.in_nodes, *node.control_inputs)
            if node in waiting or any(other in waiting for other in before):
                waiting.add(node)
                held.append(node)
            else:
                passing.append(node)
        return held, passing

    # ---- who minds -----------------------------------------------------------------------------

    def _uses(self, held: list[Node], passing: list[Node]) -> dict[object, tuple[_Uses, _Uses]]:
        """Per memory that somebody writes, and for effects: the uses by either group."""
        found: dict[object, tuple[_Uses, _Uses]] = {}
        for side, nodes in enumerate((held, passing)):
            for node in nodes:
                if node.graph is None:
                    continue
                for what, writes in self._used_by(node):
                    uses = found.setdefault(what, ({}, {}))[side]
                    uses[node] = uses.get(node, False) or writes
        return found

    def _used_by(self, node: Node) -> Iterator[tuple[object, bool]]:
        """What a node, with all inside it, uses, and whether it writes it."""
        nested = [inner for graph in inner_graphs(node) for inner in graph.nodes]
        for each in (node, *nested):
            self.steps += 1
            if self._run.ops.traits(each).side_effect:
                yield "effects", True
            yield from self._accesses(each)

    def _meetings(self, held: list[Node], passing: list[Node]) -> Iterator[tuple[_Uses, _Uses]]:
        """Per stream: its held and passing nodes, those marked where streams meet.

        What waits on another stream for a node waits for all before it on its own stream, and a
        node that waits for another stream has all behind it wait: orders that hang on who stands
        before whom.
        """
        found: dict[int, tuple[_Uses, _Uses]] = {}
        for side, nodes in enumerate((held, passing)):
            for node in nodes:
                if node.graph is None:
                    continue
                streams = self._streams(node)
                others = (node.in_nodes, node.control_inputs)
                if side == 1:
                    others = (node.out_nodes, node.control_outputs)
                meets = len(streams) > 1 or any(crosses_streams(node, some) for some in others)
                for stream in streams:
                    found.setdefault(stream, ({}, {}))[side][node] = meets
        yield from found.values()

    def _streams(self, node: Node) -> list[int]:
        """The streams that the node, and all inside it, runs on; what feeds graphs has none."""
        inside = (
            inner.stream_id
            for graph in inner_graphs(node)
            for inner in graph.nodes
            if "stream_id" in inner.attrs or (inner.inputs and inner.op != "NetOutput")
        )
        return list(dict.fromkeys((node.stream_id, *inside)))

    def _accesses(self, node: Node) -> Iterator[tuple[Anchor, bool]]:
        run = self._run
        written = [run.effects.plain_kind(anchor).writes for anchor in node.inputs]
        if not any(written) and (is_no_task(node) or self._only_names(node)):
            return
        for anchor, writes in zip(node.inputs, written, strict=True):
            if anchor in run.memory and run.memory.count(anchor, "writes"):
                yield run.memory.root(anchor), writes

    def _only_names(self, node: Node) -> bool:
        """Whether the node only gives memory another name."""
        outputs = node.outputs
        return bool(outputs) and all(
            ref_of(output, self._run.ops) is not None for output in outputs
        )


_Uses = dict[Node, bool]
"""Who uses something -> whether it writes it."""


def _crossing(held: _Uses, passing: _Uses, places: dict[Node, int]) -> tuple[Node, Node] | None:
    """A held node and a later one that passes it, at least one of which writes."""
    for ones, others in ((held, _writers(passing)), (_writers(held), passing)):
        if ones and others:
            first, last = min(ones, key=places.__getitem__), max(others, key=places.__getitem__)
            if places[first] < places[last]:
                return first, last
    return None


def _writers(uses: _Uses) -> _Uses:
    return {node: True for node, writes in uses.items() if writes}


def _graph_of(node: Node) -> Graph:
    assert node.graph is not None
    return node.graph
