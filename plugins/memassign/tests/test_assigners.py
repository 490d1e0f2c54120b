"""All assigners place everything, without clashes and never below the bound."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.api import Assigner, Budget, Buffer, Cluster, MemoryProblem
from ge_core.memory import check_placement
from ge_core.memory.order import Clock, StreamOrder
from ge_memassign.best import Best
from ge_memassign.bump import Bump
from ge_memassign.fast import Fast

ASSIGNERS: tuple[type[Assigner], ...] = (Bump, Fast, Best)
spans = st.tuples(st.integers(0, 12), st.integers(0, 8)).map(lambda s: (s[0], s[0] + s[1]))


@st.composite
def problems(draw: st.DrawFn, most: int = 12, plain: bool = False) -> MemoryProblem:
    """Clusters of one to three buffers, two pools, fixed places and memory of the caller's."""
    clusters: list[Cluster] = []
    fixed_end = 0
    for number in range(draw(st.integers(1, most))):
        pieces, at = [], 0
        for piece in range(1 if plain else draw(st.sampled_from((1, 1, 1, 2, 3)))):
            size = draw(st.integers(1, 40))
            pieces.append((at, Buffer(f"b{number}.{piece}", size, *draw(spans))))
            at += size
        kind = "plain" if plain else draw(st.sampled_from(("plain",) * 8 + ("owned", "fixed")))
        pool = "HBM" if plain else draw(st.sampled_from(("HBM", "HBM", "P2P")))
        fixed = None
        if kind == "fixed":
            # One behind the other: fixed places that clash can't be met by anybody.
            fixed, pool = fixed_end, "FIXED"
            fixed_end += -(-at // 4) * 4
        clusters.append(Cluster(f"c{number}", tuple(pieces), 4, pool, fixed, owned=kind == "owned"))
    clusters.sort(key=lambda cluster: cluster.birth)
    return MemoryProblem(clusters, align=4)


@settings(max_examples=60)
@given(problems())
def test_placements_are_right_and_above_the_bound(problem: MemoryProblem) -> None:
    """The kernel's check accepts what every assigner answers."""
    for assigner in ASSIGNERS:
        placement = assigner().assign(problem, Budget())
        check_placement(problem, placement, assigner.__name__)
        for pool in problem.pools:
            assert placement.peak(problem, pool) >= problem.lower_bound(pool)


@settings(max_examples=40)
@given(problems())
def test_best_is_not_worse_than_fast(problem: MemoryProblem) -> None:
    """It begins with the same answers, pool by pool."""
    fast, best = Fast().assign(problem, Budget()), Best().assign(problem, Budget())
    for pool in problem.pools:
        assert best.peak(problem, pool) <= fast.peak(problem, pool)


def least(problem: MemoryProblem) -> int:
    """The least peak there is: some order of first fit reaches it."""
    peaks = []
    for order in permutations(problem.clusters):
        problem.clear()
        for cluster in order:
            problem.place(cluster, problem.lowest_free(cluster))
        peaks.append(problem.placement().peak(problem, "HBM"))
    return min(peaks)


@settings(max_examples=40)
@given(problems(most=6, plain=True))
def test_best_finds_the_optimum_of_small_problems(problem: MemoryProblem) -> None:
    """Up to six buffers: no order of first fit does better, and the answer says so."""
    placement = Best().assign(problem, Budget())
    assert placement.peak(problem, "HBM") == least(problem)
    assert placement.optimal == {"HBM"}


class Ring(StreamOrder):
    """Buffer i stands in the way of its neighbours in a ring of five, and of no other."""

    def interferes(self, a: Clock, b: Clock) -> bool:
        """Whether the two are neighbours."""
        return (a.scope - b.scope) % 5 in (1, 4)


def test_an_optimum_above_the_bound_is_proved() -> None:
    """Five in a ring never need two places at once, and yet two are not enough."""
    clusters = [Cluster.of(Buffer(f"b{at}", 64, 0, 1, Clock(at, (1,), (1,)))) for at in range(5)]
    problem = MemoryProblem(clusters, order=Ring(1, []))
    placement = Best().assign(problem, Budget())
    assert problem.lower_bound() <= 128
    assert (placement.peak(problem, "HBM"), placement.optimal) == (192, {"HBM"})


def test_bump_gives_everybody_bytes_of_their_own() -> None:
    """The pool is the plain sum, although no two buffers are in use together."""
    problem = MemoryProblem([Cluster.of(Buffer(f"b{at}", 100, at, at)) for at in range(5)])
    assert Bump().assign(problem, Budget()).peak(problem, "HBM") == 5 * 128


def test_whole_run_buffers_lie_at_the_bottom() -> None:
    """What is in everybody's way is stacked first, so that the rest is one small problem."""
    clusters = [Cluster.of(Buffer("whole", 64, 0, 99))]
    clusters += [Cluster.of(Buffer(f"b{at}", 64, at, at + 1)) for at in range(98)]
    problem = MemoryProblem(clusters)
    placement = Fast().assign(problem, Budget())
    assert placement.offsets[0] == 0
    assert placement.peak(problem, "HBM") == problem.lower_bound() == 192


def hard(seed: int, count: int) -> MemoryProblem:
    """Buffers of odd sizes and lives that no simple order packs well."""
    rng = random.Random(seed)
    clusters = []
    for at in range(count):
        first = rng.randrange(count)
        life = rng.choice((1, 2, 5, 20, count // 3))
        clusters.append(Cluster.of(Buffer(f"b{at}", rng.randrange(1, 2000), first, first + life)))
    return MemoryProblem(sorted(clusters, key=lambda cluster: cluster.birth))


def test_best_gets_better_with_steps() -> None:
    """Blaming what lies on top pays on a problem that no simple order packs."""
    problem = hard(5, 120)
    none = Best().assign(problem, Budget(steps=0)).peak(problem, "HBM")
    some = Best().assign(problem, Budget(steps=400_000)).peak(problem, "HBM")
    assert problem.lower_bound() <= some < none


def test_time_that_runs_out_is_said() -> None:
    """A placement that seconds cut short may differ elsewhere, and says so."""
    problem = hard(5, 200)
    assert Best().assign(problem, Budget(seconds=0)).cut_short
    assert not Best().assign(problem, Budget(steps=1000)).cut_short


def test_many_conflicts_are_not_listed() -> None:
    """Where everything is in use with everything else's neighbours, sweeps answer in time."""
    count = 6000
    clusters = [
        Cluster.of(Buffer(f"b{at}", 64 + 64 * (at % 7), at, 2 * count - at)) for at in range(count)
    ]
    problem = MemoryProblem(clusters)
    placement = Fast().assign(problem, Budget())
    check_placement(problem, placement)
    assert placement.peak(problem, "HBM") == problem.lower_bound()


@pytest.mark.parametrize("assigner", ASSIGNERS)
def test_an_empty_problem_has_an_empty_answer(assigner: type[Assigner]) -> None:
    """No clusters, no offsets."""
    assert assigner().assign(MemoryProblem(), Budget()).offsets == ()
