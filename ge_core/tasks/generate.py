"""From the final graph and its plan to the task list.

Every call path is expanded: a subgraph that two nodes call yields its tasks twice. What runs on
one stream runs in list order; every edge that joins two streams gets an event of its own, recorded
behind its producer and awaited before its reader. Edges that pass through nodes without a task are
lifted to the tasks on both sides; a Data carries no order. A node that has lost its task, such as a
join, or a NoOp in a copy's place, keeps its place on its stream and its events: others rely on it.

A call is ordered like a node that lasts until its subgraphs are done: each subgraph's other streams
wait for the caller's stream at the start, and it waits for them at the end.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Final

from ge_core.analysis import listed_order
from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, Node, collector_paused
from ge_core.memory.plan import Plan
from ge_core.ops import (
    OpRegistry,
    is_no_task,
    keeps_place,
    ref_of,
    scribbled_inputs,
    written_inputs,
)
from ge_core.tasks.marks import kernel_library, mark_first_and_last
from ge_core.tasks.model import Call, DumpDescriptor, Region, Task, TaskKind, TaskList

EXPANSION_LIMIT: Final = 5_000_000
"""Node instances that call paths may expand to."""

TASKLESS_KINDS: Final = frozenset({"data", "constant", "variable", "net_output", "noop"})

_Steps = Generator[tuple[Graph, Call], list[Task], list[Task]]


def generate_tasks(
    graph: Graph, ops: OpRegistry, plan: Plan, *, limit: int = EXPANSION_LIMIT
) -> TaskList:
    """The tasks of a compiled graph, in launch order.

    Args:
        graph: the root graph, final.
        ops: traits of its ops.
        plan: where its tensors lie; tensors without a place get no region.
        limit: how many node instances the call paths may expand to.

    Raises:
        LimitExceeded: nested calls expand to more than `limit` node instances.
        GraphError: the graph has a cycle.
    """
    # Hundreds of thousands of objects that all stay: looking through them again and again is waste.
    with collector_paused():
        work = _Expansion(ops, plan, limit)
        tasks = work.expand(graph.root)
        for at, task in enumerate(tasks):
            task.id = at
        mark_first_and_last(tasks, graph.root)
    return TaskList(tasks, work.dump_only)


class _Expansion:
    """The state of one run: what has been expanded so far, and the numbers given to events."""

    def __init__(self, ops: OpRegistry, plan: Plan, limit: int) -> None:
        self.ops = ops
        self.plan = plan
        self.limit = limit
        self.dump_only: list[DumpDescriptor] = []
        self._left = limit
        self._events = 0
        self._streams: set[int] = set()
        self._orders: dict[Graph, list[Node]] = {}
        self._regions: dict[int, Region] = {}
        self._scratch: dict[tuple[Call, str], list[Region]] = {}
        for area in sorted(plan.workspace, key=lambda w: w.index):
            region = Region(area.pool, area.offset, area.bytes)
            self._scratch.setdefault((area.call, area.node), []).append(region)

    def expand(self, root: Graph) -> list[Task]:
        """Run the instances one inside the other; a stack of our own, as calls may nest deeply."""
        self._streams = {
            node.stream_id
            for node in root.all_nodes()
            if self.ops.kind(node) not in TASKLESS_KINDS and not is_no_task(node)
        }
        stack: list[_Steps] = [self._instance(root, ())]
        answer: list[Task] | None = None
        while True:
            try:
                inner = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as done:
                stack.pop()
                tasks: list[Task] = done.value
                answer = tasks
                if not stack:
                    return tasks
                continue
            stack.append(self._instance(*inner))
            answer = None

    def _instance(self, graph: Graph, call: Call) -> _Steps:
        """The tasks of one graph on one call path; asks for those of the graphs it calls."""
        order = self._order(graph)
        kinds = {node: self._kind(node, call) for node in order}
        edges = _StreamEdges(order, kinds, self.ops, self._streams, inside=bool(call))
        tasks: list[Task] = []
        for node in order:
            kind = kinds[node]
            if kind is None and is_no_task(node):
                self.dump_only.append(self._descriptor(node, call))
            stream = node.stream_id
            for event in edges.waits.get(node, ()):
                tasks.append(_event("event_wait", stream, call, node, event))
            if kind is not None:
                tasks.append(self._task(node, kind, call))
            if kind == "call":
                for inner in node.subgraphs.values():
                    body = yield inner, (*call, node.name)
                    tasks.extend(self._enclosed(node, call, body))
            for reader in edges.readers.get(node, ()):
                event = self._next_event()
                tasks.append(_event("event_record", stream, call, node, event))
                edges.waits.setdefault(reader, []).append(event)
        return tasks

    def _order(self, graph: Graph) -> list[Node]:
        order = self._orders.get(graph)
        if order is None:
            order = self._orders[graph] = listed_order(graph)
        self._left -= len(order)
        if self._left < 0:
            raise LimitExceeded(
                f"calls expand to more than {self.limit} node instances",
                hint="raise the limit of generate_tasks, or inline fewer nested calls",
            )
        return order

    def _kind(self, node: Node, call: Call) -> TaskKind | None:
        """What the node launches; None for nothing."""
        kind = self.ops.kind(node)
        if kind in TASKLESS_KINDS or is_no_task(node) or kernel_library(node) == "":
            return None
        if node.subgraphs:
            return "call"
        if self._is_free_view(node, call):
            return None
        return "copy" if kind == "move" else "kernel"

    def _is_free_view(self, node: Node, call: Call) -> bool:
        """Whether every output lies exactly where the input does that it shares memory with."""
        if not node.outputs:
            return False
        for output in node.outputs:
            at = ref_of(output, self.ops)
            source = None if at is None or at >= len(node.inputs) else node.inputs[at].source
            if source is None:
                return False
            mine = self.plan.at(call, node.name, output.index)
            other = self.plan.at(call, source.node.name, source.index)
            if mine is None or other is None:
                return False
            if (mine.pool, mine.offset, mine.strided) != (other.pool, other.offset, other.strided):
                return False
        return not written_inputs(node, self.ops) and not scribbled_inputs(node, self.ops)

    def _enclosed(self, node: Node, call: Call, body: list[Task]) -> Iterator[Task]:
        """A subgraph's tasks between events that tie its streams to the caller's."""
        own = node.stream_id
        others = list(dict.fromkeys(task.stream for task in body if task.stream != own))
        for stream in others:
            event = self._next_event()
            yield _event("event_record", own, call, node, event)
            yield _event("event_wait", stream, call, node, event)
        yield from body
        for stream in others:
            event = self._next_event()
            yield _event("event_record", stream, call, node, event)
            yield _event("event_wait", own, call, node, event)

    def _next_event(self) -> int:
        self._events += 1
        return self._events - 1

    def _task(self, node: Node, kind: TaskKind, call: Call) -> Task:
        return Task(
            -1,
            node.stream_id,
            kind,
            call,
            node.name,
            self._input_regions(node, call),
            self._output_regions(node, call),
            tuple(self._scratch.get((call, node.name), ())),
        )

    def _descriptor(self, node: Node, call: Call) -> DumpDescriptor:
        return DumpDescriptor(
            call,
            node.name,
            node.op,
            self._input_regions(node, call),
            self._output_regions(node, call),
            tuple(self._scratch.get((call, node.name), ())),
            bool(node.attrs.get("_no_task_and_dump_needed")),
        )

    def _input_regions(self, node: Node, call: Call) -> tuple[Region | None, ...]:
        sources = [anchor.source for anchor in node.inputs]
        return tuple(
            None if source is None else self._region(call, source.node.name, source.index)
            for source in sources
        )

    def _output_regions(self, node: Node, call: Call) -> tuple[Region | None, ...]:
        return tuple(self._region(call, node.name, output.index) for output in node.outputs)

    def _region(self, call: Call, node: str, output: int) -> Region | None:
        """One Region per plan entry: they are many, and most are asked for by several tasks."""
        place = self.plan.at(call, node, output)
        if place is None:
            return None
        region = self._regions.get(id(place))
        if region is None:
            region = Region(place.pool, place.offset, place.bytes, place.strided)
            self._regions[id(place)] = region
        return region


class _StreamEdges:
    """The edges of one graph instance that join two streams.

    Args:
        streams: those on which anything runs, in whatever graph.
        inside: whether the graph is called, so that streams have run something before it begins.

    Attributes:
        readers: per producer the readers on other streams, in running order.
        waits: per reader the events to wait for; filled while the producers are emitted.
    """

    def __init__(
        self,
        order: list[Node],
        kinds: dict[Node, TaskKind | None],
        ops: OpRegistry,
        streams: set[int],
        *,
        inside: bool,
    ) -> None:
        self.readers: dict[Node, list[Node]] = {}
        self.waits: dict[Node, list[int]] = {}
        if len(streams) < 2:
            return
        place = {node: at for at, node in enumerate(order)}
        lifted: dict[Node, list[Node]] = {}
        begun: set[int] = set()
        for node in order:
            before = _producers(node, lifted)
            foreign = [producer for producer in before if producer.stream_id != node.stream_id]
            if kinds[node] is None and not (
                keeps_place(node, ops)
                and node.stream_id in streams
                and (inside or foreign or node.stream_id in begun)
            ):
                is_data = ops.kind(node) == "data"
                lifted[node] = [] if is_data else _latest_per_stream(before, place)
                continue
            begun.add(node.stream_id)
            for producer in foreign:
                self.readers.setdefault(producer, []).append(node)


def _producers(node: Node, lifted: dict[Node, list[Node]]) -> list[Node]:
    """The nodes on streams whose result or end this node waits for, once each."""
    found: dict[Node, None] = {}
    for earlier in (*node.in_nodes, *node.control_inputs):
        if earlier in lifted:
            found.update(dict.fromkeys(lifted[earlier]))
        else:
            found[earlier] = None
    return list(found)


def _latest_per_stream(nodes: list[Node], place: dict[Node, int]) -> list[Node]:
    """Of each stream the node that runs last: whoever waits for it has waited for the others.

    Keeps a NoOp that joins a thousand nodes to a thousand others from becoming a million events.
    """
    latest: dict[int, Node] = {}
    for node in nodes:
        known = latest.get(node.stream_id)
        if known is None or place[known] < place[node]:
            latest[node.stream_id] = node
    return list(latest.values())


def _event(kind: TaskKind, stream: int, call: Call, node: Node, event: int) -> Task:
    return Task(-1, stream, kind, call, node.name, event=event)
