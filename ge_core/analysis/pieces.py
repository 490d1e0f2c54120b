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


def is_free_join(node: Node) -> bool:
    """Whether the node's operands are marked to lie in its result without padding."""
    return bool(node.attrs.get(JOIN_MARK) and node.attrs.get(REUSE_MARK))


def is_free_split(node: Node) -> bool:
    """Whether the node's results are marked to lie in its operand without padding."""
    return bool(node.attrs.get(SPLIT_MARK) and node.attrs.get(REUSE_MARK))


def join_pieces(node: Node) -> list[Piece] | None:
    """Where each operand of a task-free join lies in its result; None where a size is unknown.

    Unconnected operands take no room.
    """
    parts = [
        None if anchor.source is None else anchor.desc or anchor.source.desc
        for anchor in node.inputs
    ]
    return _pieces(node, parts)


def split_pieces(node: Node) -> list[Piece] | None:
    """Where each result of a task-free split lies in its operand; None where a size is unknown.

    None also where a window is none: of other bytes than the result has, or outside the operand.
    """
    window = node.attrs.get(WINDOW_MARK)
    if window is not None:
        piece = _window(node, window)
        return None if piece is None else [piece]
    return _pieces(node, [output.desc for output in node.outputs])


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


def _pieces(node: Node, parts: list[TensorDesc | None]) -> list[Piece] | None:
    axis = int(node.attrs.get(AXIS_MARK, 0))
    shapes = [_outer_and_row(part, axis) for part in parts]
    if any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    pitch = sum(row for _, row in known)
    counts = {count for count, row in known if row}
    if len(counts) > 1:
        return None
    count = next(iter(counts), 1)
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
