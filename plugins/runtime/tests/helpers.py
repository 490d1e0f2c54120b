"""Plans for tests: every memory a place of its own, by code that shares nothing with planners."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from ge_core.api import (
    ARENA,
    CONSTANTS,
    VARIABLES,
    Call,
    Graph,
    Node,
    OpRegistry,
    OutputAnchor,
    Plan,
    PlanTensor,
    PlanWorkspace,
    TaskList,
    generate_tasks,
    listed_order,
    output_parent_index,
)
from ge_core.memory import PoolTotals
from ge_runtime.effects import aliases
from ge_runtime.executor import NumpyExecutor, default_ops
from ge_runtime.result import RunResult

Tensor = tuple[Call, str, int]


@dataclass
class Planner:
    """Gives every memory of a graph a place of its own.

    Attributes:
        align: offsets are multiples of it, plus one for each odd tensor if `skew`.
        unplanned: names of nodes whose outputs get no place.
        slots_in_place: a While works where its input lies; else it has slots of its own.
    """

    graph: Graph
    ops: OpRegistry = field(default_factory=default_ops)
    align: int = 8
    skew: bool = False
    unplanned: tuple[str, ...] = ()
    slots_in_place: bool = False
    tensors: dict[Tensor, OutputAnchor] = field(default_factory=dict)
    same: dict[Tensor, Tensor] = field(default_factory=dict)
    position: dict[tuple[Call, str], int] = field(default_factory=dict)

    def plan(self) -> Plan:
        """The plan; all bytes live from the start of the run to its end."""
        for call, node in self._instances(self.graph, ()):
            self.position[call, node.name] = len(self.position) + 1
            for output in node.outputs:
                self.tensors[call, node.name, output.index] = output
        for key, output in self.tensors.items():
            other = self._shared(key, output)
            if other is not None:
                self.same[key] = other
        plan = Plan(target="test")
        ends = {ARENA: 0, CONSTANTS: 0, VARIABLES: 0}
        offsets: dict[Tensor, tuple[str, int]] = {}
        for key, output in self.tensors.items():
            root = self._root(key)
            size = output.desc.nbytes
            if size is None or output.desc.dtype == "string" or root[1] in self.unplanned:
                plan.unplanned.append(f"{'/'.join((*key[0], key[1]))}:{key[2]}")
                continue
            if root not in offsets:
                pool = self._pool(self.tensors[root].node)
                at = -(-ends[pool] // self.align) * self.align + (self.skew and len(offsets) % 2)
                offsets[root] = pool, at
                ends[pool] = at + (self.tensors[root].desc.nbytes or 0)
            pool, at = offsets[root]
            life = (0, len(self.position) + 1)
            plan.tensors.append(PlanTensor(*key, pool, at, output.desc.data_bytes or size, life=life))
        for call, node in self._instances(self.graph, ()):
            for index, size in enumerate(node.attrs.get("workspace_bytes", ())):
                plan.workspace.append(
                    PlanWorkspace(call, node.name, index, ARENA, ends[ARENA], size)
                )
                ends[ARENA] += size
        plan.pools = {name: PoolTotals(end, 0, end, False) for name, end in ends.items()}
        return plan

    def _instances(self, graph: Graph, call: Call) -> Iterator[tuple[Call, Node]]:
        for node in listed_order(graph):
            yield call, node
            for inner in node.subgraphs.values():
                yield from self._instances(inner, (*call, node.name))

    def _root(self, key: Tensor) -> Tensor:
        while key in self.same:
            key = self.same[key]
        return key

    def _pool(self, node: Node) -> str:
        kind = self.ops.kind(node)
        return {"constant": CONSTANTS, "variable": VARIABLES}.get(kind, ARENA)

    def _shared(self, key: Tensor, output: OutputAnchor) -> Tensor | None:
        call, _, at = key
        node = output.node
        kind = self.ops.kind(node)
        if kind == "data":
            return self._outer(call, node) if call else None
        if kind == "call":
            (inner,) = node.subgraphs.values()
            out = inner.net_output
            assert out is not None
            for anchor in out.inputs:
                if output_parent_index(out, anchor.index) == at and anchor.source is not None:
                    source = anchor.source
                    return (*call, node.name), source.node.name, source.index
        if kind == "while" and not self.slots_in_place:
            return None
        source_at = at if kind == "while" else aliases(node, self.ops).get(at)
        if source_at is None:
            return None
        feed = node.inputs[source_at].source
        return None if feed is None else (call, feed.node.name, feed.index)

    def _outer(self, call: Call, data: Node) -> Tensor | None:
        index = int(data.attrs["_parent_node_index"])
        caller = self.graph.node(call[-1])
        kind = self.ops.kind(caller)
        taken = len(caller.inputs) - int(caller.attrs.get("captured", 0))
        if kind == "while" or (kind == "loop" and 2 <= index < taken):
            return call[:-1], caller.name, index - (2 if kind == "loop" else 0)
        if kind == "loop" and index < 2:
            return None
        if kind == "scan" and index < taken:
            states = taken - int(caller.attrs["onnx.num_scan_inputs"])
            return (call[:-1], caller.name, index) if index < states else None
        feed = caller.inputs[index].source
        return None if feed is None else (call[:-1], feed.node.name, feed.index)


def run_planned(
    graph: Graph,
    feeds: dict[str, object],
    *,
    executor: NumpyExecutor | None = None,
    planner: Planner | None = None,
) -> tuple[RunResult, Plan, TaskList]:
    """Run a graph where every memory has a place of its own."""
    planner = planner or Planner(graph)
    plan = planner.plan()
    tasks = generate_tasks(graph, planner.ops, plan)
    executor = executor or NumpyExecutor(planner.ops)
    return executor.run(graph, plan, tasks, feeds), plan, tasks


def rng(seed: int = 0) -> random.Random:
    """A seeded generator."""
    return random.Random(seed)
