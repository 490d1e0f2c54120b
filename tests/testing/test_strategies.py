"""Strategies give valid examples, the same on every run, and shrink to a handful of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from ge_core.api import Budget, Graph, MemoryProblem, TensorDesc, verify
from ge_core.memory import check_placement
from ge_core.testing import (
    ODD_GRAPHS,
    GraphKnobs,
    ProblemKnobs,
    SeededChoices,
    odd_graph,
    random_graph,
    random_problem,
    reduce_graph,
    strategies,
)
from tests.testing.bad_assigners import Good

QUIET = settings(
    max_examples=100,
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


@settings(max_examples=40)
@given(strategies.graphs(GraphKnobs(ops=["Cast", "AcmeGelu"], streams=2)))
def test_graphs_are_whole(graph: Graph) -> None:
    """Whatever is drawn."""
    verify(graph)


@settings(max_examples=40)
@given(strategies.memory_problems())
def test_problems_can_be_met(problem: MemoryProblem) -> None:
    """First fit places everything, within the capacities."""
    check_placement(problem, Good().assign(problem, Budget()))


@settings(max_examples=20)
@given(strategies.odd_graphs(["Cast"]), strategies.descriptions(unknown=True))
def test_odd_graphs_are_whole(graph: Graph, desc: TensorDesc) -> None:
    """And descriptions can be made of what is drawn."""
    verify(graph)
    assert desc.shape is not None


def nodes(graph: Graph) -> int:
    """Nodes, those of subgraphs included."""
    return sum(1 for _ in graph.all_nodes())


def has(op: str) -> Callable[[Graph], bool]:
    """Whether a graph has an op anywhere."""
    return lambda graph: any(node.op == op for node in graph.all_nodes())


def moves_behind_moves(graph: Graph) -> bool:
    """A planted fault: a move that reads a move."""
    return any(
        node.op == "TensorMove" and any(before.op == "TensorMove" for before in node.in_nodes)
        for node in graph.all_nodes()
    )


@pytest.mark.parametrize(
    ("fault", "most"),
    [(has("Foo"), 4), (has("ConcatD"), 4), (has("While"), 12), (moves_behind_moves, 8)],
    ids=["an op", "a join", "a loop", "two moves"],
)
def test_a_planted_fault_shrinks(fault: Callable[[Graph], bool], most: int) -> None:
    """To this many nodes, inputs and NetOutput counted; a loop has two graphs of its own."""
    knobs = GraphKnobs(nodes=8, control_flow=fault is not moves_behind_moves)
    smallest = find(strategies.graphs(knobs), fault, settings=QUIET)
    assert nodes(smallest) <= most


def test_problems_shrink() -> None:
    """Two buffers that live together are left of a dozen clusters."""

    def overlap(problem: MemoryProblem) -> bool:
        some = problem.clusters
        return any(problem.interferes(a, b) for a in some for b in some)

    smallest = find(strategies.memory_problems(), overlap, settings=QUIET)
    assert 2 == len(smallest.clusters)
    assert {1} == {cluster.size for cluster in smallest.clusters}


@pytest.mark.parametrize("seed", range(12))
def test_seeded_graphs_are_reduced(seed: int) -> None:
    """Without hypothesis: nodes are taken out as long as the fault shows."""
    graph = random_graph(seed, GraphKnobs(nodes=20, ops=["Cast"]))
    before = nodes(graph)
    small = reduce_graph(graph, has("Cast"))
    assert has("Cast")(small)
    assert nodes(small) <= 5
    assert before == nodes(graph)


def test_what_can_not_be_reduced_stays() -> None:
    """A graph that shows no fault, and one on which the question itself fails."""
    graph = random_graph(3)
    assert graph is reduce_graph(graph, lambda _: False)

    def raises(_: Graph) -> bool:
        raise ZeroDivisionError

    assert graph is reduce_graph(graph, raises)


@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_every_odd_graph_is_whole(name: str) -> None:
    """And has the ops that it is made with, but for those without nodes."""
    graph = odd_graph(name, ["Cast", "AcmeGelu"])
    verify(graph)
    ops = {node.op for node in graph.all_nodes()}
    assert name == "empty" or {"Cast", "AcmeGelu", "TensorMove"} <= ops


def test_random_graphs_are_what_their_seed_says() -> None:
    """The same everywhere, and knobs that are not used change nothing."""
    one, other = (random_graph(SeededChoices(5), GraphKnobs()) for _ in range(2))
    assert [n.name for n in one.all_nodes()] == [n.name for n in other.all_nodes()]


def test_descriptions_can_be_strewn_with_attributes() -> None:
    """About every third output bears one."""

    def decorate(pick: Any, desc: TensorDesc) -> TensorDesc:
        return desc.with_attr("bank", pick.integer(0, 1))

    graph = random_graph(1, GraphKnobs(nodes=40, control_flow=False, decorate=decorate))
    outputs = [out for node in graph.all_nodes() for out in node.outputs]
    marked = [out for out in outputs if "bank" in out.desc.attrs]
    assert len(outputs) // 10 < len(marked) < len(outputs) // 2


def test_problem_knobs_are_heeded() -> None:
    """What is switched off is absent, what is on occurs."""
    plain = ProblemKnobs(pools=("HBM",), fixed=False, owned=False, pieces=False, capacities=False)
    made = [random_problem(seed, plain) for seed in range(20)]
    clusters = [c for problem in made for c in problem.clusters]
    assert not any(c.fixed is not None or c.owned or len(c.pieces) > 1 for c in clusters)
    rich = [c for seed in range(20) for c in random_problem(seed).clusters]
    assert any(c.fixed is not None for c in rich)
    assert any(c.owned for c in rich)
    assert any(len(c.pieces) > 1 for c in rich)
