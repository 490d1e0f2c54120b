"""The walk over a whole graph, told once more: GE's order of visits, removal, and what follows it.

Sections 2.8, 2.9 and 6 of the description that `rules` follows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from ge_core.api import Graph, InputAnchor, Node

from .facts import Anchor, Edge, following, reaches
from .memory import symbol_of
from .rules import Between, Verdict, judge

MANY = 1000
VISITS = 10


@dataclass
class Deletion:
    """One run.

    Attributes:
        verdicts: what was said of each copy, in order.
        symbols: the aliasing table, kept up while copies go (2.9).
    """

    root: Graph
    options: Mapping[str, str]
    between: Between
    verdicts: list[tuple[str, str | None]] = field(default_factory=list)
    symbols: dict[Anchor, list[Anchor]] = field(default_factory=dict)

    def run(self) -> None:
        """Sort, build the table, walk."""
        for graph in self.root.all_graphs():
            graph.reorder(topological(graph))
        for graph in self.root.all_graphs():
            for node in graph.nodes:
                for anchor in (*node.inputs, *node.outputs):
                    if anchor not in self.symbols:
                        members = symbol_of(anchor)
                        self.symbols |= dict.fromkeys(members, members)
        self._walk(self.root)

    def _walk(self, graph: Graph) -> None:
        nodes = list(graph.nodes)
        budget = VISITS * len(nodes)
        before = {node: preceding(node) for node in nodes}
        late = [node for node in nodes if len(before[node]) > MANY]
        queue = deque(node for node in nodes if not before[node])
        seen: set[Node] = set()
        again: dict[Node, None] = {}
        while True:
            if not queue:
                batch = late or [n for n in again if n in seen or ready(n, seen)]
                late, again = [], again if late else {}
                queue.extend(node for node in batch if node.graph is graph)
                if not queue:
                    return
            node = queue.popleft()
            if node.graph is not graph:
                continue
            again.pop(node, None)
            if budget == 0:
                return
            budget -= 1
            after = following(node)
            self._visit(node, again)
            for inner in node.subgraphs.values():
                self._walk(inner)
            seen.add(node)
            for other in dict.fromkeys([*after, *(following(node) if node.graph else ())]):
                waits = other in seen or other in queue or other in late
                if other.graph is graph and not waits and ready(other, seen):
                    queue.append(other)

    def _visit(self, node: Node, again: dict[Node, None]) -> None:
        if node.op != "TensorMove":
            return
        verdict = judge(node, self.options, self.between)
        if verdict.rule is None and closes_cycle(node, verdict.planned):
            verdict = Verdict("R3", "a planned edge would close a cycle")
        self.verdicts.append((node.name, verdict.rule))
        if verdict.rule is None:
            for other in (*preceding(node), *following(node)):
                again[other] = None
            self._upkeep(node)
            remove(node, verdict.planned)

    def _upkeep(self, node: Node) -> None:
        """2.9, after removal."""
        source = self.symbols[node.inputs[0]]
        if node.outputs:
            target = self.symbols[node.outputs[0]]
            if target is not source:
                source.extend(target)
                self.symbols |= dict.fromkeys(target, source)
        for anchor in (*node.inputs, *node.outputs):
            source.remove(anchor)
            del self.symbols[anchor]


def topological(graph: Graph) -> list[Node]:
    """Always the earliest listed node that waits for nobody."""
    waiting = list(graph.nodes)
    done: dict[Node, None] = {}
    while waiting:
        node = next(n for n in waiting if all(p in done for p in preceding(n)))
        waiting.remove(node)
        done[node] = None
    return list(done)


def preceding(node: Node) -> list[Node]:
    """Direct predecessors, data and control."""
    return [*node.in_nodes, *node.control_inputs]


def ready(node: Node, seen: set[Node]) -> bool:
    """Whether all that comes before a node has been seen."""
    return all(other in seen or other.op == "NextIteration" for other in preceding(node))


def closes_cycle(copy: Node, planned: list[Edge]) -> bool:
    """Whether edges, added one after the other, would close a cycle; the graph stays as it is."""
    graph = copy.graph
    assert graph is not None
    added: list[Edge] = []
    try:
        for a, b in planned:
            if a is b or reaches(b, a):
                return True
            if graph.add_control(a, b):
                added.append((a, b))
        return False
    finally:
        for a, b in added:
            graph.remove_control(a, b)


def edges_after(
    copy: Node, planned: list[Edge]
) -> tuple[list[tuple[Anchor, InputAnchor]], set[Edge]]:
    """2.7 and 2.8: the data edges to come, and the control edges that are wanted."""
    feed = copy.inputs[0].source
    assert feed is not None
    readers = [reader for output in copy.outputs for reader in output.readers]
    joined = {(feed.node, reader.node) for reader in readers}
    pairs = {(a, b) for a in preceding(copy) for b in following(copy) if a is not b}
    return [(feed, reader) for reader in readers], (pairs - joined) | set(planned)


def remove(copy: Node, planned: list[Edge]) -> None:
    """2.7 and 2.8."""
    graph = copy.graph
    assert graph is not None
    data, control = edges_after(copy, planned)
    before, after = list(dict.fromkeys(preceding(copy))), list(dict.fromkeys(following(copy)))
    for feed, reader in data:
        graph.disconnect(reader)
        graph.connect(feed, reader)  # type: ignore[arg-type]  # a copy is fed by an output
    many = len(before) * len(after)
    if many > MANY and many > len(before) + len(after):
        noop = graph.add_node("NoOp", f"{copy.name}_noop", origin=(), before=copy)
        control = {(a, noop) for a in before} | {(noop, b) for b in after} | set(planned)
    for a, b in sorted(control, key=lambda edge: (edge[0].name, edge[1].name)):
        graph.add_control(a, b)
    graph.remove(copy)
