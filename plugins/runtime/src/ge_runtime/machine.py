"""The machine: prepares the frames of a graph, once each, and runs them.

One class for both runs. In a planned run tensors lie where tasks and plan say, and what has no
place there gets a buffer of its own. In the reference run everything has a buffer of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from ge_core.api import (
    Call,
    Graph,
    Kernels,
    LimitExceeded,
    Node,
    OpRegistry,
    OutputAnchor,
    Region,
    Task,
    TensorDesc,
)
from ge_runtime.cells import Cells
from ge_runtime.control import drive
from ge_runtime.counts import CopyCounter
from ge_runtime.dtypes import Bytes
from ge_runtime.layout import Layout
from ge_runtime.operate import execute
from ge_runtime.ports import ArenaPort, CellPort, Port
from ge_runtime.prepare import prepare_frame
from ge_runtime.sources import check_names, fed, stored
from ge_runtime.steps import Frame, Step
from ge_runtime.values import copied, digest

LOOP_LIMIT: Final = 10_000_000
"""Turns after which a loop is taken to be endless."""
WHILE_TURNS: Final = 16
"""Turns that a While of a graph from GE runs at most: its condition is a stand-in's."""

Reads = dict[tuple[Call, str, int], list[bytes]]


class Machine:
    """Runs one graph, as often as asked.

    Attributes:
        layout: where things lie; None for the reference run.
        copies: copies made by the current run.
        reads: digests of what nodes read, by call path, origin and input, in running order; None
            where nobody asked for them.
        order: place of each task in the order that was asked for; None for the listed one.
        while_turns: turns after which a While of GE ends, whatever its condition says.
        made_up: constants without a value of their own that the current run asked for.
    """

    def __init__(
        self,
        graph: Graph,
        ops: OpRegistry,
        kernels: Kernels,
        layout: Layout | None = None,
        *,
        record_reads: bool = False,
        loop_limit: int = LOOP_LIMIT,
    ) -> None:
        self.graph = graph.root
        self.ops = ops
        self.kernels = kernels
        self.layout = layout
        self.copies = CopyCounter()
        self.reads: Reads | None = {} if record_reads else None
        self.order: Mapping[int, int] | None = None
        self.while_turns = WHILE_TURNS if graph.source == "ge" else loop_limit
        self.cells = Cells(self.graph, ops, self.region_of, self.initial)
        self.made_up: dict[Node, None] = {}
        self._loop_limit = loop_limit
        self._feeds: Mapping[str, Any] = {}
        self._frames: dict[tuple[Call, str], Frame] = {}
        self._ports: dict[tuple[Region, int], ArenaPort] = {}

    @property
    def is_reference(self) -> bool:
        """Whether every tensor has memory of its own, and what destroys an input gets a copy."""
        return self.layout is None

    # ---- running -------------------------------------------------------------------------------

    def start(self, feeds: Mapping[str, Any]) -> Frame:
        """Bring all memory into the state before a run; answers the root frame.

        Raises:
            ExecutionError: an input is missing or is another tensor than declared, or the graph has
                no input or variable of a name.
        """
        check_names(feeds, self.graph, self.ops)
        self._feeds = feeds
        self.copies = CopyCounter()
        self.made_up = {}
        if self.reads is not None:
            self.reads = {}
        for frame in self._frames.values():
            for step in frame.steps:
                step.context.turn = 0
                step.context.stood_in = False
        self.cells.reset()
        if self.layout is not None:
            self.layout.pools.reset()
            self._fill_sources(self.layout)
        return self._frame(self.graph, ())

    def _fill_sources(self, layout: Layout) -> None:
        """Graph inputs, constants and variables to their places."""
        for tensor in layout.plan.tensors:
            node = self.graph.find(tensor.node)
            if node is None:
                continue
            kind = self.ops.kind(node)
            if kind in ("constant", "variable") or (kind == "data" and not tensor.call):
                self.port(tensor.call, node.outputs[tensor.output]).write(self.initial(node))

    def run(self, feeds: Mapping[str, Any]) -> Frame:
        """Run once, in listed order; the results of the root frame are the outputs."""
        with np.errstate(all="ignore"):
            root = self.start(feeds)
            self.run_frame(root)
        return root

    def run_frame(self, frame: Frame) -> None:
        """Run a frame to its end. A stack of our own, as calls may nest deeply."""
        stack = [self._walk(frame)]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                stack.append(self._walk(inner))

    def _walk(self, frame: Frame) -> Iterator[Frame]:
        for step in self.ordered(frame):
            if step.is_call:
                yield from drive(step, self)
            else:
                execute(step, self)

    def ordered(self, frame: Frame) -> list[Step]:
        """The steps of a frame, in the order that was asked for."""
        order = self.order
        if order is None:
            return frame.steps
        return sorted(frame.steps, key=lambda step: order.get(step.task, -1))

    def turns(self, step: Step) -> Iterator[int]:
        """0, 1, ...; raises `LimitExceeded` where a loop does not come to an end."""
        yield from range(self._loop_limit)
        raise LimitExceeded(
            f"loop {step.node.name!r} has not ended after {self._loop_limit} turns",
            hint="raise loop_limit, if it is meant to run that long",
        )

    def stand_ins(self) -> dict[str, int]:
        """Op types whose outputs the last run made up, and how many nodes of each."""
        nodes = dict(self.made_up)
        for frame in self._frames.values():
            nodes.update((step.node, None) for step in frame.steps if step.context.stood_in)
        return dict(sorted(Counter(node.op for node in nodes).items()))

    # ---- memory --------------------------------------------------------------------------------

    def frame(self, graph: Graph, step: Step) -> Frame:
        """A graph that a step calls, prepared."""
        return self._frame(graph, (*step.context.call, step.node.name))

    def _frame(self, graph: Graph, call: Call) -> Frame:
        found = self._frames.get((call, graph.name))
        if found is None:
            found = self._frames[call, graph.name] = prepare_frame(self, graph, call)
        return found

    def region_of(self, call: Call, output: OutputAnchor) -> Region | None:
        """The place of an output in a pool."""
        return None if self.layout is None else self.layout.region_of(call, output)

    def port(
        self,
        call: Call,
        output: OutputAnchor,
        desc: TensorDesc | None = None,
        region: Region | None = None,
        task: Task | None = None,
    ) -> Port:
        """How an output is reached. A task's own regions count before the plan's."""
        if task is None:
            region = self.region_of(call, output)
        desc = output.desc if desc is None else desc
        if region is None or self.layout is None:
            return CellPort(self.cells.at(call, output), desc)
        key = (region, id(desc))
        port = self._ports.get(key)
        if port is None:
            port = self._ports[key] = ArenaPort(self.layout.pools, region, desc)
        return port

    def initial(self, node: Node) -> Any:
        """What a graph input, constant or variable holds at first, in memory of its own."""
        kind = self.ops.kind(node)
        if kind == "data":
            return copied(fed(node, self._feeds, self.kernels))
        if kind == "variable" and node.name in self._feeds:
            return copied(fed(node, self._feeds, self.kernels))
        if kind == "constant" and node.value is None:
            self.made_up[node] = None
        value = stored(node, self.kernels)
        if kind == "constant" and self.is_reference and isinstance(value, np.ndarray):
            # What writes a constant gets a copy, see `operate`.
            value.flags.writeable = False
        return value

    def poison(self, views: Iterable[Bytes]) -> None:
        """Fill bytes with what nobody may read."""
        if self.layout is not None:
            self.layout.pools.poison(views)

    def record(self, step: Step, at: int, value: Any) -> None:
        """Note what a step reads from an input."""
        if self.reads is not None and at not in step.unread:
            key = (step.context.call, step.label, at)
            self.reads.setdefault(key, []).append(digest(value))
