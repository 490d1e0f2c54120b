"""Segments: where the bytes of a content come from.

A segment is `(count, parts)`; each part is `(source, start, row, pitch)`. It stands for `count`
periods; period i lays the parts side by side, each of them the `row` bytes of `source` that begin
at `start + i * pitch`. One part is a strided cut; several are an interleaving, what a join along an
inner axis leaves. A plain segment, `(1, ((source, start, length, 0),))`, is one contiguous range.

`Builder` merges neighbours, so that the usual ways to write equal bytes end in equal segments.
The form is not canonical for every interleaving; who needs certainty compares `atoms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

Part = tuple[int, int, int, int]
Segment = tuple[int, tuple[Part, ...]]
Segments = tuple[Segment, ...]

MANY_PERIODS: Final = 64
"""An interleaving row that spans more periods than this is written out row by row."""


def plain(source: int, start: int, length: int) -> Segment:
    """One contiguous range of a source."""
    return 1, ((source, start, length, 0),)


def period(segment: Segment) -> int:
    """Bytes of one period."""
    return sum([part[2] for part in segment[1]])


def length(segment: Segment) -> int:
    """Bytes of the segment."""
    return segment[0] * period(segment)


def total(segments: Iterable[Segment]) -> int:
    """Bytes of a sequence of segments."""
    return sum([length(segment) for segment in segments])


class Builder:
    """Appends segments and merges neighbours."""

    __slots__ = ("_done", "_has_lace")

    def __init__(self) -> None:
        self._done: list[Segment] = []
        self._has_lace = False

    def extend(self, segments: Iterable[Segment]) -> Builder:
        """Append several."""
        for segment in segments:
            self.append(segment)
        return self

    def append(self, segment: Segment) -> None:
        """Append one segment; empty parts and counts vanish."""
        count, parts = segment
        if count == 1:
            for source, start, row, _ in parts:
                if row:
                    self._append_plain(source, start, row)
            return
        if count == 0:
            return
        parts = _merge_parts(parts)
        if not parts:
            return
        if len(parts) == 1:
            source, start, row, pitch = parts[0]
            if row == pitch:
                self._append_plain(source, start, row * count)
                return
        self._append_lace(count, parts)

    def finish(self) -> Segments:
        """What has been appended."""
        return tuple(self._done)

    def _append_plain(self, source: int, start: int, row: int) -> None:
        done = self._done
        if done:
            count, parts = done[-1]
            if count == 1:
                last = parts[0]
                if last[0] == source and last[1] + last[2] == start:
                    done[-1] = 1, ((source, last[1], last[2] + row, 0),)
                    return
        done.append((1, ((source, start, row, 0),)))
        if self._has_lace:
            self._close_period()

    def _append_lace(self, count: int, parts: tuple[Part, ...]) -> None:
        self._has_lace = True
        done = self._done
        if done and done[-1][0] > 1:
            known, before = done[-1]
            if _continues(before, parts, known):
                done[-1] = known + count, before
                return
        # Atoms in front that are the end of an earlier period: let the interleaving begin there,
        # which leaves as many atoms behind it.
        left: list[Part] = []
        while done and done[-1][0] == 1 and len(left) < len(parts):
            atom = done[-1][1][0]
            source, start, row, pitch = parts[-1]
            if atom[:3] != (source, start - pitch, row):
                break
            done.pop()
            left.insert(0, (source, start + (count - 1) * pitch, row, 0))
            parts = ((source, start - pitch, row, pitch), *parts[:-1])
        if left and done and done[-1][0] > 1 and _continues(done[-1][1], parts, done[-1][0]):
            done[-1] = done[-1][0] + count, done[-1][1]
        else:
            done.append((count, parts))
        for source, start, row, _ in left:
            self._append_plain(source, start, row)

    def _close_period(self) -> None:
        """Let an interleaving swallow atoms behind it that are its next period."""
        done = self._done
        back = 1
        while back < len(done) and done[-1 - back][0] == 1:
            back += 1
            if back > MANY_PERIODS:
                return
        if back >= len(done):
            return
        count, parts = done[-1 - back]
        if len(parts) != back:
            return
        for at, (source, start, row, pitch) in enumerate(parts):
            if done[at - back][1][0][:3] != (source, start + count * pitch, row):
                return
        del done[-back:]
        done[-1] = count + 1, parts


def _merge_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    found: list[Part] = []
    for part in parts:
        source, start, row, pitch = part
        if not row:
            continue
        if found:
            last = found[-1]
            if last[0] == source and last[3] == pitch and last[1] + last[2] == start:
                found[-1] = source, last[1], last[2] + row, pitch
                continue
        found.append(part)
    return tuple(found)


def _continues(before: tuple[Part, ...], after: tuple[Part, ...], count: int) -> bool:
    """Whether `after` is what period `count` of `before` would be."""
    return len(before) == len(after) and all(
        a[0] == b[0] and a[2] == b[2] and a[3] == b[3] and a[1] + count * a[3] == b[1]
        for a, b in zip(before, after, strict=True)
    )


def join(pieces: Iterable[Iterable[Segment]]) -> Segments:
    """The pieces one behind the other."""
    build = Builder()
    for piece in pieces:
        build.extend(piece)
    return build.finish()


def atoms(segments: Iterable[Segment]) -> Iterator[tuple[int, int, int]]:
    """(source, start, length) of the longest contiguous ranges: one form for equal bytes."""
    source, start, size = -1, 0, 0
    for count, parts in segments:
        for turn in range(count):
            for other, first, row, pitch in parts:
                begin = first + turn * pitch
                if other == source and begin == start + size:
                    size += row
                    continue
                if size:
                    yield source, start, size
                source, start, size = other, begin, row
    if size:
        yield source, start, size


_PRIME: Final = (1 << 61) - 1


def fingerprint(segments: Iterable[Segment]) -> int:
    """A number that depends on the bytes only, not on how segments write them.

    The sum over all bytes of a weight of the source times a polynomial in the byte's place and its
    offset in the source; equal numbers don't prove equal bytes.
    """
    number = 0
    place = 0
    for count, parts in segments:
        size = sum([part[2] for part in parts])
        at = place
        turns = count * (count - 1) // 2
        squares = (count - 1) * count * (2 * count - 1) // 6
        for source, start, row, pitch in parts:
            bytes_ = row * (row - 1) // 2
            # Sums over the rows of their first place, of their first offset, and of the product.
            places = count * at + size * turns
            offsets = count * start + pitch * turns
            product = (
                count * at * start + (at * pitch + size * start) * turns + size * pitch * squares
            )
            both = (
                row * product
                + (places + offsets) * bytes_
                + count * ((row - 1) * row * (2 * row - 1) // 6)
            )
            place_sum = row * places + count * bytes_
            offset_sum = row * offsets + count * bytes_
            weight = (source + 1) * 0x9E3779B97F4A7C15 % _PRIME
            weight = weight * weight % _PRIME
            number += weight * (3 * both + 5 * place_sum + 7 * offset_sum + 11 * count * row)
            at += row
        place += count * size
    return number % _PRIME
