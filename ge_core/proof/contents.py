"""Contents: what the bytes of a tensor stand for, interned so that equal bytes are one object.

A content is a sequence of segments over *sources*. A source is hash-consed from a key (what was
computed, from which contents), so that equal computations have equal sources. Equality of contents
is exact: two ways to write the same bytes are found by a fingerprint and compared atom by atom.

A tensor whose size nobody knows has a content without a length, which is one source as a whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import zip_longest
from typing import Final

from ge_core.proof.rows import cut, gather, interleave
from ge_core.proof.segments import Segment, Segments, atoms, fingerprint, join, plain, total

_SHOWN: Final = 3
"""Segments that a message names."""


class Content:
    """Interned: two contents are the same bytes exactly when they are the same object.

    Attributes:
        id: small number, for keys.
        length: bytes, or None where nobody knows them.
    """

    __slots__ = ("id", "length", "segments")

    def __init__(self, number: int, length: int | None, segments: Segments) -> None:
        self.id = number
        self.length = length
        self.segments = segments

    def __repr__(self) -> str:
        return f"<Content {self.id}: {self.length} bytes>"


class Store:
    """The contents and sources of one proof."""

    def __init__(self) -> None:
        self._sources: dict[Hashable, int] = {}
        self._labels: list[str] = []
        self._keys: list[Hashable] = []
        self._contents: dict[Segments, Content] = {}
        self._composed: dict[int, list[Content]] = {}
        self._whole: dict[int, Content] = {}
        self._listed: list[Content] = []
        self.empty: Final = self._new(0, ())

    # ---- sources -------------------------------------------------------------------------------

    def source(self, key: Hashable, label: str) -> int:
        """The source with that key; the label is for messages only."""
        found = self._sources.get(key)
        if found is None:
            found = self._sources[key] = len(self._labels)
            self._labels.append(label)
            self._keys.append(key)
        return found

    def unknown(self, label: str, length: int | None) -> Content:
        """Bytes that equal no others."""
        return self.whole(self.source(("unknown", len(self._labels)), label), length)

    def whole(self, source: int, length: int | None) -> Content:
        """A source from its first byte on."""
        if length is None:
            found = self._whole.get(source)
            if found is None:
                found = self._whole[source] = self._new(None, (plain(source, 0, 1),))
            return found
        return self.make((plain(source, 0, length),) if length else ())

    # ---- contents ------------------------------------------------------------------------------

    def make(self, segments: Segments) -> Content:
        """The content of segments that a `Builder` has merged."""
        if not segments:
            return self.empty
        found = self._contents.get(segments)
        if found is None:
            found = self._find(segments)
            self._contents[segments] = found
        return found

    def _find(self, segments: Segments) -> Content:
        """A content with the same bytes written otherwise, else a new one."""
        if len(segments) == 1 and segments[0][0] == 1:
            return self._new(segments[0][1][0][2], segments)
        alike = self._composed.setdefault(fingerprint(segments), [])
        for content in alike:
            if _same_atoms(content.segments, segments):
                return content
        content = self._new(total(segments), segments)
        alike.append(content)
        return content

    def _new(self, length: int | None, segments: Segments) -> Content:
        content = Content(len(self._listed), length, segments)
        self._listed.append(content)
        return content

    def part(self, content: Content, start: int, length: int | None) -> Content:
        """Bytes [start, start + length); without a length the content as it is.

        Bytes behind the end of a content are unknown, but the same each time they are asked for.
        """
        if length is None or (start == 0 and content.length == length):
            return content
        if content.length is None:
            key = ("part", content.id, start, length)
            return self.whole(self.source(key, f"{self.describe(content)}[{start}:]"), length)
        have = max(0, min(length, content.length - start))
        inside = cut(content.segments, start, have)
        if have == length:
            return self.make(inside)
        beyond = self.source(("beyond", content.id), f"behind the end of {self.describe(content)}")
        lacking = plain(beyond, max(0, start - content.length), length - have)
        return self.make(join([inside, [lacking]]))

    def gather(self, content: Content, start: int, row: int, pitch: int, count: int) -> Content:
        """The rows [start + i * pitch, + row) for i < count, one behind the other."""
        if start == 0 and content.length == row * count and (row == pitch or count == 1):
            return content
        last = start + (count - 1) * pitch + row if count > 0 else 0
        whole = self.part(content, 0, last) if content.length != last else content
        return self.make(gather(whole.segments, start, row, pitch, count))

    def interleave(self, rows: int, pieces: Sequence[Content]) -> Content:
        """Row i of every piece side by side, for i < rows; each piece holds `rows` equal rows."""
        if len(pieces) == 1:
            return pieces[0]
        return self.make(interleave(rows, [piece.segments for piece in pieces]))

    def join(self, pieces: Iterable[Content]) -> Content:
        """The pieces one behind the other."""
        listed = list(pieces)
        if len(listed) == 1:
            return listed[0]
        return self.make(join([piece.segments for piece in listed]))

    def overlay(self, content: Content, start: int, new: Content) -> Content:
        """The content with bytes from `start` on replaced."""
        if content.length is None or new.length is None:
            return new
        end = start + new.length
        if start == 0 and end >= content.length:
            return new
        before = self.part(content, 0, start)
        after = self.part(content, end, max(0, content.length - end))
        return self.join([before, new, after])

    # ---- messages ------------------------------------------------------------------------------

    def label(self, source: int) -> str:
        """What a source is called."""
        return self._labels[source]

    def key(self, source: int) -> Hashable:
        """What a source was made from."""
        return self._keys[source]

    def content(self, number: int) -> Content:
        """The content with that id."""
        return self._listed[number]

    def describe(self, content: Content) -> str:
        """The first segments, by their sources."""
        if content.length is None:
            return self._labels[content.segments[0][1][0][0]]
        shown = [self._segment(segment) for segment in content.segments[:_SHOWN]]
        more = len(content.segments) - len(shown)
        if more:
            shown.append(f"{more} more")
        return " + ".join(shown) if shown else "nothing"

    def _segment(self, segment: Segment) -> str:
        count, parts = segment
        if count == 1:
            source, start, length, _ = parts[0]
            return f"{self._labels[source]}[{start}:{start + length}]"
        rows = ", ".join(
            f"{self._labels[source]}[{start}:{start + row}, pitch {pitch}]"
            for source, start, row, pitch in parts[:_SHOWN]
        )
        return f"{count} rows of ({rows}{', ...' if len(parts) > _SHOWN else ''})"


def _same_atoms(one: Segments, other: Segments) -> bool:
    return all(a == b for a, b in zip_longest(atoms(one), atoms(other)))


def difference(one: Content, other: Content) -> tuple[int, int]:
    """The range from the first byte in which two contents differ to behind the last."""
    if one.length is None or other.length is None:
        return 0, max(one.length or 1, other.length or 1)
    first, last = -1, 0
    at = 0
    left, right = atoms(one.segments), atoms(other.segments)
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        size = min(a[2], b[2])
        if a[:2] != b[:2]:
            first = at if first < 0 else first
            last = at + size
        at += size
        a = (a[0], a[1] + size, a[2] - size) if a[2] > size else next(left, None)
        b = (b[0], b[1] + size, b[2] - size) if b[2] > size else next(right, None)
    longest = max(one.length, other.length)
    if at < longest:
        return (at if first < 0 else first), longest
    return max(first, 0), last
