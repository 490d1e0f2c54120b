"""What may be removed of the copies of a graph, found by trying: no pass and no analysis is asked.

A candidate is the graph without some copies, planned, and decided by the proof and by rules about
whose memory it is that the proof leaves to passes:

* a source that is control flow, or that lies beyond it, keeps its copies;
* a constant, variable or reference input doesn't become a result;
* what the caller gave isn't scribbled over;
* who waits for a copy waits for its readers then, and must be able to;
* what goes must not come back as a copy that a loop makes of its values, or an arm of its results.

Of orders it is enough to look at one candidate, the one with every edge from a reader to a writer
of the same memory that goes the way of the listing: an edge more never makes a candidate wrong, and
edges that all go the way of the listing close no cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ge_core.errors import GeError
from ge_core.ir import Graph, Node, OutputAnchor, clone
from ge_core.memory import Plan, build_problem, plan_from
from ge_core.ops import (
    OpRegistry,
    OpTraits,
    output_parent_index,
    parent_index,
    ref_of,
    scribbled_inputs,
    written_inputs,
)
from ge_core.ops.builtin import MERGE_OPS, VAR_LIKE, WEIGHT_LIKE
from ge_core.proof import verify_compile
from ge_core.targets import Target
from ge_core.tasks import Call, generate_tasks

COPIES: Final = ("TensorMove", "Identity")
RESERVING: Final = ("_cannot_be_deleted", "no_need_constant_folding")
FIXED: Final = WEIGHT_LIKE | VAR_LIKE
BRANCHING: Final = frozenset({"if", "case", "while", "loop", "scan"})
STORE: Final = "AssignSomething"
"""An Assign of which only the memory matters."""
TARGET: Final = Target("oracle", align_bytes=64)


class _Opaque(OpRegistry):
    """Has stores whose values nobody knows: memory is looked at, not what happens to be equal."""

    def __init__(self, ops: OpRegistry) -> None:
        super().__init__()
        self._ops = ops

    def of(self, op: str, source: str) -> OpTraits:
        """The traits of an op type."""
        if op == STORE:
            return OpTraits(op, writes=(0,), shape_only=(0,), nondeterministic=True)
        return self._ops.of(op, source)


class Oracle:
    """Decides about the copies of one original.

    Args:
        base: the graph that copies are removed from; the original, or what a compile made of it.
        options: what the caller lends.

    Attributes:
        asked: how many candidates were decided.
    """

    def __init__(
        self, original: Graph, base: Graph, ops: OpRegistry, options: Mapping[str, str]
    ) -> None:
        self.original, self.base = clone(original), clone(base)
        self.ops = _Opaque(ops)
        self.options = options
        self.asked = 0
        self._borders: int | None = None
        for node in self.original.all_nodes():
            twin = self.base.find(node.name)
            if twin is not None and node.op == twin.op == "Assign" and node.outputs:
                for one in (node, twin):
                    assert one.graph is not None
                    one.graph.set_op(one, STORE)

    def copies(self) -> list[Node]:
        """The copies of the base that nobody reserved, the largest first."""
        found = [node for node in self.base.all_nodes() if self._is_free(node)]
        return sorted(found, key=lambda node: -size(node))

    def _is_free(self, node: Node) -> bool:
        if node.op not in COPIES or len(node.inputs) != 1 or node.inputs[0].source is None:
            return False
        # By presence, and for the first by value; marks that passes set are their own affair.
        reserved = RESERVING[1] in node.attrs or node.attrs.get(RESERVING[0])
        return not (reserved and self.original.find(node.name)) and not self._is_behind_branches(
            node.inputs[0].source
        )

    def most_bytes(self, copies: Sequence[Node]) -> int:
        """The bytes of the best set of copies that may go together.

        Copies that nobody reads go first: they only read. Of a set of others that may go, all
        subsets may, as fewer memories are joined; so a search adds one copy at a time, and leaves
        what can't go alone.
        """
        unread = _unread(copies)
        if not self.may_go(unread):
            unread = []
        able = [node for node in copies if node not in unread and self.may_go([*unread, node])]
        if self.may_go([*unread, *able]):
            return sum(map(size, [*unread, *able]))
        return self._search(able, unread, 0)

    def _search(self, rest: Sequence[Node], taken: list[Node], most: int) -> int:
        value = sum(map(size, taken))
        most = max(most, value)
        if not rest or value + sum(map(size, rest)) <= most:
            return most
        first, *others = rest
        if self.may_go([*taken, first]):
            most = self._search(others, [*taken, first], most)
        return self._search(others, taken, most)

    # ---- one candidate -------------------------------------------------------------------------

    def may_go(self, copies: Sequence[Node]) -> bool:
        """Whether these copies may go together, with the edges that it takes."""
        self.asked += 1
        graph = clone(self.base)
        if any(_is_awaited(graph.node(node.name)) for node in copies):
            return False
        for node in copies:
            twin = graph.node(node.name)
            assert twin.graph is not None
            twin.graph.bypass(twin)
        try:
            if not self._keeps_fixed(graph):
                return False
            plan = self._plan(graph)
            if self._order_readers(graph, plan):
                plan = self._plan(graph)
            if self._copied_at_borders(graph, plan) > self._copied_before():
                return False
            tasks = generate_tasks(graph, self.ops, plan)
        except GeError:
            # Demands on places that contradict each other.
            return False
        return verify_compile(
            self.original, graph, plan, tasks, ops=self.ops, options=self.options
        ).ok

    def _plan(self, graph: Graph) -> Plan:
        problem, facts = build_problem(graph, self.ops, TARGET, self.options)
        for cluster in sorted(problem.clusters, key=lambda c: (not c.owned, -c.size, c.index)):
            problem.place(cluster, problem.lowest_free(cluster))
        return plan_from(problem, problem.placement(), facts, level="O0")

    # ---- borders -------------------------------------------------------------------------------

    def _copied_before(self) -> int:
        if self._borders is None:
            self._borders = self._copied_at_borders(self.base, self._plan(self.base))
        return self._borders

    def _copied_at_borders(self, graph: Graph, plan: Plan) -> int:
        """Bytes that loops copy as they begin and at the end of a turn, and arms at their end."""
        total = 0
        waiting: list[tuple[Graph, Call]] = [(graph.root, ())]
        while waiting:
            part, call = waiting.pop()
            for node in part.nodes:
                for inner in node.subgraphs.values():
                    waiting.append((inner, (*call, node.name)))
                if self._branches(node):
                    total += sum(self._border(node, call, plan))
        return total

    def _border(self, node: Node, call: Call, plan: Plan) -> Iterator[int]:
        loop = self.ops.kind(node) not in ("if", "case")
        pairs: list[tuple[Call, OutputAnchor | None, int]] = []
        if loop:
            pairs += [(call, anchor.source, anchor.index) for anchor in node.inputs]
        for label, inner in node.subgraphs.items():
            end = inner.net_output
            for anchor in () if end is None or label == "cond" else end.inputs:
                assert end is not None
                at = output_parent_index(end, anchor.index)
                if at is not None:
                    pairs.append(((*call, node.name), anchor.source, at))
        for path, source, at in pairs:
            if source is None or at >= len(node.outputs):
                continue
            here = plan.at(path, source.node.name, source.index)
            there = plan.at(call, node.name, at)
            if (
                here is None
                or there is None
                or (here.pool, here.offset)
                != (
                    there.pool,
                    there.offset,
                )
            ):
                yield node.outputs[at].desc.nbytes or 0

    # ---- order ---------------------------------------------------------------------------------

    def _order_readers(self, graph: Graph, plan: Plan) -> bool:
        """Put every reader before the writers listed behind it, where streams don't."""
        if len({node.stream_id for node in graph.all_nodes()}) < 2:
            return False
        places = {
            (tensor.node, tensor.output): (tensor.pool, tensor.offset)
            for tensor in plan.tensors
            if tensor.bytes
        }
        added = False
        for part in graph.all_graphs():
            used = [(node, *self._uses(node, places)) for node in part.nodes]
            for at, (node, read, _) in enumerate(used):
                for later, _, written in used[at + 1 :]:
                    if read & written and node.op != "Data" and later.op != "NetOutput":
                        added |= part.add_control(node, later)
        return added

    def _uses(
        self, node: Node, places: Mapping[tuple[str, int], tuple[str, int]]
    ) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
        """The memories that a node reads and those that it writes, its subgraphs included."""
        read: set[tuple[str, int]] = set()
        written: set[tuple[str, int]] = set()
        for one in (node, *_inside(node)):
            changed = {*written_inputs(one, self.ops), *scribbled_inputs(one, self.ops)}
            for anchor in one.inputs:
                source = anchor.source
                if source is not None and (source.node.name, source.index) in places:
                    place = places[source.node.name, source.index]
                    read.add(place)
                    if anchor.index in changed:
                        written.add(place)
        return read, written

    # ---- whose memory it is --------------------------------------------------------------------

    def _keeps_fixed(self, graph: Graph) -> bool:
        """Whether no more results are fixed memory, and no more of it is scribbled over."""
        return not self._misuses(graph) - self._misuses(self.original)

    def _misuses(self, graph: Graph) -> set[tuple[str, str, int]]:
        found: set[tuple[str, str, int]] = set()
        out = graph.root.net_output
        for anchor in () if out is None else out.inputs:
            for owner in self._owners(anchor.source):
                if owner.op in FIXED:
                    found.add((owner.name, "NetOutput", anchor.index))
        for node in graph.all_nodes():
            for at in scribbled_inputs(node, self.ops):
                for owner in self._owners(node.inputs[at].source):
                    if owner.op in FIXED or owner.op == "Data":
                        found.add((owner.name, node.name, at))
        return found

    def _owners(self, output: OutputAnchor | None) -> set[Node]:
        """Who made the memory of an output, seen through views and calls."""
        found: set[Node] = set()
        for node, _ in self._back(output):
            if node.op != "Data" or (node.graph is not None and node.graph.is_root):
                found.add(node)
        return found

    def _is_behind_branches(self, output: OutputAnchor) -> bool:
        """Whether control flow makes a value, or lies between it and where it was made."""
        return any(
            crossed or node.op in MERGE_OPS or self._branches(node)
            for node, crossed in self._back(output)
        )

    def _branches(self, node: Node) -> bool:
        return bool(node.subgraphs) and self.ops.kind(node) in BRANCHING

    def _back(self, output: OutputAnchor | None) -> Iterator[tuple[Node, bool]]:
        """Ends of the ways back from an output, and whether a way left an arm or a turn."""
        waiting = [] if output is None else [(output, False)]
        seen: set[tuple[OutputAnchor, bool]] = set()
        while waiting:
            at, crossed = waiting.pop()
            if (at, crossed) in seen:
                continue
            seen.add((at, crossed))
            steps = list(self._steps(at))
            if not steps:
                yield at.node, crossed
            waiting += [(source, crossed or leaves) for source, leaves in steps]

    def _steps(self, output: OutputAnchor) -> Iterator[tuple[OutputAnchor, bool]]:
        """The outputs that are the same memory one step back, and whether that leaves an arm."""
        node = output.node
        graph = node.graph
        assert graph is not None
        if node.op == "Data" and not graph.is_root:
            for caller, _ in graph.callers:
                source = caller.inputs[parent_index(node) or 0].source
                if source is not None:
                    yield source, self._branches(caller)
        elif node.subgraphs and self.ops.kind(node) == "call":
            for inner in node.subgraphs.values():
                end = inner.net_output
                for anchor in () if end is None else end.inputs:
                    assert end is not None
                    at = output_parent_index(end, anchor.index)
                    if at == output.index and anchor.source is not None:
                        yield anchor.source, False
        elif not node.subgraphs and node.op not in MERGE_OPS:
            at = ref_of(output, self.ops)
            if at is not None and at < len(node.inputs) and node.inputs[at].source is not None:
                source = node.inputs[at].source
                assert source is not None
                yield source, False


def size(node: Node) -> int:
    """The bytes of a copy; 0 where they are not known."""
    return node.outputs[0].desc.nbytes or 0


def _unread(copies: Sequence[Node]) -> list[Node]:
    """Copies that nobody reads, or that only such copies read."""
    found: list[Node] = []
    before = -1
    while before != len(found):
        before = len(found)
        found = [
            node
            for node in copies
            if all(reader.node in found for reader in node.outputs[0].readers)
        ]
    return found


def _is_awaited(copy: Node) -> bool:
    """Whether somebody waits for a copy whom a reader of it waits for in turn."""
    readers = {reader.node for reader in copy.outputs[0].readers}
    for waiting in copy.control_outputs:
        behind = [waiting] if waiting not in readers else []
        seen: set[Node] = set()
        while behind:
            node = behind.pop()
            if node in seen:
                continue
            seen.add(node)
            behind += [*node.out_nodes, *node.control_outputs]
        if seen & readers or (seen and any(node.op == "NetOutput" for node in readers)):
            return True
    return False


def _inside(node: Node) -> Iterator[Node]:
    for graph in node.subgraphs.values():
        for inner in graph.nodes:
            yield inner
            yield from _inside(inner)
