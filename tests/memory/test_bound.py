"""The lower bound is never above what can be reached."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.memory import Buffer, Cluster, MemoryProblem, lower_bound, without_reuse

spans = st.tuples(st.integers(0, 8), st.integers(0, 5)).map(lambda s: (s[0], s[0] + s[1]))


@st.composite
def problems(draw: st.DrawFn) -> MemoryProblem:
    """Up to five clusters with pieces at aligned and at odd distances."""
    clusters = []
    align = draw(st.sampled_from((1, 4)))
    for number in range(draw(st.integers(1, 5))):
        pieces, at = [], 0
        for piece in range(draw(st.integers(1, 2))):
            size = draw(st.integers(1, 9))
            pieces.append((at, Buffer(f"b{number}.{piece}", size, *draw(spans))))
            at += size
        clusters.append(Cluster(f"c{number}", tuple(pieces), align))
    return MemoryProblem(clusters, align=align)


def least(problem: MemoryProblem) -> int:
    """The least peak: some order of first fit reaches it, as every placement can be let fall."""
    best = None
    for order in permutations(problem.clusters):
        problem.clear()
        for cluster in order:
            problem.place(cluster, problem.lowest_free(cluster))
        peak = problem.placement().peak(problem, "HBM")
        best = peak if best is None else min(best, peak)
    assert best is not None
    return best


@settings(max_examples=60)
@given(problems())
def test_the_bound_is_not_above_the_least_peak(problem: MemoryProblem) -> None:
    """Checked against all orders of first fit; and nothing takes more than without reuse."""
    assert (
        lower_bound(problem, "HBM")
        <= least(problem)
        <= max(without_reuse(problem, "HBM"), lower_bound(problem, "HBM"))
    )


def test_the_bound_is_what_is_in_use_at_the_worst_position() -> None:
    """At position 2 two buffers are in use, each in whole alignment units."""
    clusters = [
        Cluster.of(Buffer("a", 100, 0, 2)),
        Cluster.of(Buffer("b", 30, 2, 4)),
        Cluster.of(Buffer("c", 120, 3, 4)),
    ]
    problem = MemoryProblem(clusters)
    assert lower_bound(problem, "HBM") == 192
    assert problem.lower_bound() == 192
    assert without_reuse(problem, "HBM") == 128 + 64 + 128


def test_a_piece_in_padding_is_not_counted_twice() -> None:
    """A piece at an odd distance may lie in another buffer's padding: only exact bytes count."""
    run = Cluster("run", ((0, Buffer("head", 20, 0, 1)), (20, Buffer("tail", 20, 5, 6))), 64)
    alone = Cluster.of(Buffer("alone", 10, 5, 6))
    assert lower_bound(MemoryProblem([run, alone]), "HBM") == 64


def test_pieces_that_cover_one_another_count_once() -> None:
    """A hand-made cluster may name the same bytes twice."""
    cluster = Cluster("c", ((0, Buffer("a", 64, 0, 5)), (0, Buffer("b", 64, 0, 5))))
    assert lower_bound(MemoryProblem([cluster]), "HBM") == 64


def test_an_empty_pool_takes_nothing() -> None:
    """No clusters, no bytes."""
    assert lower_bound(MemoryProblem(), "HBM") == 0
