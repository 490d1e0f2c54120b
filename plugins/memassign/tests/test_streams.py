"""Several streams: placements by the exact order, and streams that never wait for one another."""

from __future__ import annotations

import pytest

from ge_core.api import Budget, GraphBuilder, MemoryProblem, OpRegistry, register_builtin_ops
from ge_core.memory import build_problem, check_placement
from ge_core.targets import GENERIC
from ge_core.testing.random_graphs import GraphKnobs, random_graph
from ge_memassign.best import Best
from ge_memassign.fast import Fast

OPS = OpRegistry()
register_builtin_ops(OPS)


def lanes(count: int, length: int, wait: int = 0) -> MemoryProblem:
    """Chains on streams of their own; every `wait` nodes each waits for its neighbour."""
    build = GraphBuilder()
    ends = [
        build.op("Gen", name=f"s{at}", shape=(64,), attrs={"stream_id": at}) for at in range(count)
    ]
    for step in range(length):
        before = list(ends)
        for at in range(count):
            control = [before[at - 1]] if wait and step % wait == 0 else []
            ends[at] = build.op(
                "Relu",
                before[at],
                name=f"s{at}_{step}",
                shape=(64 * (1 + step % 3),),
                attrs={"stream_id": at},
                control=control,
            )
    return build_problem(build.graph, OPS, GENERIC)[0]


@pytest.mark.parametrize("assigner", [Fast, Best])
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_on_several_streams(assigner: type[Fast] | type[Best], seed: int) -> None:
    """Clocks, arms and loops included, every answer passes the kernel's check."""
    graph = random_graph(seed, GraphKnobs(nodes=30, streams=3))
    problem, _ = build_problem(graph, OPS, GENERIC)
    check_placement(problem, assigner().assign(problem, Budget(steps=20_000)))


def test_streams_that_never_wait_are_placed_side_by_side() -> None:
    """Each stream needs what it needs alone; conflicts between them are never listed."""
    problem = lanes(2, 1500)
    placement = Fast().assign(problem, Budget())
    check_placement(problem, placement)
    alone = lanes(1, 1500)
    assert placement.peak(problem, "HBM") <= 2 * alone.lower_bound() + 512


def test_streams_that_wait_share() -> None:
    """Where streams wait for one another now and then, dead bytes change hands."""
    problem = lanes(3, 60, wait=5)
    assert problem.order is not None
    placement = Best().assign(problem, Budget())
    check_placement(problem, placement)
    total = sum(cluster.size for cluster in problem.clusters)
    assert problem.lower_bound() <= placement.peak(problem, "HBM") < total / 5
