"""Where the operands of a task-free join, and the pieces of a task-free split, lie in the whole.

A task-free slice is a split with one piece that says itself where it lies (`WINDOW_MARK`): GE has
no such thing, and its axis and sizes alone would not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ge_core.ir import Node, TensorDesc
from ge_core.ir.dtypes import bits

JOIN_MARK = "_no_padding_continuous_input"
SPLIT_MARK = "_no_padding_continuous_output"
REUSE_MARK = "_output_reuse_input"
AXIS_MARK = "_reuse_input_on_dim_index"
WINDOW_MARK = "_reuse_input_window"
"""On a split with one output: where that lies in the input, as the four numbers of a `Piece`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a whole, in bytes.

    Attributes:
        delta: from the start of the whole to the first byte of the piece.
        row, pitch, count: `count` rows of `row` bytes, `pitch` bytes from one start to the next;
            one row is a contiguous piece.
    """

    delta: int
    row: int
    pitch: int
    count: int

    @property
    def contiguous(self) -> bool:
        """Whether the piece has no gaps."""
        return self.count == 1 or self.row == self.pitch

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return self.row * self.count

    @property
    def end(self) -> int:
        """One past the last byte, from the start of the whole."""
        return self.delta + ((self.count - 1) * self.pitch + self.row if self.size else 0)


def compose(outer: Piece, inner: Piece) -> Piece | None:
    """Where a piece of a piece lies in the outermost whole.

    Args:
        outer: where the middle tensor lies in the whole.
        inner: where the innermost one lies in the middle tensor, counted in bytes of its value.

    Returns:
        None where its rows do not lie at one distance: a piece has one level of gaps. (Two rows
        that are at one distance by chance are refused as well, unless each is a row of the outer.)
    """
    if not inner.size:
        return Piece(_address(outer, inner.delta), 0, 0, 1)
    if outer.contiguous:
        return _normal(outer.delta + inner.delta, inner.row, inner.pitch, inner.count)
    start = _address(outer, inner.delta)
    offset = inner.delta % outer.row
    if offset + inner.end - inner.delta <= outer.row:
        # All of it in one row of the outer piece.
        return _normal(start, inner.row, inner.pitch, inner.count)
    if inner.contiguous:
        if offset or inner.size % outer.row:
            return None
        return _normal(start, outer.row, outer.pitch, inner.size // outer.row)
    if inner.pitch % outer.row or offset + inner.row > outer.row:
        return None
    return _normal(start, inner.row, inner.pitch // outer.row * outer.pitch, inner.count)


def _address(outer: Piece, at: int) -> int:
    """Where byte `at` of a piece's value lies."""
    if outer.contiguous or not outer.row:
        return outer.delta + at
    row, offset = divmod(at, outer.row)
    return outer.delta + row * outer.pitch + offset


def _normal(delta: int, row: int, pitch: int, count: int) -> Piece:
    """A piece without gaps is one row."""
    if count == 1 or row == pitch:
        return Piece(delta, row * count, row * count, 1)
    return Piece(delta, row, pitch, count)


def pieces_overlap(one: Piece, other: Piece) -> bool:
    """Whether two pieces of one whole have a byte in common; gaps are not bytes of a piece."""
    if not one.size or not other.size or one.delta >= other.end or other.delta >= one.end:
        return False
    one = _normal(one.delta, one.row, one.pitch, one.count)
    other = _normal(other.delta, other.row, other.pitch, other.count)
    if one.count > 1 and other.count > 1 and one.pitch == other.pitch:
        # Row i of the one and row j of the other meet where j - i is between two bounds.
        distance = other.delta - one.delta
        low = -((distance + other.row - 1) // one.pitch)
        high = (one.row - 1 - distance) // one.pitch
        return max(low, 1 - one.count) <= min(high, other.count - 1)
    few, many = (one, other) if one.count <= other.count else (other, one)
    starts = range(few.delta, few.delta + few.count * few.pitch, few.pitch)
    return any(_touches(many, start, start + few.row) for start in starts)


def _touches(piece: Piece, low: int, high: int) -> bool:
    """Whether a piece in normal form has a byte in [low, high)."""
    if piece.count == 1:
        return piece.delta < high and low < piece.end
    first = max(0, (low - piece.row - piece.delta) // piece.pitch + 1)
    last = min(piece.count - 1, (high - 1 - piece.delta) // piece.pitch)
    return first <= last


def is_free_join(node: Node) -> bool:
    """Whether the node's operands are marked to lie in its result without padding."""
    return bool(node.attrs.get(JOIN_MARK) and node.attrs.get(REUSE_MARK))


def is_free_split(node: Node) -> bool:
    """Whether the node's results are marked to lie in its operand without padding."""
    return bool(node.attrs.get(SPLIT_MARK) and node.attrs.get(REUSE_MARK))


def join_pieces(node: Node, axis: int | None = None) -> list[Piece] | None:
    """Where each operand of a task-free join lies in its result; None where a size is unknown.

    Unconnected operands take no room.

    Args:
        axis: the stored dimension; None for what the node's mark says.
    """
    parts = [
        None if anchor.source is None else anchor.desc or anchor.source.desc
        for anchor in node.inputs
    ]
    return _pieces(node, parts, axis)


def split_pieces(node: Node, axis: int | None = None) -> list[Piece] | None:
    """Where each result of a task-free split lies in its operand; None where a size is unknown.

    None also where a window is none: of other bytes than the result has, or outside the operand.

    Args:
        axis: the stored dimension; None for what the node's mark says.
    """
    window = node.attrs.get(WINDOW_MARK)
    if window is not None:
        piece = _window(node, window)
        return None if piece is None else [piece]
    return _pieces(node, [output.desc for output in node.outputs], axis)


def _window(node: Node, given: object) -> Piece | None:
    """The piece that a slice's mark speaks of; None where it fits neither side."""
    if not isinstance(given, (list, tuple)) or len(given) != 4 or len(node.outputs) != 1:
        return None
    piece = Piece(*given)
    whole = node.inputs[0].desc if node.inputs else None
    size = node.outputs[0].desc.data_bytes
    if whole is None or whole.data_bytes is None or piece.row * piece.count != size:
        return None
    end = piece.delta + (piece.count - 1) * piece.pitch + piece.row
    return piece if piece.pitch >= piece.row and end <= whole.data_bytes else None


def _pieces(node: Node, parts: list[TensorDesc | None], given: int | None) -> list[Piece] | None:
    axis = int(node.attrs.get(AXIS_MARK, 0)) if given is None else given
    shapes = [_outer_and_row(part, axis) for part in parts]
    if any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    pitch = sum(row for _, row in known)
    counts = {count for count, row in known if row}
    if len(counts) > 1:
        return None
    count = next(iter(counts), 1)
    if not count:
        # No rows at all: every piece is empty, and starts where the whole does.
        return [Piece(0, 0, 0, 1) for _ in known]
    found: list[Piece] = []
    delta = 0
    for _, row in known:
        found.append(Piece(delta, row, row if count == 1 else pitch, count))
        delta += row
    return found


def _outer_and_row(part: TensorDesc | None, axis: int) -> tuple[int, int] | None:
    """How many rows a part has, and the bytes of one."""
    if part is None:
        return 1, 0
    width = bits(part.dtype)
    if part.shape is None or not part.is_static or width is None:
        return None
    row_bits = prod(part.shape[axis:]) * width
    # Pieces that do not end on a byte can't be addressed.
    return None if row_bits % 8 else (prod(part.shape[:axis]), row_bits // 8)
