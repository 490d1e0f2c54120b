"""When the result of a Slice can simply be a part of its input: GE has no such rule.

The rules are those for a split with one piece, except that the piece says where it lies. The result
is read where it is and nobody may change it, so windows may overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

from ge_concat_notask.memory import Chain
from ge_concat_notask.pieces import piece_refusal, sum_refusal
from ge_concat_notask.refusal import Refusal, refuse
from ge_concat_notask.slice_window import box_of, is_plain, piece_of
from ge_concat_notask.split_rules import SplitRules
from ge_core.api import InputAnchor, Piece, bits


class SliceRules(SplitRules):
    """The checks on one slice."""

    def pieces(self) -> list[Piece] | None:
        """Where the result lies in the input; None where that is not known."""
        box = box_of(self.node)
        piece = None if box is None or any(by != 1 for by in box.step) else piece_of(self.node, box)
        return None if piece is None else [piece]

    def _axis(self, edge: InputAnchor) -> Iterator[Refusal]:
        """The bounds are known, and what lies between them is one run of bytes."""
        node = self.node
        source, out = edge.desc, node.outputs[0].desc
        assert source is not None
        if not (is_plain(source) and is_plain(out)):
            yield refuse("SLICED_FORMAT", edge, format=source.format)
            return
        box = box_of(node)
        if box is None or len(node.outputs) != 1:
            yield refuse("UNKNOWN_BOUNDS", node)
            return
        over = next((axis for axis, by in enumerate(box.step) if by != 1), None)
        if over is not None:
            yield refuse("STEPS_OVER", node, axis=over, step=box.step[over])
            return
        if out.elements == 0:
            yield refuse("EMPTY_PIECE", node)
            return
        width = bits(source.dtype)
        if width is None:
            yield refuse("NO_ELEMENT_SIZE", edge, dtype=source.dtype)
            return
        piece = piece_of(node, box)
        if piece is None and width < 8:
            yield refuse("OFF_BYTE_PIECE", at=0)
        elif piece is not None and self._in_rows(piece, edge):
            yield from self._rows(edge)
        elif piece is None or not piece.contiguous:
            cut = [a for a, size in enumerate(out.shape or ()) if size != (source.shape or ())[a]]
            yield refuse("NOT_OUTERMOST", edge, axis=cut[-1])

    def inner_axis(self) -> int:
        """A slice says itself where it lies."""
        return 0

    def _in_rows(self, piece: Piece, edge: InputAnchor) -> bool:
        """Whether the result may lie in rows with gaps."""
        if not (self.setting.beyond and self.setting.target.strided) or edge.source is None:
            return False
        return not piece.contiguous or self.memory.chain(edge.source).gaps

    def _sizes(self, edge: InputAnchor, chain: Chain) -> Iterator[Refusal]:
        pieces = self.pieces()
        if pieces is None or edge.desc is None or edge.source is None:
            return  # told already
        output = self.node.outputs[0]
        start = pieces[0].delta
        widest = self.memory.uses(output).widest
        granule = self.setting.target.run_align
        if granule is not None:
            # Nothing has to start behind it, so that only where it starts itself matters.
            if start % granule:
                yield refuse("UNALIGNED_PIECE", at=0, granule=granule)
        else:
            found = piece_refusal(0, output.desc, self.setting.target, start, widest)
            if found is not None:
                yield found
        for whole in (edge.source.desc, *([] if chain.whole else [chain.root.desc])):
            found = sum_refusal(whole, [edge.desc])
            if found is not None:
                yield found
        size = pieces[0].row * pieces[0].count
        if size != output.desc.data_bytes:
            yield refuse("SIZES_DISAGREE", pieces=output.desc.data_bytes, whole=size)
