"""`Order`: what comes before what, over data edges, control edges and streams.

Two relations. `depends`: a path of edges leads from one node to the other; an incremental
topological order bounds the search, and keeps up with the control edges that passes add through it.
`before`: the one has finished whenever the other starts, because of edges or because a stream runs
its nodes in the listed order; answered from vector clocks, which are made anew when the graph has
changed, so ask it once edits are done. Nodes of different graphs are compared where both are
contained: a node inside a subgraph stands for the node that calls it.

Neither relation is kept as a matrix.
"""

from __future__ import annotations

from collections.abc import Iterable

from ge_core.analysis.clocks import InnerStreams, StreamClocks
from ge_core.analysis.nesting import lift_both, lifted
from ge_core.analysis.toporder import TopoOrder, Work
from ge_core.errors import GraphError
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry


class Order:
    """The order of all nodes below the root of `graph`.

    Edits that it did not make itself make it start anew at the next question, unless `vouch` is
    called: removing nodes and edges, or adding edges along paths there were, keeps it right.

    Attributes:
        work: what it has done; whoever searches by its labels may count there.
    """

    def __init__(self, graph: Graph, ops: OpRegistry) -> None:
        self._root = graph.root
        self._ops = ops
        self._topo: dict[Graph, TopoOrder] = {}
        self._clocks: dict[Graph, StreamClocks] = {}
        self._inside = InnerStreams(ops)
        self._clock_version = self._version = self._root.version
        self.work = Work()

    @property
    def steps(self) -> int:
        """Edges looked at so far, for tests of the cost."""
        return self.work.steps

    # ---- edges ---------------------------------------------------------------------------------

    def sorted(self, graph: Graph) -> list[Node]:
        """The nodes of a graph in a topological order, close to the listing."""
        return self._topo_of(graph).sorted()

    def label(self, node: Node) -> int:
        """A number that grows along the edges of the node's graph."""
        return self._topo_of(_graph_of(node)).label(node)

    def depends(self, before: Node, after: Node) -> bool:
        """Whether `before`, or what contains it, must have run first because of edges alone.

        False for a node and what contains it: neither has finished when the other starts. Inside
        one subgraph the answer is about one run of it; a subgraph with several callers has to come
        first, or last, in all its runs.
        """
        both = lift_both(before, after)
        if both is None:
            return False
        graph, firsts, seconds = both
        topo = self._topo_of(graph)
        return all(topo.reaches(a, b) for a in firsts for b in seconds)

    def path(self, sources: Iterable[Node], targets: Iterable[Node]) -> tuple[Node, Node] | None:
        """A source and a target, all of one graph, that a path leads to; None where there is none.

        One search, however many there are of either.
        """
        sources = list(sources)
        if not sources:
            return None
        return self._topo_of(_graph_of(sources[0])).path(sources, targets)

    def stray(self, sources: Iterable[Node], target: Node) -> Node | None:
        """The first of some nodes of one graph that no path leads from to the target.

        None where all lead there. One search, however many there are; a target deeper inside stands
        for what contains it in the sources' graph, and all of that has to be reached.
        """
        sources = list(sources)
        if not sources:
            return None
        graph = _graph_of(sources[0])
        around = lifted(target, graph)
        if not around:
            return sources[0]
        topo = self._topo_of(graph)
        strays = (topo.stray(sources, node) for node in around)
        return next((node for node in strays if node is not None), None)

    def missed(self, source: Node, targets: Iterable[Node]) -> Node | None:
        """The first of some nodes of the source's graph that no path leads to; None for none."""
        return self._topo_of(_graph_of(source)).missed(source, targets)

    def add_control(self, before: Node, after: Node) -> bool:
        """Add a control edge; False, and nothing done, where it would close a cycle.

        Raises:
            GraphError: the nodes lie in different graphs.
        """
        graph = _graph_of(before)
        if after.graph is not graph:
            raise GraphError(f"{before.name!r} lies in another graph", node=after.name)
        if not self._topo_of(graph).admit(before, after):
            return False
        graph.add_control(before, after)
        self._moved_on()
        return True

    def vouch(self) -> None:
        """The edits since the last question keep the topological order right."""
        self._moved_on()

    # ---- edges and streams ---------------------------------------------------------------------

    def before(self, first: Node, second: Node) -> bool:
        """Whether `first` has finished whenever `second` starts, by edges or by stream.

        Nodes in different arms of one If or Case, and a node and what contains it, are not ordered.
        """
        both = lift_both(first, second)
        if both is None:
            return False
        graph, firsts, seconds = both
        clocks = self._clocks_of(graph)
        topo = self._topo_of(graph)
        return all(
            clocks.before(a, b) if clocks.on_stream(a) else topo.reaches(a, b)
            for a in firsts
            for b in seconds
        )

    def exclusive(self, first: Node, second: Node) -> bool:
        """Whether the two stand in different arms of one If or Case, so that never both run."""
        both = lift_both(first, second)
        if both is None:
            return False
        graph, firsts, seconds = both
        if len(firsts) != 1 or firsts != seconds or first.graph is graph or second.graph is graph:
            return False
        return self._ops.kind(firsts[0]) in ("if", "case")

    # ---- keeping up ----------------------------------------------------------------------------

    def _topo_of(self, graph: Graph) -> TopoOrder:
        if self._version != self._root.version:
            self._topo.clear()
            self.work.relabelled += 1
            self._moved_on()
        found = self._topo.get(graph)
        if found is None:
            found = self._topo[graph] = TopoOrder(graph, self.work)
            self._forget_on_rollback()
        return found

    def _clocks_of(self, graph: Graph) -> StreamClocks:
        if self._clock_version != self._root.version:
            self._clocks.clear()
            self._inside = InnerStreams(self._ops)
            self._clock_version = self._root.version
            self._forget_on_rollback()
        found = self._clocks.get(graph)
        if found is None:
            nodes = self._topo_of(graph).sorted()
            found = self._clocks[graph] = StreamClocks(nodes, self._ops, self._inside)
        return found

    def _moved_on(self) -> None:
        self._version = self._root.version
        self._forget_on_rollback()

    def _forget_on_rollback(self) -> None:
        # A rollback gives the old graph back under the version of the new one.
        journal = self._root.journal
        if journal.active:
            journal.record(self._stale)

    def _stale(self) -> None:
        self._clock_version = -1


def _graph_of(node: Node) -> Graph:
    if node.graph is None:
        raise ValueError(f"node {node.name!r} is in no graph")
    return node.graph
