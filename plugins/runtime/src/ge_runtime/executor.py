"""`NumpyExecutor`: the driver that runs a compiled graph inside its planned arena."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ge_core.api import Graph, Kernels, OpRegistry, Plan, TaskList
from ge_runtime.compare import Comparison, compare
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.layout import Layout
from ge_runtime.machine import LOOP_LIMIT, Machine
from ge_runtime.npz import read_feeds, write_outputs
from ge_runtime.reference import run_reference
from ge_runtime.result import RunResult, collect
from ge_runtime.sources import make_feeds


class NumpyExecutor:
    """Executes task lists inside one real arena per pool.

    Args:
        ops: traits of the graph's ops; GE's own by default.
        kernels: what computes them; the runtime's own by default.
        hostile: poison an op's outputs even where they lie on its inputs, unless the op may work
            in place there.
        fill_dead: poison bytes after the last access that the plan names.
        record_reads: note digests of everything that nodes read (`RunResult.reads`).
        loop_limit: turns after which a loop is taken to be endless.

    What was prepared for a graph, plan and task list is kept for the next run of the same three,
    so that one executor must not be used by two threads at once.
    """

    def __init__(
        self,
        ops: OpRegistry | None = None,
        kernels: Kernels | None = None,
        *,
        hostile: bool = False,
        fill_dead: bool = True,
        record_reads: bool = False,
        loop_limit: int = LOOP_LIMIT,
    ) -> None:
        self.ops = ops
        self.kernels = kernels
        self.hostile = hostile
        self.fill_dead = fill_dead
        self.record_reads = record_reads
        self.loop_limit = loop_limit
        self._prepared: tuple[Graph, int, Plan, TaskList, Machine] | None = None

    def run(
        self,
        graph: Graph,
        plan: Plan,
        tasks: TaskList,
        feeds: Mapping[str, Any],
        *,
        ops: OpRegistry | None = None,
        kernels: Kernels | None = None,
    ) -> RunResult:
        """Run once with these inputs by name. The caller's arrays are neither kept nor changed.

        Args:
            ops, kernels: instead of the executor's own, from this run on.

        Raises:
            ExecutionError: an input is missing or another tensor than declared, an op has no
                kernel, or a kernel fails.
            LimitExceeded: a loop does not come to an end.
        """
        if (ops is not None and ops is not self.ops) or (
            kernels is not None and kernels is not self.kernels
        ):
            self.ops = self.ops if ops is None else ops
            self.kernels = self.kernels if kernels is None else kernels
            self._prepared = None
        machine = self._machine(graph.root, plan, tasks)
        return collect(machine, machine.run(feeds))

    def reference(
        self,
        graph: Graph,
        feeds: Mapping[str, Any],
        *,
        ops: OpRegistry | None = None,
        kernels: Kernels | None = None,
    ) -> RunResult:
        """Run without a plan, see `ge_runtime.reference`."""
        return run_reference(
            graph,
            feeds,
            self.kernels if kernels is None else kernels,
            self.ops if ops is None else ops,
            record_reads=self.record_reads,
            loop_limit=self.loop_limit,
        )

    def make_feeds(
        self,
        graph: Graph,
        seed: int = 0,
        given: Mapping[str, Any] | None = None,
        *,
        ops: OpRegistry | None = None,
    ) -> dict[str, Any]:
        """Inputs for a run: those given, and seeded ones for the rest."""
        known = self.ops if ops is None else ops
        return make_feeds(graph, default_ops() if known is None else known, seed, given)

    def read_feeds(self, path: Path, graph: Graph) -> dict[str, Any]:
        """Inputs by name from an `.npz` file. Raises `InputFileError`."""
        return read_feeds(path, graph)

    def write_outputs(self, path: Path, outputs: Mapping[str, Any]) -> None:
        """Outputs by name into an `.npz` file, which is replaced as a whole."""
        write_outputs(path, outputs)

    def compare(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Comparison]:
        """Outputs of two runs, bit for bit."""
        return compare(a, b)

    def _machine(self, graph: Graph, plan: Plan, tasks: TaskList) -> Machine:
        if self._prepared is not None:
            known, version, known_plan, known_tasks, machine = self._prepared
            same = known is graph and version == graph.version
            if same and known_plan is plan and known_tasks is tasks:
                return machine
        self.ops = default_ops() if self.ops is None else self.ops
        self.kernels = default_kernels() if self.kernels is None else self.kernels
        layout = Layout(
            graph, self.ops, plan, tasks, hostile=self.hostile, fill_dead=self.fill_dead
        )
        machine = Machine(
            graph,
            self.ops,
            self.kernels,
            layout,
            record_reads=self.record_reads,
            loop_limit=self.loop_limit,
        )
        self._prepared = (graph, graph.version, plan, tasks, machine)
        return machine
