"""The expanded graph: one instance of every node per call path, in running order.

A parent node comes first, then the nodes of its subgraphs in listing order, then what follows.
Instance i stands at position i + 1; position 0 is the start of the run, and the position behind the
last instance its end. Every output of an instance is a *tensor*, known by a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ge_core.analysis.toporder import listed_order, predecessors
from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, Node, OutputAnchor
from ge_core.memory.plan import CallPath, tensor_name
from ge_core.ops import OpRegistry, OpTraits

EXPANSION_LIMIT: Final = 5_000_000
"""Node instances, and names on call paths, that a graph may expand to."""

ARM_KINDS: Final = frozenset({"if", "case"})

START: Final = 0
"""The position before all nodes."""


@dataclass(slots=True, eq=False)
class Region:
    """One graph on one call path.

    Attributes:
        call: names of the calling nodes, outermost first.
        caller: instance of the calling node, -1 for the root.
        role: "root"; "call" runs once where its caller does; "arm" runs or not, instead of the
            other arms; "loop" runs any number of times.
        outer: the region of the caller.
        scope: index of the innermost arm, loop or root around the nodes; calls open none.
        first, last: the instances inside, those of nested regions included; none if last < first.
        at: instance by node.
    """

    index: int
    graph: Graph
    call: CallPath
    caller: int
    label: str
    role: str
    outer: Region | None
    scope: int
    first: int = 0
    last: int = -1
    at: dict[Node, int] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """Position of the first node inside."""
        return self.first + 1

    @property
    def end(self) -> int:
        """Position of the last node inside; that of the caller where there is none."""
        return self.last + 1


class Expansion:
    """All node instances of a graph.

    Args:
        graph: the root.
        ops: traits of its ops.
        limit: of the work.

    Attributes:
        nodes, regions: by instance.
        all_regions: every region, the root first.
        base: by instance, the number of its first output's tensor.
        owner: by tensor, the instance.
        scopes: the region that opens each scope; 0 is the root.
        inner: by instance of a node with subgraphs, their regions.

    Raises:
        LimitExceeded: nested calls expand to more than `limit`.
        GraphError: a graph has a cycle.
    """

    def __init__(self, graph: Graph, ops: OpRegistry, limit: int = EXPANSION_LIMIT) -> None:
        self.graph = graph.root
        self.ops = ops
        self.nodes: list[Node] = []
        self.regions: list[Region] = []
        self.all_regions: list[Region] = []
        self.base: list[int] = []
        self.owner: list[int] = []
        self.scopes: list[Region] = []
        self.inner: dict[int, list[Region]] = {}
        self._traits: dict[str, OpTraits] = {}
        self._orders: dict[Graph, list[Node]] = {}
        self._left = self._limit = limit
        self._expand()

    # ---- making --------------------------------------------------------------------------------

    def _expand(self) -> None:
        root = self._region(self.graph, (), -1, "", "root", None)
        stack: list[tuple[Region, Iterator[Node] | None]] = [(root, None)]
        while stack:
            region, nodes = stack.pop()
            if nodes is None:
                region.first = len(self.nodes)
                nodes = iter(self._order(region))
            opened = self._run(region, nodes)
            if not opened:
                region.last = len(self.nodes) - 1
                continue
            stack.append((region, nodes))
            stack.extend((inner, None) for inner in reversed(opened))

    def _run(self, region: Region, nodes: Iterator[Node]) -> list[Region]:
        """Add nodes up to one that calls; returns the regions that it opens."""
        at, base, owner = region.at, self.base, self.owner
        for node in nodes:
            instance = len(self.nodes)
            at[node] = instance
            self.nodes.append(node)
            self.regions.append(region)
            base.append(len(owner))
            owner.extend([instance] * len(node.outputs))
            if node.subgraphs:
                role = self._role(node)
                opened = [
                    self._region(graph, (*region.call, node.name), instance, label, role, region)
                    for label, graph in node.subgraphs.items()
                ]
                self.inner[instance] = opened
                return opened
        return []

    def _role(self, node: Node) -> str:
        kind = self.traits(node).kind
        if kind in ARM_KINDS:
            return "arm"
        # What an undeclared op does with its subgraphs is unknown: any number of times is safe.
        return "call" if kind == "call" else "loop"

    def _region(
        self,
        graph: Graph,
        call: CallPath,
        caller: int,
        label: str,
        role: str,
        outer: Region | None,
    ) -> Region:
        scope = outer.scope if role == "call" and outer is not None else len(self.scopes)
        region = Region(len(self.all_regions), graph, call, caller, label, role, outer, scope)
        self.all_regions.append(region)
        if role != "call":
            self.scopes.append(region)
        return region

    def _order(self, region: Region) -> list[Node]:
        order = self._orders.get(region.graph)
        if order is None:
            order = self._orders[region.graph] = running_order(region.graph)
        self._left -= len(order) + len(region.call)
        if self._left < 0:
            raise LimitExceeded(
                f"calls expand to more than {self._limit} node instances",
                hint="raise the limit of the memory planner, or inline fewer nested calls",
            )
        return order

    # ---- reading -------------------------------------------------------------------------------

    @property
    def end(self) -> int:
        """The position behind all nodes."""
        return len(self.nodes) + 1

    def traits(self, node: Node) -> OpTraits:
        """The traits of a node's op."""
        found = self._traits.get(node.op)
        if found is None:
            found = self._traits[node.op] = self.ops.traits(node)
        return found

    def kind(self, instance: int) -> str:
        """The kind of op of an instance."""
        return self.traits(self.nodes[instance]).kind

    def tensor(self, instance: int, output: int) -> int:
        """The number of an output."""
        return self.base[instance] + output

    def output(self, tensor: int) -> OutputAnchor:
        """The output that a number stands for."""
        instance = self.owner[tensor]
        return self.nodes[instance].outputs[tensor - self.base[instance]]

    def source(self, instance: int, index: int) -> int | None:
        """The tensor that feeds an input; None where nothing does or there is no such input."""
        inputs = self.nodes[instance].inputs
        if not 0 <= index < len(inputs):
            return None
        feed = inputs[index].source
        if feed is None:
            return None
        return self.base[self.regions[instance].at[feed.node]] + feed.index

    def name(self, tensor: int) -> str:
        """`call/.../node:output`."""
        instance = self.owner[tensor]
        return tensor_name(
            self.regions[instance].call,
            self.nodes[instance].name,
            tensor - self.base[instance],
        )

    def last_inside(self, instance: int) -> int:
        """Position at which a node and all its subgraphs have ended."""
        inner = self.inner.get(instance)
        return instance + 1 if not inner else max(instance + 1, *(r.end for r in inner))


def running_order(graph: Graph) -> list[Node]:
    """The nodes as listed, or in the topological order closest to the listing.

    Raises:
        GraphError: the graph has a cycle.
    """
    done: set[Node] = set()
    listed: list[Node] = []
    for node in graph.nodes:
        for earlier in predecessors(node):
            if earlier not in done:
                return listed_order(graph)
        done.add(node)
        listed.append(node)
    return listed
