"""The reference run: what a graph means, without a plan.

Every output has memory of its own, except that an aliasing output is the memory of the input it
names, and variables and constants are one memory per name. Only what updates an input in place
changes memory; what destroys an input, or updates a constant, acts on a copy of its own. Layout
marks are ignored: joins and splits copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ge_core.api import Graph, Kernels, OpRegistry
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.machine import LOOP_LIMIT, Machine
from ge_runtime.result import RunResult, collect


def run_reference(
    graph: Graph,
    feeds: Mapping[str, Any],
    kernels: Kernels | None = None,
    ops: OpRegistry | None = None,
    *,
    record_reads: bool = False,
    loop_limit: int = LOOP_LIMIT,
) -> RunResult:
    """Run a graph in its listed order, every output in memory of its own.

    Raises:
        ExecutionError: an input is missing or another tensor than declared, an op has no kernel,
            or a kernel fails.
        LimitExceeded: a loop does not come to an end.
    """
    machine = Machine(
        graph,
        default_ops() if ops is None else ops,
        default_kernels() if kernels is None else kernels,
        record_reads=record_reads,
        loop_limit=loop_limit,
    )
    return collect(machine, machine.run(feeds))
