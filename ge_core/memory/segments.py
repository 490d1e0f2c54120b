"""Which bytes of a class of tensors are in use when.

The members of a class lie at fixed distances and may cover one another: a join its operands, a
split's input its pieces. The class is cut where members begin and end; each segment is in use
whenever one of the members that cover it is. Segments with equal lives that touch are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ge_core.memory.access import Access
from ge_core.memory.lives import Lives, Span

WORK_LIMIT: Final = 4_000_000
"""Members x segments of one class; beyond it the class is in use as a whole."""


class Member(NamedTuple):
    """The bytes [low, high) of a class, and who touches them."""

    low: int
    high: int
    accesses: list[Access]


class Segment(NamedTuple):
    """The bytes [low, high) of a class and one time at which they are in use."""

    low: int
    high: int
    span: Span


def segments(members: Sequence[Member], lives: Lives) -> list[Segment]:
    """The segments of a class, by address, then by time. Bytes that nobody touches have none."""
    low, high = members[0].low, members[0].high
    if all(member.low == low and member.high == high for member in members):
        accesses = [access for member in members for access in member.accesses]
        return _uniform(low, high, accesses, lives)
    cuts = sorted({cut for member in members for cut in (member.low, member.high)})
    if lives.plain:
        return _joined(_painted(members, cuts, lives))
    if len(cuts) * len(members) > WORK_LIMIT:
        accesses = [access for member in members for access in member.accesses]
        return _uniform(cuts[0], cuts[-1], accesses, lives)
    return _joined(_covered(members, cuts, lives))


def _uniform(low: int, high: int, accesses: list[Access], lives: Lives) -> list[Segment]:
    return [Segment(low, high, span) for span in lives.spans(accesses)] if accesses else []


def _covered(members: Sequence[Member], cuts: list[int], lives: Lives) -> list[list[Segment]]:
    """Every segment with the accesses of all members over it."""
    place = {cut: at for at, cut in enumerate(cuts)}
    over: list[list[Access]] = [[] for _ in cuts]
    for member in members:
        for at in range(place[member.low], place[member.high]):
            over[at].extend(member.accesses)
    return [_uniform(cuts[at], cuts[at + 1], over[at], lives) for at in range(len(cuts) - 1)]


def _painted(members: Sequence[Member], cuts: list[int], lives: Lives) -> list[list[Segment]]:
    """The same for one interval per member, in near linear time.

    Of the members over a segment only the one that begins first and the one that ends last count.
    Painting members in that order, each segment is coloured once.
    """
    place = {cut: at for at, cut in enumerate(cuts)}
    known = [
        (lives.spans(member.accesses)[0], place[member.low], place[member.high])
        for member in members
        if member.accesses
    ]
    count = len(cuts) - 1
    first: list[int | None] = [None] * count
    last: list[int | None] = [None] * count
    _paint(first, [(span.first, low, high) for span, low, high in known])
    _paint(last, [(span.last, low, high) for span, low, high in known], falling=True)
    found: list[list[Segment]] = []
    for at in range(count):
        begin, end = first[at], last[at]
        if begin is None or end is None:
            found.append([])
        else:
            found.append([Segment(cuts[at], cuts[at + 1], Span(begin, end))])
    return found


def _paint(
    colours: list[int | None], strokes: list[tuple[int, int, int]], *, falling: bool = False
) -> None:
    """Give each place the least (or greatest) colour of the strokes over it."""
    following = list(range(len(colours) + 1))

    def free(at: int) -> int:
        while following[at] != at:
            following[at] = following[following[at]]
            at = following[at]
        return at

    for colour, low, high in sorted(strokes, reverse=falling):
        at = free(low)
        while at < high:
            colours[at] = colour
            following[at] = at + 1
            at = free(at)


def _joined(found: list[list[Segment]]) -> list[Segment]:
    """Neighbours with equal lives become one segment."""
    joined: list[list[Segment]] = []
    for parts in found:
        before = joined[-1] if joined else []
        if (
            parts
            and before
            and before[0].high == parts[0].low
            and [segment.span for segment in before] == [segment.span for segment in parts]
        ):
            joined[-1] = [
                Segment(old.low, new.high, old.span) for old, new in zip(before, parts, strict=True)
            ]
        elif parts:
            joined.append(parts)
    return [segment for parts in joined for segment in parts]
