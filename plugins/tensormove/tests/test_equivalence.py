"""Removing copies changes nothing that any node reads, whatever order the edges leave open.

Graphs are run over symbolic contents: tuples that say how something was computed. The *reference*
run takes the original in its listed order; a scribbler there works on a copy of its own. A
*compiled* run takes any order that the edges allow; scribblers and loops destroy what they are
given. Two runs agree where every node that is in both reads the same contents, and variables end
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import (
    Graph,
    Node,
    OpRegistry,
    OutputAnchor,
    clone,
    listed_order,
    output_parent_index,
    parent_index,
    ref_of,
    scribbled_inputs,
    written_inputs,
)
from ge_core.testing import GraphKnobs, random_graph

Content = tuple[Any, ...]
OrderOf = Callable[[Graph], list[Node]]


@dataclass
class Cell:
    """One memory."""

    content: Content
    constant: bool = False


def any_order(random: Random) -> OrderOf:
    """A random order that data and control edges allow."""

    def order(graph: Graph) -> list[Node]:
        waiting = {node: {*node.in_nodes, *node.control_inputs} for node in graph.nodes}
        found: list[Node] = []
        while waiting:
            ready = [node for node, before in waiting.items() if not before]
            node = ready[random.randrange(len(ready))]
            del waiting[node]
            found.append(node)
            for before in waiting.values():
                before.discard(node)
        return found

    return order


@dataclass
class Simulation:
    """One run of a graph.

    Args:
        ops: op traits.
        order: the order to run each graph in.
        seed: decides which arms run and how often loops turn, by the nodes' names.
        compiled: whether scribblers really destroy their inputs.
    """

    ops: OpRegistry
    order: OrderOf = listed_order
    seed: int = 0
    compiled: bool = False
    reads: dict[tuple[tuple[str, ...], str, int], Content] = field(default_factory=dict)
    variables: dict[str, Cell] = field(default_factory=dict)
    junk: int = 0

    def run(self, graph: Graph) -> Simulation:
        """Run the root graph; `reads` holds what each input read, by call path."""
        self._graph(graph, (), [])
        # Results and variables are looked at when everything has run.
        return self

    def _graph(
        self, graph: Graph, call: tuple[str, ...], given: list[Cell | None]
    ) -> dict[int, Cell]:
        cells: dict[OutputAnchor, Cell] = {}
        results: dict[int, Cell] = {}
        late: list[Node] = []
        for node in self.order(graph):
            if node.op == "NetOutput":
                late.append(node)
                continue
            inputs = [None if a.source is None else cells[a.source] for a in node.inputs]
            if not self._is_view(node):
                self._log(call, node, inputs)
            for output, cell in zip(
                node.outputs, self._node(node, inputs, call, given), strict=True
            ):
                cells[output] = cell
        for node in late:
            inputs = [None if a.source is None else cells[a.source] for a in node.inputs]
            self._log(call, node, inputs)
            for at, cell in enumerate(inputs):
                index = at if graph.is_root else output_parent_index(node, at)
                if cell is not None and index is not None:
                    results.setdefault(index, cell)
        return results

    def _is_view(self, node: Node) -> bool:
        """Whether the node only gives memory another name, so that it reads nothing itself."""
        return (
            bool(node.outputs)
            and all(ref_of(output, self.ops) is not None for output in node.outputs)
            and not written_inputs(node, self.ops)
            and not node.subgraphs
        )

    def _log(self, call: tuple[str, ...], node: Node, inputs: Iterable[Cell | None]) -> None:
        for at, cell in enumerate(inputs):
            if cell is not None:
                self.reads[(call, node.name, at)] = cell.content

    def _node(
        self, node: Node, inputs: list[Cell | None], call: tuple[str, ...], given: list[Cell | None]
    ) -> list[Cell]:
        kind = self.ops.kind(node)
        if kind == "data":
            if node.graph is not None and node.graph.is_root:
                return [Cell(("input", node.name))]
            outer = given[parent_index(node) or 0]
            assert outer is not None
            return [outer]
        if kind == "constant":
            return [Cell(("constant", node.name), constant=True)]
        if kind == "variable":
            return [self.variables.setdefault(node.name, Cell(("variable", node.name)))]
        if kind == "move":
            assert inputs[0] is not None
            return [Cell(inputs[0].content)]
        if node.subgraphs:
            return self._wrapper(node, inputs, call, kind)
        return self._plain(node, inputs)

    def _plain(self, node: Node, inputs: list[Cell | None]) -> list[Cell]:
        contents = tuple(None if cell is None else cell.content for cell in inputs)
        made = [
            Cell((node.op, node.attrs.get("concat_dim"), at, contents))
            for at in range(len(node.outputs))
        ]
        for at in written_inputs(node, self.ops):
            target = inputs[at]
            if target is None:
                continue
            if target.constant and not self.compiled:
                inputs[at] = target = Cell(target.content)
            target.content = (node.op, "stored", at, contents)
        if self.compiled:
            for at in scribbled_inputs(node, self.ops):
                self._destroy(inputs[at])
        for output in node.outputs:
            at = ref_of(output, self.ops)
            if at is not None:
                cell = inputs[at]
                assert cell is not None
                made[output.index] = cell
        return made

    def _destroy(self, cell: Cell | None) -> None:
        if cell is not None:
            self.junk += 1
            cell.content = ("junk", self.junk)

    def _wrapper(
        self, node: Node, inputs: list[Cell | None], call: tuple[str, ...], kind: str
    ) -> list[Cell]:
        graphs = list(node.subgraphs.values())
        choice = Random(f"{self.seed}/{node.name}").randrange(1000)
        count = len(node.outputs)
        if kind in ("if", "case"):
            arm = choice % len(graphs)
            results = self._graph(graphs[arm], (*call, node.name), inputs)
            return [Cell(results[at].content) for at in range(count)]
        if kind == "while":
            return self._loop(node, inputs, (*call, node.name), choice % 3)
        results = self._graph(graphs[0], (*call, node.name), inputs)
        return [results[at] for at in range(count)]

    def _loop(
        self, node: Node, inputs: list[Cell | None], call: tuple[str, ...], turns: int
    ) -> list[Cell]:
        slots = [
            None if cell is None else (cell if self.compiled else Cell(cell.content))
            for cell in inputs
        ]
        for turn in range(turns + 1):
            self._graph(node.subgraphs["cond"], (*call, f"cond{turn}"), slots)
            if turn == turns:
                break
            results = self._graph(node.subgraphs["body"], (*call, f"body{turn}"), slots)
            for at, content in {k: cell.content for k, cell in results.items()}.items():
                slot = slots[at]
                assert slot is not None
                slot.content = content
        return [slot for slot in slots if slot is not None][: len(node.outputs)]


def disagreement(reference: Simulation, compiled: Simulation) -> str | None:
    """What a node of a compiled run reads other than in the reference run; None where all agree."""
    for key, content in compiled.reads.items():
        if key in reference.reads and reference.reads[key] != content:
            return f"{key}: {content} instead of {reference.reads[key]}"
    for name, cell in reference.variables.items():
        if name in compiled.variables and compiled.variables[name].content != cell.content:
            return f"variable {name}: {compiled.variables[name].content} not {cell.content}"
    return None


def knobs_of(random: Random, streams: int) -> GraphKnobs:
    """Shapes of graphs, small to middling."""
    return GraphKnobs(
        nodes=random.choice([6, 10, 16, 30]),
        streams=streams,
        moves=random.choice([25, 40, 60]),
        control_flow=random.random() < 0.6,
        joins=random.random() < 0.5,
    )


def check(seed: int, streams: int, delete: Any, ops: OpRegistry) -> None:
    """Remove copies from a random graph and run it in several ways."""
    random = Random(seed)
    graph = random_graph(seed, knobs_of(random, streams))
    original = clone(graph)
    inputs = [str(at) for at in range(len(graph.nodes_of("Data"))) if random.random() < 0.4]
    delete(graph, {"ge.exec.inputReuseMemIndexes": ",".join(inputs)})
    for turn in range(3):
        reference = Simulation(ops, seed=turn).run(original)
        order = listed_order if streams == 1 else any_order(Random(seed + turn))
        compiled = Simulation(ops, order, seed=turn, compiled=True).run(graph)
        assert disagreement(reference, compiled) is None, graph


@given(seed=st.integers(0, 100_000))
def test_in_the_listed_order(seed: int, delete: Any, ops: OpRegistry) -> None:
    """On one stream, where much is ordered by the listing alone."""
    check(seed, 1, delete, ops)


@given(seed=st.integers(0, 100_000))
def test_in_any_order_that_edges_allow(seed: int, delete: Any, ops: OpRegistry) -> None:
    """On several streams, where edges order everything that matters."""
    check(seed, 2, delete, ops)
