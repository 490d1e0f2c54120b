"""Joining the contents that the arms of an If or Case leave.

Bytes that are the same in every arm are just that. Where they differ, a *phi* source stands for
"whichever arm has run": it is numbered like the first arm's source, and keyed by how far the other
arms' bytes lie from there. So a slice of a phi is the phi of the slices, wherever it is cut.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from ge_core.proof.contents import Content, Store
from ge_core.proof.rows import cut
from ge_core.proof.segments import Builder, Part, Segment, Segments, length, period, plain


def phi(store: Store, key: Hashable, label: str, arms: Sequence[Content]) -> Content:
    """The content of memory that holds `arms[i]` after arm i.

    Args:
        key: what decides between the arms; equal keys and equal arms give equal contents.
        label: for messages.
    """
    first = arms[0]
    if all(arm is first for arm in arms):
        return first
    if first.length is None or any(arm.length != first.length for arm in arms):
        lengths = {arm.length for arm in arms}
        whole = ("phi", key, tuple([arm.id for arm in arms]))
        size = lengths.pop() if len(lengths) == 1 else None
        return store.whole(store.source(whole, label), size)
    build = Builder()
    for chunk in _aligned([arm.segments for arm in arms]):
        build.extend(_phi_chunk(store, key, label, chunk))
    return store.make(build.finish())


def _aligned(arms: list[Segments]) -> Iterator[list[Segment]]:
    """Cut the arms at one another's boundaries, so that each piece is one segment in every arm."""
    waiting = [arms]
    while waiting:
        pieces = waiting.pop()
        if all(len(piece) == 1 for piece in pieces):
            yield [piece[0] for piece in pieces]
            continue
        size = min(length(piece[0]) for piece in pieces if piece)
        rest = sum(length(segment) for segment in pieces[0]) - size
        if rest:
            waiting.append([cut(piece, size, rest) for piece in pieces])
        waiting.append([cut(piece, 0, size) for piece in pieces])


def _phi_chunk(store: Store, key: Hashable, label: str, chunk: list[Segment]) -> Iterator[Segment]:
    if all(segment == chunk[0] for segment in chunk):
        yield chunk[0]
        return
    shaped = _same_shape(chunk)
    if shaped is not None:
        count, rows = shaped
        parts = [_phi_part(store, key, label, row) for row in zip(*rows, strict=True)]
        yield count, tuple(parts)
        return
    # Periods that don't match: byte ranges of the arms that are contiguous in all of them.
    for pieces in _contiguous([list(_atoms_of(segment)) for segment in chunk]):
        source, start, size, _ = _phi_part(store, key, label, pieces)
        yield plain(source, start, size)


def _phi_part(store: Store, key: Hashable, label: str, arms: Sequence[Part]) -> Part:
    """The phi of parts with equal rows and pitches."""
    _, start, row, pitch = arms[0]
    if all(part == arms[0] for part in arms):
        return arms[0]
    apart = tuple([(part[0], part[1] - start) for part in arms])
    return store.source(("phi", key, apart), label), start, row, pitch


def _same_shape(chunk: list[Segment]) -> tuple[int, list[tuple[Part, ...]]] | None:
    """The arms as segments of one count with parts of equal rows and pitches; None: they aren't."""
    model = next((segment for segment in chunk if segment[0] > 1), chunk[0])
    count, parts = model
    if count == 1:
        return count, [segment[1] for segment in chunk]
    size = period(model)
    rows: list[tuple[Part, ...]] = []
    for segment in chunk:
        if segment[0] == 1:
            if any(part[3] != size for part in parts):
                return None
            rows.append(_laced(segment[1][0], parts, size))
            continue
        if segment[0] != count or [p[2:] for p in segment[1]] != [p[2:] for p in parts]:
            return None
        rows.append(segment[1])
    return count, rows


def _laced(part: Part, like: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """A contiguous range written with the rows of an interleaving."""
    source, start, _, _ = part
    found: list[Part] = []
    for _, _, row, _ in like:
        found.append((source, start, row, size))
        start += row
    return tuple(found)


def _atoms_of(segment: Segment) -> Iterator[Part]:
    count, parts = segment
    for turn in range(count):
        for source, start, row, pitch in parts:
            yield source, start + turn * pitch, row, 0


def _contiguous(arms: list[list[Part]]) -> Iterator[list[Part]]:
    places = [0] * len(arms)
    taken = [0] * len(arms)
    while places[0] < len(arms[0]):
        heads = [arm[at] for arm, at in zip(arms, places, strict=True)]
        size = min(head[2] - done for head, done in zip(heads, taken, strict=True))
        yield [
            (source, start + done, size, 0)
            for (source, start, _, _), done in zip(heads, taken, strict=True)
        ]
        for at, head in enumerate(heads):
            taken[at] += size
            if taken[at] == head[2]:
                places[at] += 1
                taken[at] = 0
