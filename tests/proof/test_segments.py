"""Segments against an array that names the source and offset of every byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ge_core.proof.rows import cut, gather, interleave
from ge_core.proof.segments import (
    Segment,
    Segments,
    atoms,
    fingerprint,
    join,
    length,
    plain,
    total,
)

Bytes = list[tuple[int, int]]


def flat(segments: Segments | list[Segment]) -> Bytes:
    """(source, offset) of each byte, straight from the definition of a segment."""
    return [
        (source, start + turn * pitch + at)
        for count, parts in segments
        for turn in range(count)
        for source, start, row, pitch in parts
        for at in range(row)
    ]


parts = st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 4), st.integers(0, 8))
segment = st.tuples(st.integers(1, 4), st.lists(parts, min_size=1, max_size=3).map(tuple))
sequences = st.lists(segment, max_size=4)


@given(sequences)
def test_merging_keeps_the_bytes(pieces: list[Segment]) -> None:
    """Appending merges neighbours and drops empty parts; every byte stays where it was."""
    joined = join([pieces])
    assert flat(joined) == flat(pieces)
    assert total(joined) == len(flat(pieces))
    assert all(length(piece) for piece in joined)


@given(sequences, st.data())
def test_a_cut_is_the_slice_of_the_bytes(pieces: list[Segment], data: st.DataObject) -> None:
    """A byte range of a sequence, cut anywhere, holds the bytes of that range."""
    joined = join([pieces])
    size = total(joined)
    low = data.draw(st.integers(0, size))
    high = data.draw(st.integers(low, size))
    assert flat(cut(joined, low, high - low)) == flat(joined)[low:high]


@given(sequences, st.data())
def test_rows_are_gathered_one_by_one(pieces: list[Segment], data: st.DataObject) -> None:
    """Strided rows hold what slicing row by row gives."""
    joined = join([pieces])
    array = flat(joined)
    row = data.draw(st.integers(1, 6))
    pitch = data.draw(st.integers(row, 10))
    start = data.draw(st.integers(0, 6))
    most = (len(array) - start - row) // pitch + 1 if len(array) >= start + row else 0
    count = data.draw(st.integers(0, most))
    expected = [
        byte for at in range(count) for byte in array[start + at * pitch : start + at * pitch + row]
    ]
    assert flat(gather(joined, start, row, pitch, count)) == expected


@given(st.integers(1, 5), st.lists(sequences, min_size=1, max_size=3))
def test_interleaving_lays_rows_side_by_side(rows: int, pieces: list[list[Segment]]) -> None:
    """A join by rows holds row i of each piece, for every i in turn."""
    whole = [cut(join([p]), 0, total(join([p])) // rows * rows) for p in pieces]
    arrays = [flat(piece) for piece in whole]
    widths = [len(array) // rows for array in arrays]
    expected = [
        byte
        for row in range(rows)
        for array, width in zip(arrays, widths, strict=True)
        for byte in array[row * width : (row + 1) * width]
    ]
    assert flat(interleave(rows, whole)) == expected


@given(sequences, sequences)
def test_equal_bytes_have_equal_atoms_and_fingerprints(
    one: list[Segment], other: list[Segment]
) -> None:
    """Atoms are one form for one sequence of bytes; fingerprints never differ for equal bytes."""
    first, second = join([one]), join([other])
    same = flat(first) == flat(second)
    assert (list(atoms(first)) == list(atoms(second))) == same
    byte_by_byte = [plain(source, start, 1) for source, start in flat(first)]
    assert fingerprint(first) == fingerprint(byte_by_byte)
    assert list(atoms(byte_by_byte)) == list(atoms(first))


def test_split_and_join_along_an_inner_axis_give_the_tensor_back() -> None:
    """Cutting columns out of a tensor and laying them side by side is one plain segment again."""
    rows, widths = 50_000, [12, 4, 16]
    tensor = [plain(7, 0, rows * sum(widths))]
    pieces = [
        gather(tensor, sum(widths[:at]), width, sum(widths), rows)
        for at, width in enumerate(widths)
    ]
    assert [len(piece) for piece in pieces] == [1, 1, 1]
    assert interleave(rows, pieces) == (plain(7, 0, rows * sum(widths)),)


def test_writing_columns_one_after_the_other_gives_the_join() -> None:
    """Rows written in place between others end in the segments that the join has."""
    rows = 1000
    a, b = [plain(1, 0, 4 * rows)], [plain(2, 0, 8 * rows)]
    joined = interleave(rows, [a, b])
    tail = cut(joined, 4, 12 * rows - 4)
    assert len(joined) == 1
    assert join([cut(joined, 0, 4), tail]) == joined
    assert join([cut(joined, 0, 30), cut(joined, 30, 12 * rows - 30)]) == joined


def test_nested_joins_are_flat() -> None:
    """A join of a join has the segments of the join of all pieces."""
    rows = 100
    a, b, c = ([plain(source, 0, 4 * rows)] for source in (1, 2, 3))
    assert interleave(rows, [interleave(rows, [a, b]), c]) == interleave(rows, [a, b, c])


def test_no_rows_hold_nothing() -> None:
    """A join behind a dimension of zero has no rows to lay side by side."""
    assert () == interleave(0, [(), ()])
    assert () == gather((), 0, 4, 8, 0)
