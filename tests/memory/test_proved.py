"""Plans of random graphs, with everything in them, stand up to the proof."""

from __future__ import annotations

import random

import pytest

from ge_core.ir import clone
from ge_core.ops import OpRegistry
from ge_core.proof import verify_compile
from ge_core.tasks import generate_tasks
from ge_core.testing.random_graphs import GraphKnobs, random_graph

OFFERS = (
    {},
    {"ge.exec.inputReuseMemIndexes": "0,1", "ge.exec.outputReuseMemIndexes": "0,1,2"},
    {"ge.exec.disableReuseMemory": "1"},
)


@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("seed", range(15))
def test_plans_are_proved(plan_graph, ops: OpRegistry, seed: int, streams: int) -> None:
    """Every op reads what it reads where every output has memory of its own, in any order."""
    graph = random_graph(seed, GraphKnobs(nodes=16, streams=streams, moves=10))
    rng = random.Random(seed)
    for node in list(graph.all_nodes()):
        if node.op in ("Relu", "Add") and node.graph is not None:
            node.graph.set_attr(node, "workspace_bytes", [rng.choice((16, 200))])
            node.graph.set_attr(node, "_output_inplace_ability", [[0, 0]])
    original = clone(graph)
    options = OFFERS[seed % len(OFFERS)]
    planned = plan_graph(graph, options)
    tasks = generate_tasks(graph, ops, planned.plan)
    result = verify_compile(original, graph, planned.plan, tasks, ops=ops, options=options)
    assert [str(violation) for violation in result.violations] == []
