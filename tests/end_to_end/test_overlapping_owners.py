"""Owners that follow one another on the same bytes: planner, proof and real execution agree.

So do whole compiles of graphs that come with such marks, at every level.
"""

from __future__ import annotations

import random
from itertools import islice

import pytest

import ge_core as ge
from ge_core.errors import LayoutConflict
from ge_core.ir import Graph, clone
from ge_core.memory import Plan, build_problem, plan_from
from ge_core.memory.overlaps import Overlaps
from ge_core.proof import verify_compile
from ge_core.session.execution import execute
from ge_core.targets import Target
from ge_core.tasks import TaskList, generate_tasks
from ge_runtime.compare import compare, differing_reads
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.linear import execute_linearisation, random_linearisations
from ge_runtime.orders import can_happen
from ge_runtime.reference import run_reference
from ge_runtime.sources import make_feeds
from tests.end_to_end.overlap_graphs import Declared, Words, random_blocks

OPS = Declared(default_ops())
KERNELS = default_kernels()
TARGET = Target("test", align_bytes=64)
SAMPLE = 300
CHUNK = 50


def planned(graph: Graph) -> Plan:
    """A plan by first fit."""
    problem, facts = build_problem(graph, OPS, TARGET)
    for cluster in sorted(problem.clusters, key=lambda c: (-c.size, c.index)):
        problem.place(cluster, problem.lowest_free(cluster))
    return plan_from(problem, problem.placement(), facts, level="O4")


def differs(graph: Graph, plan: Plan, tasks: TaskList, seed: int) -> bool:
    """Whether some op reads something else than in the original, in some order."""
    feeds = make_feeds(graph, OPS, seed)
    reference = run_reference(graph, feeds, KERNELS, OPS, record_reads=True)
    orders = random_linearisations(tasks, random.Random(seed), 12)
    able = (order for order in orders if can_happen(graph, tasks, order, OPS))
    for order in islice(able, 4):
        run = execute_linearisation(
            graph, plan, tasks, order, feeds, ops=OPS, kernels=KERNELS, record_reads=True
        )
        if differing_reads(reference.reads, run.reads or {}):
            return True
        if any(not pair.bit_exact for pair in compare(reference.outputs, run.outputs)):
            return True
    return False


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("first", range(0, SAMPLE, CHUNK))
def test_what_the_rule_allows_is_planned_proved_and_runs(
    first: int, streams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more and no less: what it forbids is refused, and put down nevertheless not proved."""
    kinds = {True: 0, False: 0}
    for seed in range(first, first + CHUNK):
        blocks = random_blocks(seed, streams=streams)
        graph = blocks.graph
        right = Words(blocks).is_right()
        kinds[right] += 1
        try:
            plan = planned(graph)
        except LayoutConflict:
            assert not right, seed
            with monkeypatch.context() as patch:
                patch.setattr(Overlaps, "check", lambda self, members, low: None)
                plan = planned(graph)
        else:
            assert right, seed
        tasks = generate_tasks(graph, OPS, plan)
        proof = verify_compile(clone(graph), graph, plan, tasks, ops=OPS)
        assert proof.ok == right, (seed, [str(v) for v in proof.violations])
        if right:
            assert not differs(graph, plan, tasks, seed), seed
    assert min(kinds.values()) > CHUNK // 10


def with_copies(graph: Graph, seed: int) -> None:
    """Put copies in front of some inputs: passes take them out again where they may."""
    rng = random.Random(f"copies {seed}")
    for node in list(graph.nodes):
        for anchor in node.inputs:
            source = anchor.source
            if source is not None and node.op != "SplitD" and rng.random() < 0.25:
                name = f"copy_{node.name}_{anchor.index}"
                copy = graph.add_node("TensorMove", name, [source], [source.desc], before=node)
                graph.rewire(anchor, copy.outputs[0])


@pytest.mark.parametrize("level", ["O0", "O1", "O3", "O4"])
@pytest.mark.parametrize("streams", [1, 2])
def test_graphs_that_come_with_such_marks_compile(level: str, streams: int) -> None:
    """Right or not: a layout rule puts a copy in, or the marks are taken back."""
    for seed in range(15):
        graph = random_blocks(seed, streams=streams).graph
        if seed % 2:
            with_copies(graph, seed)
        result = ge.compile(graph, level=level, assigner="fast", verify_each=True, audit=True)
        result.check_proof()
        outcome = execute(result, seed=seed, check=True)
        assert all(output.bit_exact for output in outcome.outputs), seed
