"""Rows of pieces of pieces: how tensors lie where joins or splits along inner axes have no task.

A piece along an inner axis lies in rows with gaps. A piece of such a piece lies where the rows put
it, which is known once it is known how the whole lies: wholes come before their pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ge_core.analysis import Piece, compose
from ge_core.errors import LayoutConflict


@dataclass(frozen=True, slots=True)
class _Cut:
    """A piece of a whole, by tensor and by memory."""

    whole: int
    part: int
    piece: Piece
    outer: int
    inner: int


class RowPlaces:
    """Places pieces in wholes that may have gaps themselves.

    Args:
        name: how to name a tensor in messages.

    Attributes:
        shapes: by memory with gaps, its rows; `delta` means nothing.
    """

    def __init__(self, name: Callable[[int], str]) -> None:
        self.shapes: dict[int, Piece] = {}
        self._name = name
        self._cuts: list[_Cut] = []

    def add(self, whole: int, part: int, piece: Piece, group: Sequence[int]) -> None:
        """Say that a tensor is a piece of another one.

        Args:
            group: by tensor, a number for the memory that it is.
        """
        self._cuts.append(_Cut(whole, part, piece, group[whole], group[part]))

    def resolve(self) -> list[int]:
        """For each piece, in the order they came, the bytes from the whole's start to its own.

        Raises:
            LayoutConflict: a memory would have two kinds of rows, or rows at several distances.
        """
        by_whole: dict[int, list[int]] = {}
        waiting: dict[int, int] = {}
        for at, cut in enumerate(self._cuts):
            by_whole.setdefault(cut.outer, []).append(at)
            waiting.setdefault(cut.outer, 0)
            waiting[cut.inner] = waiting.get(cut.inner, 0) + 1
        deltas: list[int | None] = [None] * len(self._cuts)
        known: dict[int, tuple[Piece | None, int]] = {}
        ready = [group for group, count in waiting.items() if not count]
        for outer in ready:
            for at in by_whole.get(outer, ()):
                cut = self._cuts[at]
                deltas[at] = self._place(cut, known)
                waiting[cut.inner] -= 1
                if not waiting[cut.inner]:
                    ready.append(cut.inner)
        return [
            self._round(cut) if delta is None else delta
            for cut, delta in zip(self._cuts, deltas, strict=True)
        ]

    def _place(self, cut: _Cut, known: dict[int, tuple[Piece | None, int]]) -> int:
        rows = self.shapes.get(cut.outer)
        placed = cut.piece if rows is None else compose(rows, cut.piece)
        if placed is None:
            assert rows is not None
            raise LayoutConflict(
                f"{self._name(cut.whole)} has rows {rows.pitch} bytes apart, "
                f"so {self._name(cut.part)} can't be a piece of it"
            )
        if cut.piece.size:
            shape = None if placed.contiguous else Piece(0, placed.row, placed.pitch, placed.count)
            before, tensor = known.setdefault(cut.inner, (shape, cut.part))
            if before != shape:
                one, other = (_pitch(found) for found in (before, shape))
                raise LayoutConflict(f"{self._name(tensor)} can't have rows {one} and {other}")
            if shape is not None:
                self.shapes[cut.inner] = shape
        return placed.delta

    def _round(self, cut: _Cut) -> int:
        """The place in a whole that is, in a circle, a piece of its own piece."""
        if not cut.piece.contiguous or cut.outer in self.shapes:
            raise LayoutConflict(
                f"{self._name(cut.part)} is a piece of {self._name(cut.whole)} and has it as one"
            )
        return cut.piece.delta


def _pitch(rows: Piece | None) -> str:
    return "without gaps" if rows is None else f"{rows.pitch} bytes apart"
