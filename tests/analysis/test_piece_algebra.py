"""Pieces of pieces, and which bytes two pieces have in common."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import Piece, compose, pieces_overlap

PIECES = st.builds(
    lambda delta, row, gap, count: Piece(delta, row, row + gap, count),
    st.integers(0, 12),
    st.integers(0, 6),
    st.integers(0, 6),
    st.integers(1, 4),
)


def _bytes(piece: Piece) -> list[int]:
    """The places of a piece's bytes, in the order of its value."""
    return [
        piece.delta + at * piece.pitch + byte
        for at in range(piece.count)
        for byte in range(piece.row)
    ]


@given(PIECES, PIECES)
def test_a_piece_of_a_piece_has_the_bytes_that_are_meant(outer: Piece, inner: Piece) -> None:
    """The composed piece lists the very bytes, in order; refused is only what has no one pitch."""
    places = _bytes(outer)
    if inner.end > len(places):
        return
    wanted = [places[at] for at in _bytes(inner)]
    found = compose(outer, inner)
    if found is not None:
        assert _bytes(found) == wanted
        assert found.count == 1 or found.row < found.pitch
    else:
        assert not _has_one_pitch(wanted)


def _has_one_pitch(places: list[int]) -> bool:
    """Whether places are equal rows, three or more: two rows have one distance by chance."""
    breaks = [at for at in range(1, len(places)) if places[at] != places[at - 1] + 1]
    row = breaks[0] if breaks else len(places)
    starts = [places[at] for at in range(0, len(places), row or 1)]
    pitches = {b - a for a, b in pairwise(starts)}
    rows = [*breaks, len(places)] == list(range(row, len(places) + 1, row)) if row else True
    return rows and len(pitches) <= 1 and len(starts) != 2


@given(PIECES, PIECES)
def test_overlap_counts_bytes_and_not_the_gaps_between_them(one: Piece, other: Piece) -> None:
    """Two pieces overlap exactly where some byte is of both."""
    common = set(_bytes(one)) & set(_bytes(other))
    assert bool(common) == pieces_overlap(one, other) == pieces_overlap(other, one)


@pytest.mark.parametrize("count", [1 << 40])
def test_overlap_of_alike_rows_needs_no_walk(count: int) -> None:
    """Interleaved pieces with a very large number of rows are told apart at once."""
    one, other = Piece(0, 64, 96, count), Piece(64, 32, 96, count)
    assert not pieces_overlap(one, other)
    assert pieces_overlap(one, Piece(63, 32, 96, count))
