"""What a run answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ge_core.api import Graph
from ge_runtime.counts import Tally
from ge_runtime.machine import Machine, Reads
from ge_runtime.steps import Frame
from ge_runtime.values import copied


@dataclass(slots=True)
class RunResult:
    """The outputs of a run and what it took.

    Attributes:
        outputs: by name, in order; arrays of their own.
        variables: what variables and reference inputs hold at the end, by node name.
        executed_copies, executed_copy_bytes: copies that were really made.
        copies_by_op: the same by op type of the source file.
        boundary_copies, boundary_copy_bytes: the part of them made at the boundary of a
            control-flow node.
        arena_bytes: size of the arena; 0 in the reference run.
        pool_bytes: size of every pool.
        unplanned: tensors that had run-time buffers of their own, and the most bytes each held.
        reads: digests of what nodes read, where asked for.
        stand_ins: op types whose outputs were made up, as nothing says how they are computed, and
            how many nodes of each; constants without a value among them.
    """

    outputs: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    executed_copies: int = 0
    executed_copy_bytes: int = 0
    copies_by_op: dict[str, Tally] = field(default_factory=dict)
    boundary_copies: int = 0
    boundary_copy_bytes: int = 0
    arena_bytes: int = 0
    pool_bytes: dict[str, int] = field(default_factory=dict)
    unplanned: dict[str, int] = field(default_factory=dict)
    reads: Reads | None = None
    stand_ins: dict[str, int] = field(default_factory=dict)

    @property
    def unplanned_bytes(self) -> int:
        """Bytes of all run-time buffers together."""
        return sum(self.unplanned.values())


def output_names(graph: Graph) -> list[str]:
    """Names of the graph's outputs: NetOutput's ports, else `output_<i>`."""
    out = graph.root.net_output
    if out is None:
        return []
    return [anchor.name or f"output_{anchor.index}" for anchor in out.inputs]


def collect(machine: Machine, root: Frame) -> RunResult:
    """The result of the run that has just ended."""
    graph, layout = machine.graph, machine.layout
    names = output_names(graph)
    copies = machine.copies
    return RunResult(
        outputs={names[at]: copied(port.memory()) for at, port in root.results},
        variables={
            node.name: copied(machine.port((), node.outputs[0]).memory())
            for node in graph.nodes
            if node.outputs and (machine.ops.kind(node) == "variable" or node.op == "RefData")
        },
        executed_copies=copies.total.count,
        executed_copy_bytes=copies.total.bytes,
        copies_by_op=dict(sorted(copies.by_op.items())),
        boundary_copies=copies.boundary.count,
        boundary_copy_bytes=copies.boundary.bytes,
        arena_bytes=0 if layout is None else layout.pools.arena_bytes,
        pool_bytes={} if layout is None else layout.pools.sizes(),
        unplanned={}
        if layout is None
        else {cell.name: cell.bytes for cell in machine.cells.in_use()},
        reads=machine.reads,
        stand_ins=machine.stand_ins(),
    )
