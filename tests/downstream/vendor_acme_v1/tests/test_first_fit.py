"""`acme.first_fit`: its plans are valid and proved, and it is chosen by name."""

from __future__ import annotations

import itertools

import pytest
from acme_ge.first_fit import FirstFit
from graphs import branches

from ge_core.api import ARENA, Budget, Buffer, Cluster, MemoryProblem
from ge_core.testing import random_graph

ASSIGNER = "acme.first_fit"


def problem(*lives: tuple[int, int, int]) -> MemoryProblem:
    """Buffers by (size, first, last), each a cluster of its own."""
    return MemoryProblem(
        Cluster.of(Buffer(f"b{at}", size, first, last))
        for at, (size, first, last) in enumerate(lives)
    )


def test_the_lowest_free_offset_is_taken():
    """The third buffer lies where the first one was; the second is in nobody's way."""
    placement = FirstFit().assign(problem((100, 0, 1), (100, 1, 3), (100, 2, 4)), Budget())
    assert placement.offsets == (0, 128, 0)


def test_buffers_that_live_together_do_not_overlap():
    """By brute force over all pairs."""
    lives = [(1 + 97 * at % 300, at % 7, at % 7 + at % 5) for at in range(30)]
    given = problem(*lives)
    offsets = FirstFit().assign(given, Budget()).offsets
    ranges = [(at, at + cluster.size) for at, cluster in zip(offsets, given.clusters, strict=True)]
    wrong = [
        (one.name, other.name)
        for one, other in itertools.combinations(given.clusters, 2)
        if given.interferes(one, other)
        and max(ranges[one.index][0], ranges[other.index][0])
        < min(ranges[one.index][1], ranges[other.index][1])
    ]
    assert wrong == []


def test_a_compile_with_it_is_proved(compiled):
    """The plan says who made it, and takes no less than the bound and no more than no reuse."""
    result = compiled(branches(), assigner=ASSIGNER)
    arena = result.plan.pools[ARENA]
    assert result.assigner == ASSIGNER
    assert arena.lower_bound <= arena.bytes <= arena.no_reuse


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_are_proved(compiled, seed):
    """With control flow, views and writers, at the strongest level."""
    assert compiled(random_graph(seed), level="O4", assigner=ASSIGNER).assigner == ASSIGNER


def test_plans_are_the_same_on_every_run(compiled):
    """Equal inputs give equal plans."""
    one, other = (compiled(branches(), assigner=ASSIGNER).plan.to_json() for _ in range(2))
    assert one == other
