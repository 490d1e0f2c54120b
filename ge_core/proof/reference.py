"""The reference run: what every node reads when each output has memory of its own.

It runs a graph in its listed order. Aliases (RefOps, views, calls) share a cell; joins, splits and
copies make fresh ones, whatever layout marks say; only Writeable inputs change memory, and what a
node scribbles over is a private copy.
"""

from __future__ import annotations

from collections.abc import Hashable

from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, Node, OutputAnchor
from ge_core.ops import parent_index
from ge_core.proof.algebra import Algebra, Claims
from ge_core.proof.cells import Cell, Memory
from ge_core.proof.constants import Sources
from ge_core.proof.contents import Content
from ge_core.proof.facts import CALLS, SILENT, SOURCES, Facts
from ge_core.proof.frames import Frame, Frames, Instance, Steps, run_steps
from ge_core.proof.loops import LoopRecord
from ge_core.proof.phi import phi
from ge_core.proof.reference_loops import LoopRun
from ge_core.proof.sizes import extent

Reads = tuple[Content | None, ...]
Produced = dict[tuple[Instance, int], Content]
Env = dict[OutputAnchor, Cell]
Bound = dict[int, Cell | None]
Results = list[tuple[int, int, Cell | None]]
"""(parent output, position, cell) of what a graph delivers."""


class Reference:
    """Evaluates one graph under the reference meaning.

    Args:
        equal: contents that outputs are taken to have, whatever they are computed from.

    Attributes:
        reads: what each node instance reads, per input.
        produced: what the outputs in `wanted` hold when they are made.
        loops: what is known of each loop instance.
        variables: what each variable holds at the end; inputs likewise the graph's inputs.
        touched: names of graph inputs that some node writes or scribbles over.
        shared: per instance that writes memory, a number per input; equal numbers, one memory.
        effects: instances with effects, in order.
    """

    def __init__(
        self,
        graph: Graph,
        algebra: Algebra,
        sources: Sources,
        frames: Frames,
        *,
        limit: int,
        wanted: frozenset[tuple[str, int]] = frozenset(),
        equal: dict[tuple[str, int], tuple[str, int]] | None = None,
        base: Reference | None = None,
    ) -> None:
        self.graph = graph.root
        self.algebra = algebra
        self.frames = frames
        self.memory = Memory()
        self.reads: dict[Instance, Reads] = {}
        self.produced: Produced = {}
        self.loops: dict[Instance, LoopRecord] = {}
        self.representative: dict[tuple[object, ...], tuple[object, ...]] = {}
        self.touched: dict[str, None] = {}
        self.shared: dict[Instance, tuple[int | None, ...]] = {}
        self.effects: list[tuple[Frame, Node]] = []
        self.outputs: list[tuple[str, Cell | None]] = []
        self._wanted = wanted
        self._equal = equal or {}
        self.base = base
        self._sources = sources
        self._store = algebra.store
        self._facts = algebra.facts
        self._claims: Claims = {}
        self._persistent: dict[str, Cell] = {}
        self._limit = limit
        self._left = limit

    def run(self) -> Reference:
        """Evaluate the graph.

        Raises:
            LimitExceeded: calls expand to too much work.
            GraphError: the graph has a cycle.
        """
        self._make_persistent()
        results = run_steps(self.run_frame(self.frames.root, {}))
        out = self.graph.net_output
        names = () if out is None else out.input_names
        self.outputs = [
            (names[at] if at < len(names) else "", cell)
            for _, at, cell in sorted(results, key=lambda result: result[1])
        ]
        return self

    @property
    def persistent(self) -> dict[str, Content]:
        """What variables and graph inputs hold at the end, by name."""
        return {name: cell.content for name, cell in self._persistent.items()}

    # ---- graphs --------------------------------------------------------------------------------

    def run_frame(self, frame: Frame, bound: Bound) -> Steps[Results]:
        """Evaluate a graph on a call path; answers what its NetOutput reads."""
        self._left -= len(frame.order) + 1
        if self._left < 0:
            raise LimitExceeded(
                f"the proof takes more than {self._limit} node evaluations",
                hint="raise its limit, or nest fewer loops that write memory from outside",
            )
        env: Env = {}
        for node in frame.order:
            facts = self._facts.of(node)
            if facts.kind in SOURCES:
                env[node.outputs[0]] = self._source(frame, node, facts, bound)
            elif facts.kind in SILENT:
                continue
            elif facts.kind in CALLS:
                yield from self._call(frame, node, facts, env)
            else:
                self._plain(frame, node, facts, env)
        out = frame.graph.net_output
        if out is None:
            return []
        self.reads[frame.call, out.name] = self._read(out, env)
        return [(at, position, env.get(source)) for at, position, source in frame.results()]

    def _source(self, frame: Frame, node: Node, facts: Facts, bound: Bound) -> Cell:
        at = parent_index(node) if frame.parent is not None and facts.kind == "data" else None
        if at is not None:
            cell = bound.get(at)
            if cell is not None:
                return cell
            label = f"nothing, given to {frame.path(node)}"
            return self.fresh(frame, node.outputs[0], self._store.unknown(label, None))
        if facts.kind == "constant":
            cell = self.fresh(frame, node.outputs[0], self._sources.initial(node))
            cell.constant = True
            return cell
        found = self._persistent[node.name]
        if found.home is None:
            found.home = (frame, node.outputs[0])
        return found

    def _make_persistent(self) -> None:
        """Variables and inputs exist before anything runs, also those that a loop names first."""
        for node in self.graph.all_nodes():
            kind = self._facts.of(node).kind
            is_input = kind == "data" and (node.graph is self.graph or parent_index(node) is None)
            if kind == "variable" or is_input:
                cell = self.memory.cell(self._sources.initial(node))
                cell.data = node.name if kind == "data" else None
                cell.lasting = node.name
                self._persistent[node.name] = cell

    def fresh(self, frame: Frame, output: OutputAnchor, content: Content) -> Cell:
        """A new memory for an output."""
        cell = self.memory.cell(content)
        cell.home = (frame, output)
        return cell

    def _read(self, node: Node, env: Env, ignored: tuple[int, ...] = ()) -> Reads:
        found: list[Content | None] = []
        part = self._store.part
        for anchor in node.inputs:
            source = anchor.source
            if source is None or anchor.index in ignored:
                found.append(None)
                continue
            cell = env.get(source)
            found.append(None if cell is None else part(cell.content, 0, extent(source.desc)))
        return tuple(found)

    # ---- ordinary nodes ------------------------------------------------------------------------

    def _plain(self, frame: Frame, node: Node, facts: Facts, env: Env) -> None:
        instance = frame.call, node.name
        inputs = self._read(node, env, facts.ignored)
        self.reads[instance] = inputs
        cells = [None if a.source is None else env.get(a.source) for a in node.inputs]
        self._note(frame, node, facts, cells)
        outcome = self.algebra.run(node, frame, inputs, self._claims)
        for at, content in outcome.updates:
            cell = cells[at]
            if cell is not None and not cell.constant:
                self._write(cell, content, frame, node, at)
        for output, made in zip(node.outputs, outcome.outputs, strict=True):
            source = facts.aliases.get(output.index)
            cell = None if source is None else cells[source]
            if cell is not None and (made is None or self._stays(facts, source, cell)):
                env[output] = cell
                continue
            if made is None:
                made = self._store.unknown(f"nothing, seen as {output!r}", extent(output.desc))
            env[output] = self.fresh(frame, output, self.taken(frame, output, made))
        for output in node.outputs:
            self._produce(frame, output, env[output])

    def _stays(self, facts: Facts, source: int | None, cell: Cell) -> bool:
        """Whether an aliasing output is its input's memory, not a private copy of it."""
        return source not in facts.scribbles and not cell.constant

    def taken(self, frame: Frame, output: OutputAnchor, made: Content) -> Content:
        """The content that an equivalence gives an output, else what was made."""
        twin = self._equal.get((output.node.name, output.index))
        call = self.algebra.names.call(frame)
        if twin is None or call is None or self.base is None:
            return made
        return self.base.produced.get(((call, twin[0]), twin[1]), made)

    def _produce(self, frame: Frame, output: OutputAnchor, cell: Cell) -> None:
        if (output.node.name, output.index) in self._wanted:
            key = (frame.call, output.node.name), output.index
            self.produced[key] = self._store.part(cell.content, 0, extent(output.desc))

    def _write(self, cell: Cell, content: Content, frame: Frame, node: Node, at: int) -> None:
        call = self.algebra.names.call(frame)
        names = self.algebra.names.alike(node) or (node.name,)
        writer = (frame.call if call is None else call, names[0], at)
        self.memory.set(cell, self._store.overlay(cell.content, 0, content), writer)

    def _note(self, frame: Frame, node: Node, facts: Facts, cells: list[Cell | None]) -> None:
        """Write down what later checks ask about a node that changes memory or has effects."""
        if facts.has_effect:
            self.effects.append((frame, node))
        if not facts.writes and not facts.scribbles:
            return
        self.shared[frame.call, node.name] = tuple(
            [None if cell is None else cell.number for cell in cells]
        )
        for at in (*facts.writes, *facts.scribbles):
            cell = cells[at]
            if cell is not None and cell.data is not None:
                self.touched[cell.data] = None

    # ---- calls ---------------------------------------------------------------------------------

    def _call(self, frame: Frame, node: Node, facts: Facts, env: Env) -> Steps[None]:
        inputs = self._read(node, env)
        self.reads[frame.call, node.name] = inputs
        cells = [None if a.source is None else env.get(a.source) for a in node.inputs]
        self._note(frame, node, facts, cells)
        if facts.kind == "call":
            yield from self._plain_call(frame, node, env, cells)
        elif facts.kind in ("if", "case"):
            yield from self._branch(frame, node, facts, env, inputs, cells)
        else:
            yield from LoopRun(self, frame, node, facts, inputs, cells).run(env)
        for output in node.outputs:
            if output not in env:
                label = f"nothing, delivered as {frame.path(node)}:{output.index}"
                content = self._store.unknown(label, extent(output.desc))
                env[output] = self.fresh(frame, output, content)
            self._produce(frame, output, env[output])

    def _plain_call(
        self, frame: Frame, node: Node, env: Env, cells: list[Cell | None]
    ) -> Steps[None]:
        for graph in node.subgraphs.values():
            inner = self.frames.child(frame, node, graph)
            results: Results = yield self.run_frame(inner, dict(enumerate(cells)))
            for at, _, cell in results:
                if cell is not None and at < len(node.outputs):
                    env[node.outputs[at]] = cell

    def _branch(
        self,
        frame: Frame,
        node: Node,
        facts: Facts,
        env: Env,
        inputs: Reads,
        cells: list[Cell | None],
    ) -> Steps[None]:
        arms: dict[Graph, tuple[dict[int, Content], dict[Cell, Content]]] = {}
        bound: Bound = dict(enumerate(cells))
        for graph in node.subgraphs.values():
            if graph in arms:
                continue
            self.memory.fork()
            results: Results = yield self.run_frame(self.frames.child(frame, node, graph), bound)
            made: dict[int, Content] = {}
            for at, _, cell in results:
                if cell is not None and at < len(node.outputs):
                    size = extent(node.outputs[at].desc)
                    made[at] = self._store.part(cell.content, 0, size)
            arms[graph] = made, self.memory.rollback()
        key = branch_key(node, facts, inputs[0])
        graphs = branch_arms(node, facts)
        label = f"either arm of {frame.path(node)}"
        changed: dict[Cell, None] = {}
        for graph in graphs:
            changed.update(dict.fromkeys(arms[graph][1]))
        for cell in changed:
            after = [arms[graph][1].get(cell, cell.content) for graph in graphs]
            self.memory.set(cell, phi(self._store, key, label, after))
        for output in node.outputs:
            each = [arms[graph][0].get(output.index) for graph in graphs]
            known = [content for content in each if content is not None]
            if len(known) == len(graphs):
                content = phi(self._store, key, label, known)
                env[output] = self.fresh(frame, output, self.taken(frame, output, content))


def branch_arms(node: Node, facts: Facts) -> list[Graph]:
    """The arms in the order that gives them their meaning: by label for If, as listed for Case."""
    if facts.kind == "if":
        return [node.subgraphs[label] for label in sorted(node.subgraphs)]
    return list(node.subgraphs.values())


def branch_key(node: Node, facts: Facts, predicate: Content | None) -> Hashable:
    """What decides between the arms."""
    labels = tuple(sorted(node.subgraphs)) if facts.kind == "if" else ()
    return "branch", facts.kind, labels, None if predicate is None else predicate.id
