"""The planning problem: what interferes, what is free, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import PlanError
from ge_core.memory import Buffer, Cluster, MemoryProblem
from ge_core.memory.timeindex import TimeIndex

spans = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda s: (s[0], s[0] + s[1]))


@st.composite
def problems(draw: st.DrawFn) -> MemoryProblem:
    """Up to nine clusters of one to three buffers, some of them the caller's."""
    clusters = []
    for number in range(draw(st.integers(1, 9))):
        pieces, at = [], 0
        for piece in range(draw(st.integers(1, 3))):
            size = draw(st.integers(1, 9))
            first, last = draw(spans)
            pieces.append((at, Buffer(f"b{number}.{piece}", size, first, last)))
            at += size + draw(st.sampled_from((0, 0, 2)))
        owned = draw(st.integers(0, 9)) == 0
        clusters.append(
            Cluster(f"c{number}", tuple(pieces), draw(st.sampled_from((1, 2, 4))), owned=owned)
        )
    return MemoryProblem(clusters, align=4)


def is_free(problem: MemoryProblem, placed: dict[int, int], cluster: Cluster, offset: int) -> bool:
    """The rule, written down once more: byte by byte, position by position."""
    taken: dict[tuple[int, int], Cluster] = {}
    for index, at in placed.items():
        other = problem.clusters[index]
        low, high = max(at, offset), min(at + other.size, offset + cluster.size)
        if low < high:
            if cluster.owned and other.owned:
                return False
            for owner, start, guest, place in (
                (cluster, offset, other, at),
                (other, at, cluster, offset),
            ):
                if owner.owned and not (
                    start <= place and place + guest.size <= start + owner.size
                ):
                    return False
        for delta, buffer in other.pieces:
            for byte in range(at + delta, at + delta + buffer.size):
                for position in range(buffer.first, buffer.last + 1):
                    taken[byte, position] = other
    return all(
        (offset + delta + byte, position) not in taken
        for delta, buffer in cluster.pieces
        for byte in range(buffer.size)
        for position in range(buffer.first, buffer.last + 1)
    )


@given(problems())
def test_lowest_free_is_the_lowest_place_that_the_rule_allows(problem: MemoryProblem) -> None:
    """No lower aligned offset is free, and the one answered is."""
    placed: dict[int, int] = {}
    for cluster in problem.clusters:
        expected = next(
            at for at in range(0, 10_000, cluster.align) if is_free(problem, placed, cluster, at)
        )
        assert problem.lowest_free(cluster) == expected
        problem.place(cluster, expected)
        placed[cluster.index] = expected
    assert problem.placement().offsets == tuple(placed[i] for i in range(len(problem.clusters)))


@given(problems(), st.integers(0, 40))
def test_place_takes_what_is_free_and_nothing_else(problem: MemoryProblem, offset: int) -> None:
    """A taken, negative or misaligned offset is an error that names the cluster."""
    placed: dict[int, int] = {}
    for cluster in problem.clusters:
        if offset % cluster.align == 0 and is_free(problem, placed, cluster, offset):
            problem.place(cluster, offset)
            placed[cluster.index] = offset
        else:
            with pytest.raises(PlanError, match=cluster.name):
                problem.place(cluster, offset)


@given(st.lists(spans, max_size=40), spans)
def test_the_time_index_finds_exactly_what_overlaps(
    stored: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    """Closed intervals that share a position with the question are answered, once each."""
    index = TimeIndex()
    for at, (first, last) in enumerate(stored):
        index.add(first, last, at)
    expected = [at for at, (a, b) in enumerate(stored) if a <= asked[1] and b >= asked[0]]
    assert sorted(index.overlapping(*asked)) == expected


def test_a_fixed_cluster_has_one_place() -> None:
    """`lowest_free` answers with the fixed offset, and `place` takes no other."""
    cluster = Cluster("c", ((0, Buffer("b", 8, 0, 1)),), 64, fixed=128)
    problem = MemoryProblem([cluster])
    assert problem.lowest_free(cluster) == 128
    with pytest.raises(PlanError, match="can't be placed at offset 0"):
        problem.place(cluster, 0)


def test_pools_are_apart() -> None:
    """Clusters of two pools never interfere, and both may begin at 0."""
    clusters = [Cluster.of(Buffer(pool, 8, 0, 1), pool=pool) for pool in ("HBM", "P2P")]
    problem = MemoryProblem(clusters)
    for cluster in clusters:
        problem.place(cluster, problem.lowest_free(cluster))
    assert problem.placement().offsets == (0, 0)
    assert not problem.interferes(*clusters)
    assert problem.pools == ["HBM", "P2P"]


def test_a_missing_cluster_is_named() -> None:
    """A placement is complete or an error."""
    problem = MemoryProblem([Cluster.of(Buffer("late", 8, 0, 1))])
    with pytest.raises(PlanError, match="'late' is not placed"):
        problem.placement()


def test_clearing_takes_everything_out() -> None:
    """After `clear` another order may be tried."""
    clusters = [Cluster.of(Buffer(name, 8, 0, 1)) for name in "ab"]
    problem = MemoryProblem(clusters)
    for cluster in clusters:
        problem.place(cluster, problem.lowest_free(cluster))
    problem.clear()
    for cluster in reversed(clusters):
        problem.place(cluster, problem.lowest_free(cluster))
    assert problem.placement().offsets == (64, 0)


@pytest.mark.parametrize(
    ("size", "first", "last"), [(0, 0, 1), (-4, 0, 1), (8, 3, 2)], ids=["empty", "negative", "life"]
)
def test_buffers_that_make_no_sense_are_refused(size: int, first: int, last: int) -> None:
    """A buffer has bytes and does not end before it begins."""
    with pytest.raises(PlanError, match="'odd'"):
        Buffer("odd", size, first, last)


def test_a_cluster_begins_with_a_piece() -> None:
    """Distances count from the start of the cluster."""
    with pytest.raises(PlanError, match="no piece at its start"):
        Cluster("c", ((8, Buffer("b", 8, 0, 1)),))


@pytest.mark.parametrize(
    ("offset", "why"),
    [
        (-64, "it is negative"),
        (3, "it is no multiple of 64"),
        (1 << 63, "its end doesn't fit in 63 bits"),
        (0, "'first' at 0\\.\\.40 is needed at the same time"),
        (
            128,
            "'theirs' at 128\\.\\.160 is memory of the caller's, and this must lie wholly inside",
        ),
    ],
)
def test_why_a_cluster_can_not_be_placed(offset: int, why: str) -> None:
    """The error says what is wrong, and names the other cluster."""
    first, mine = (Cluster.of(Buffer(name, 40, 0, 1)) for name in ("first", "mine"))
    theirs = Cluster("theirs", ((0, Buffer("theirs", 32, 5, 6)),), owned=True)
    problem = MemoryProblem([first, mine, theirs])
    problem.place(first, 0)
    problem.place(theirs, 128)
    with pytest.raises(PlanError, match=f"'mine' can't be placed at offset {offset}: {why}"):
        problem.place(mine, offset)


def test_what_sticks_out_of_memory_of_the_callers() -> None:
    """Where the caller's memory is placed last."""
    mine = Cluster.of(Buffer("mine", 40, 0, 1))
    theirs, others = (
        Cluster(name, ((0, Buffer(name, 64, at, at)),), owned=True)
        for name, at in (("theirs", 5), ("others", 8))
    )
    problem = MemoryProblem([mine, theirs, others])
    problem.place(mine, 64)
    problem.place(others, 192)
    alone = "'others' at 192..256 is memory of the caller's, and this must not share bytes with it"
    with pytest.raises(PlanError, match=alone):
        problem.place(theirs, 192)
    wide = Cluster.of(Buffer("wide", 128, 0, 1))
    again = MemoryProblem([wide, theirs])
    again.place(wide, 0)
    with pytest.raises(PlanError, match="memory of the caller's, and 'wide' at 0..128 sticks out"):
        again.place(theirs, 64)


def test_a_pool_that_there_is_not() -> None:
    """It has no lower bound; near names are given."""
    problem = MemoryProblem([Cluster.of(Buffer("a", 40, 0, 1))])
    with pytest.raises(PlanError, match="no pool 'HBN'") as caught:
        problem.lower_bound("HBN")
    assert ("HBM",) == caught.value.near
    with pytest.raises(PlanError, match="align 3 is not a power of two"):
        Cluster.of(Buffer("a", 40, 0, 1), align=3)
