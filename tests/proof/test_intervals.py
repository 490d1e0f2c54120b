"""The interval map against an array with one entry per byte."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from ge_core.proof.intervals import IntervalMap

SIZE = 64

writes = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE)).map(
        lambda pair: (pair[0], min(SIZE, pair[0] + pair[1]))
    ),
    max_size=30,
)


def flat(intervals: IntervalMap[int], start: int = 0, end: int = SIZE) -> list[int]:
    """The value of each byte."""
    found: list[int] = []
    for low, high, value in intervals.pieces(start, end):
        assert low == start + len(found)
        found += [value] * (high - low)
    return found


@given(writes, st.integers(0, SIZE), st.integers(0, SIZE))
def test_the_map_agrees_with_an_array(ranges: list[tuple[int, int]], low: int, high: int) -> None:
    """After any writes each range reads what a byte array holds there."""
    intervals: IntervalMap[int] = IntervalMap(-1)
    array = [-1] * SIZE
    for number, (start, end) in enumerate(ranges):
        intervals.assign(start, end, number)
        array[start:end] = [number] * (end - start)
    assert flat(intervals) == array
    assert flat(intervals, low, high) == array[low:high]


@given(writes, writes, writes)
def test_a_rollback_restores_and_reports(
    before: list[tuple[int, int]], inner: list[tuple[int, int]], innermost: list[tuple[int, int]]
) -> None:
    """A rollback brings the old bytes back and tells what the fork had written, nested or not."""
    intervals: IntervalMap[int] = IntervalMap(-1)
    number = 0
    for start, end in before:
        number += 1
        intervals.assign(start, end, number)
    outer_state = flat(intervals)
    intervals.fork()
    touched = [False] * SIZE
    for start, end in inner:
        number += 1
        intervals.assign(start, end, number)
        touched[start:end] = [True] * (end - start)
    inner_state = flat(intervals)
    intervals.fork()
    for start, end in innermost:
        number += 1
        intervals.assign(start, end, number)
    intervals.rollback()
    assert flat(intervals) == inner_state
    report: dict[int, int] = {}
    for low, high, pieces in intervals.rollback():
        assert low == pieces[0][0] and high == pieces[-1][1]
        for start, end, value in pieces:
            report.update(dict.fromkeys(range(start, end), value))
    assert report == {at: inner_state[at] for at in range(SIZE) if touched[at]}
    assert flat(intervals) == outer_state


def test_many_pieces_spread_over_chunks() -> None:
    """Thousands of pieces, cut and covered in random order, still agree with an array."""
    rng = random.Random(1)
    size = 20_000
    intervals: IntervalMap[int] = IntervalMap(-1)
    array = [-1] * size
    for number in range(6_000):
        start = rng.randrange(size)
        end = min(size, start + rng.choice((1, 1, 2, 3, 50)))
        intervals.assign(start, end, number)
        array[start:end] = [number] * (end - start)
    intervals.assign(100, 15_000, -7)
    array[100:15_000] = [-7] * 14_900
    assert flat(intervals, 0, size) == array


def test_work_grows_with_the_writes() -> None:
    """Each write makes at most two pieces and forgets only what earlier ones made."""
    rng = random.Random(2)
    intervals: IntervalMap[int] = IntervalMap(-1)
    count = 20_000
    for number in range(count):
        start = rng.randrange(1_000_000)
        intervals.assign(start, start + rng.randrange(1, 5_000), number)
    assert intervals.steps <= 4 * count
    assert intervals.at(10**9)[1:] == (None, -1)
