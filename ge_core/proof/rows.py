"""Cutting and interleaving segments: what slices, splits and joins do to the bytes they move."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ge_core.proof.segments import (
    MANY_PERIODS,
    Builder,
    Part,
    Segment,
    Segments,
    join,
    length,
    period,
    plain,
    total,
)


def cut(segments: Sequence[Segment], start: int, size: int) -> Segments:
    """Bytes [start, start + size)."""
    build = Builder()
    at = 0
    end = start + size
    for segment in segments:
        here = length(segment)
        low, high = max(start, at), min(end, at + here)
        if low < high:
            build.extend(_cut_one(segment, low - at, high - at))
        at += here
        if at >= end:
            break
    return build.finish()


def _cut_one(segment: Segment, low: int, high: int) -> Iterator[Segment]:
    """Bytes [low, high) of one segment: the end of a period, whole ones, the start of one."""
    count, parts = segment
    if count == 1:
        source, start, _, _ = parts[0]
        yield plain(source, start + low, high - low)
        return
    size = period(segment)
    first, offset = divmod(low, size)
    last, rest = divmod(high, size)
    if first == last:
        yield from _columns(parts, first, offset, rest)
        return
    if offset:
        yield from _columns(parts, first, offset, size)
        first += 1
    if last > first:
        yield last - first, tuple((s, at + first * p, r, p) for s, at, r, p in parts)
    if rest:
        yield from _columns(parts, last, 0, rest)


def _columns(parts: tuple[Part, ...], row: int, low: int, high: int) -> Iterator[Segment]:
    """Bytes [low, high) of one period, as plain segments."""
    for source, start, size, _ in _part_columns(parts, row, 1, low, high):
        yield plain(source, start, size)


def _part_columns(
    parts: tuple[Part, ...], row: int, step: int, low: int, high: int
) -> Iterator[Part]:
    """Bytes [low, high) of a period, in every `step`-th period from `row` on."""
    at = 0
    for source, start, size, pitch in parts:
        left, right = max(low, at), min(high, at + size)
        if left < right:
            yield source, start + row * pitch + left - at, right - left, pitch * step
        at += size


def gather(segments: Sequence[Segment], start: int, row: int, pitch: int, count: int) -> Segments:
    """The rows [start + i * pitch, + row) for i < count, one behind the other."""
    if count <= 0 or row <= 0:
        return ()
    if count == 1 or row == pitch:
        return cut(segments, start, row * count)
    ends = _ends(segments)
    build = Builder()
    done = 0
    while done < count:
        # As many rows as lie wholly inside the segment that holds the next row's first byte.
        low = start + done * pitch
        at = bisect_right(ends, low)
        base = ends[at - 1] if at else 0
        fit = (ends[at] - low - row) // pitch + 1 if ends[at] - low >= row else 0
        fit = min(fit, count - done)
        if fit > 1:
            build.extend(_gather_one(segments[at], low - base, row, pitch, fit))
            done += fit
        else:
            build.extend(cut(segments, low, row))
            done += 1
    return build.finish()


def _gather_one(segment: Segment, start: int, row: int, pitch: int, count: int) -> Segments:
    """`gather` inside one segment."""
    known, parts = segment
    if known == 1:
        source, first, _, _ = parts[0]
        return ((count, ((source, first + start, row, pitch),)),)
    size = period(segment)
    offset = start % size
    if pitch % size == 0 and (offset + row + size - 1) // size <= MANY_PERIODS:
        first, step = start // size, pitch // size
        columns: list[Part] = []
        for turn in range((offset + row + size - 1) // size):
            low, high = max(0, offset - turn * size), min(size, offset + row - turn * size)
            columns += _part_columns(parts, first + turn, step, low, high)
        return Builder().extend([(count, tuple(columns))]).finish()
    build = Builder()
    for at in range(count):
        low = start + at * pitch
        build.extend(_cut_one(segment, low, low + row))
    return build.finish()


def interleave(rows: int, pieces: Sequence[Sequence[Segment]]) -> Segments:
    """Row i of every piece side by side, for i < rows; each piece holds `rows` equal rows."""
    if rows <= 0:
        return ()
    if rows == 1:
        return join(pieces)
    widths = [total(piece) // rows for piece in pieces]
    filled = [(piece, width) for piece, width in zip(pieces, widths, strict=True) if width]
    if not filled:
        return ()
    marks = {0, rows}
    for piece, width in filled:
        for end in _ends(piece):
            marks.update((end // width, -(-end // width)))
    build = Builder()
    places = sorted(marks)
    for low, high in pairwise(places):
        chunk = [cut(piece, low * width, (high - low) * width) for piece, width in filled]
        build.extend(_interleave_chunk(high - low, chunk, [width for _, width in filled]))
    return build.finish()


def _interleave_chunk(rows: int, pieces: list[Segments], widths: list[int]) -> Iterator[Segment]:
    """`interleave` where each piece is one segment, so that most become one interleaving."""
    if rows == 1:
        for piece in pieces:
            yield from piece
        return
    parts: list[Part] = []
    for piece, width in zip(pieces, widths, strict=True):
        columns = _as_rows(piece, width)
        if columns is None:
            break
        parts += columns
    else:
        yield rows, tuple(parts)
        return
    for row in range(rows):
        for piece, width in zip(pieces, widths, strict=True):
            yield from cut(piece, row * width, width)


def _as_rows(piece: Segments, width: int) -> list[Part] | None:
    """The parts of one row of a piece; None where its rows are not alike."""
    if len(piece) != 1:
        return None
    count, parts = piece[0]
    if count == 1:
        source, start, _, _ = parts[0]
        return [(source, start, width, width)]
    size = period(piece[0])
    if width % size or width // size > MANY_PERIODS:
        return None
    step = width // size
    return [part for turn in range(step) for part in _part_columns(parts, turn, step, 0, size)]


def _ends(segments: Sequence[Segment]) -> list[int]:
    found: list[int] = []
    at = 0
    for segment in segments:
        at += length(segment)
        found.append(at)
    return found
