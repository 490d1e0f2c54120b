"""Pieces along inner axes: rows with gaps, for targets and ops that read and write such rows.

GE joins and cuts without a task only along the outermost axis. Elsewhere operands and pieces are
not consecutive, but rows at one distance (pitch). Beyond GE they may lie so where the target
declares `strided` and the traits of every op that writes or reads them say `strided_out` and
`strided_in`. Here stands what is asked beyond that: the axis is a whole dimension of the stored
shape, views keep whole rows, and pieces of pieces have one pitch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from ge_concat_notask import axis as axes
from ge_concat_notask.marks import JOINED, is_marked
from ge_concat_notask.refusal import Refusal, refuse
from ge_core.api import (
    BlockTable,
    InputAnchor,
    Node,
    OpRegistry,
    OutputAnchor,
    Piece,
    TensorDesc,
    aligned_shape,
    axis_maps,
    compose,
    join_pieces,
    parse_format,
)

if TYPE_CHECKING:
    from ge_concat_notask.memory import Chain
    from ge_concat_notask.setting import Setting


def rows_axis(descs: Sequence[TensorDesc], axis: int, at: Setting) -> int:
    """The stored dimension along which pieces of these tensors are rows; 0 where they have none.

    0 also where pieces along origin axis `axis` are consecutive, or nothing of the kind is allowed.
    """
    if not (at.beyond and at.target.strided) or not descs:
        return 0
    if any(axes.axis_fault(desc, axis, at.blocks) != axes.NOT_OUTERMOST for desc in descs):
        return 0
    found = {whole_dimension(desc, axis, at.blocks) for desc in descs}
    return (found.pop() or 0) if len(found) == 1 else 0


def whole_dimension(desc: TensorDesc, axis: int, blocks: BlockTable) -> int | None:
    """The stored dimension that is exactly an origin axis, without padding; None where none is."""
    origin, stored = desc.origin_shape, desc.shape
    if origin is None or stored is None:
        return None
    if desc.format == desc.origin_format and stored == origin:
        return axis
    if parse_format(desc.format).groups > 1:
        return None
    maps = axis_maps(desc.origin_format, desc.format, len(origin))
    granules = aligned_shape(
        desc.origin_format, desc.format, origin, desc.dtype, blocks=blocks, stored_width=True
    )
    if maps is None or granules is None or len(maps.backward) != len(stored):
        return None
    places = maps.forward[axis]
    if len(places) != 1 or list(maps.backward[places[0]]) != [axis] or granules[axis] != 1:
        return None
    return places[0] if stored[places[0]] == origin[axis] else None


def may_stride(anchor: InputAnchor | OutputAnchor, ops: OpRegistry) -> bool:
    """Whether a node reads this input, or writes this output, in rows with gaps.

    What runs subgraphs does not: whoever is inside would have to.
    """
    traits = ops.traits(anchor.node)
    if traits.has_subgraphs or anchor.node.subgraphs:
        return False
    return traits.strided_in if isinstance(anchor, InputAnchor) else traits.strided_out


def keeps_rows(desc: TensorDesc, piece: Piece) -> bool:
    """Whether a tensor seen in this shape is whole rows of a piece: a view may not cut them."""
    if piece.contiguous:
        return True
    shape = desc.shape or ()
    return any(prod(shape[:at]) == piece.count for at in range(len(shape) + 1))


def join_refusals(
    node: Node, chains: Sequence[tuple[InputAnchor, Chain]], axis: int, at: Setting
) -> Iterator[Refusal]:
    """What stands against rows as operands of a join.

    Args:
        chains: the operands, with the way back to the owners of their bytes.
        axis: the stored dimension.
    """
    pieces = join_pieces(node, axis)
    if pieces is None:
        yield refuse("OFF_BYTE_PIECE", at=0)
        return
    for edge, chain in chains:
        piece = pieces[edge.index]
        yield from _unaligned(edge.index, piece, at, at.memory.uses(chain.root).widest)
        if chain.complete and not piece.contiguous:
            yield from _operand(node, edge, chain, piece, at)


def _operand(
    node: Node, edge: InputAnchor, chain: Chain, piece: Piece, at: Setting
) -> Iterator[Refusal]:
    """An operand, and all that lies in it already."""
    waiting = [(chain, piece)]
    joins = {node}
    touched: list[tuple[OutputAnchor, Piece]] = []
    while waiting:
        chain, piece = waiting.pop()
        root = chain.root
        if chain.gaps or chain.delta or not chain.complete:
            yield refuse("ROWS_IN_ROWS", chain.outputs[0], edge=edge, tensor=chain.outputs[0])
            continue
        touched.append((root, piece))
        if not (is_marked(root.node) and root.node.attrs.get(JOINED)):
            if not may_stride(root, at.ops):
                writer = root.node
                yield refuse(
                    "WRITER_NOT_STRIDED", root, edge=edge, writer=writer.name, op=writer.op
                )
            continue
        joins.add(root.node)
        for anchor, inner in zip(root.node.inputs, join_pieces(root.node) or (), strict=True):
            if anchor.source is None:
                continue
            found = compose(piece, inner)
            if found is None:
                yield refuse("ROWS_IN_ROWS", anchor.source, edge=edge, tensor=anchor.source)
            else:
                waiting.append((at.memory.chain(anchor.source), found))
    for root, piece in touched:
        yield from _readers(root, piece, edge, at)
        uses = at.memory.uses(root)
        for reader in (*uses.placing, *uses.virtual):
            if reader.node not in joins:
                yield refuse("ROWS_IN_ROWS", (reader, root), edge=edge, tensor=root)
                break


def cut_refusals(
    chain: Chain, edge: InputAnchor, pieces: Sequence[Piece] | None, node: Node, at: Setting
) -> Iterator[Refusal]:
    """What stands against rows as outputs of a split or slice.

    Args:
        chain: from the input back to the owner of its bytes.
        pieces: where the outputs lie in the input.
    """
    if pieces is None:
        yield refuse("OFF_BYTE_PIECE", at=0)
        return
    for output, inner in zip(node.outputs, pieces, strict=True):
        piece = chain.place(inner)
        if piece is None:
            yield refuse("ROWS_IN_ROWS", output, edge=edge, tensor=output)
            continue
        yield from _unaligned(output.index, piece, at, at.memory.uses(output).widest)
        if piece.contiguous:
            continue
        yield from _readers(output, piece, None, at)
        uses = at.memory.uses(output)
        for reader in (*uses.placing, *uses.virtual):
            yield refuse("ROWS_IN_ROWS", (reader, output), edge=reader, tensor=output)
            break


def _readers(
    tensor: OutputAnchor, piece: Piece, edge: InputAnchor | None, at: Setting
) -> Iterator[Refusal]:
    for reader in at.memory.uses(tensor).readers:
        source = reader.source
        seen = tensor.desc if source is None else reader.desc or source.desc
        if may_stride(reader, at.ops) and keeps_rows(seen, piece):
            continue
        yield refuse(
            "READER_NOT_STRIDED",
            (reader, tensor),
            edge=edge or reader,
            reader=reader.node.name,
            op=reader.node.op,
        )


def _unaligned(number: int, piece: Piece, at: Setting, widest: int) -> Iterator[Refusal]:
    granule = at.target.run_align or max(widest, 1)
    starts = (piece.delta,) if piece.contiguous else (piece.delta, piece.row, piece.pitch)
    if any(start % granule for start in starts):
        yield refuse("UNALIGNED_PIECE", at=number, granule=granule)
