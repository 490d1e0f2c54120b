"""What the tests of the runtime share: registries, and running a graph in every way there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from ge_core.api import Graph, Kernels, OpRegistry, generate_tasks
from ge_core.testing import disjoint_plan
from ge_runtime.compare import compare, differing_reads
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.executor import NumpyExecutor
from ge_runtime.reference import run_reference
from ge_runtime.result import RunResult

Check = Callable[..., RunResult]


@pytest.fixture
def ops() -> OpRegistry:
    """GE's own ops, and the control flow of ONNX."""
    return default_ops()


@pytest.fixture
def kernels() -> Kernels:
    """The runtime's kernels; a few of them for ONNX graphs too, where they mean the same."""
    found = default_kernels()
    for op, name in (("Add", "add"), ("Mul", "mul"), ("Less", "less"), ("Relu", "relu")):
        found.add(op, f"ge_runtime.kernels.arithmetic:{name}", source="onnx")
    return found


@pytest.fixture
def check(ops: OpRegistry, kernels: Kernels) -> Check:
    """Runs a graph with the reference meaning and in arenas; all must agree. Answers the first."""

    def run(
        graph: Graph, feeds: Mapping[str, Any], *, unplanned: tuple[str, ...] = ()
    ) -> RunResult:
        before = {name: np.copy(value) for name, value in feeds.items()}
        reference = run_reference(graph, feeds, kernels, ops, record_reads=True)
        assert reference.reads is not None
        for skew in (False, True):
            plan = disjoint_plan(graph, ops, skew=skew, unplanned=unplanned)
            tasks = generate_tasks(graph, ops, plan)
            executor = NumpyExecutor(ops, kernels, hostile=skew, record_reads=True)
            for _ in range(2):
                found = executor.run(graph, plan, tasks, feeds)
                differing = [
                    c.name
                    for c in (
                        *compare(reference.outputs, found.outputs),
                        *compare(reference.variables, found.variables),
                    )
                    if not c.bit_exact
                ]
                assert [] == differing
                assert [] == differing_reads(reference.reads, found.reads or {})
        for name, value in feeds.items():
            assert before[name].tobytes() == np.asarray(value).tobytes()
        return reference

    return run
