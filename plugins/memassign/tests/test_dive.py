"""The skyline and the dive along it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import Buffer, Cluster, MemoryProblem, Placement
from ge_core.memory import check_placement
from ge_memassign.dive import dive
from ge_memassign.orders import keys
from ge_memassign.pools import Pool
from ge_memassign.skyline import Skyline

steps = st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(1, 9))


@given(st.lists(steps, max_size=30), st.integers(0, 10), st.integers(0, 10))
def test_the_skyline_is_a_list_of_heights(
    raised: list[tuple[int, int, int]], a: int, b: int
) -> None:
    """Raising and asking give what a plain list of heights gives."""
    skyline, heights = Skyline(11), [0] * 11
    for one, other, height in raised:
        first, last = sorted((one, other))
        skyline.raise_to(first, last, height)
        for position in range(first, last + 1):
            heights[position] = max(heights[position], height)
    first, last = sorted((a, b))
    assert skyline.height(first, last) == max(heights[first : last + 1])


spans = st.tuples(st.integers(0, 12), st.integers(0, 8)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(st.tuples(st.integers(1, 50), spans, st.booleans()), min_size=1, max_size=12))
def test_a_dive_places_everything_without_clashes(
    buffers: list[tuple[int, tuple[int, int], bool]],
) -> None:
    """With every key, for clusters of one and of two buffers."""
    clusters = []
    for at, (size, (first, last), two) in enumerate(buffers):
        pieces = [(0, Buffer(f"b{at}", size, first, last))]
        if two:
            pieces.append((size, Buffer(f"c{at}", 7, last, last + 2)))
        clusters.append(Cluster(f"b{at}", tuple(pieces), 4))
    problem = MemoryProblem(clusters, align=4)
    pool = Pool(problem, "HBM", clusters)
    for name, key in keys(pool):
        found, asked = dive(pool, key, 10_000)
        assert found is not None and asked >= len(pool.clusters)
        offsets = [0] * len(clusters)
        pool.write(found, offsets)
        check_placement(problem, Placement(tuple(offsets)), name)


def test_a_dive_gives_up_after_many_questions() -> None:
    """It counts its work, so that large pools take a bounded time everywhere."""
    clusters = [Cluster.of(Buffer(f"b{at}", 64, at, at + 5)) for at in range(50)]
    pool = Pool(MemoryProblem(clusters), "HBM", clusters)
    assert dive(pool, keys(pool)[0][1], 20) == (None, 21)
