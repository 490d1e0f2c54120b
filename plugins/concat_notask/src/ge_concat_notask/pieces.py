"""Sizes of pieces in a buffer: where the next one would start, and whether it may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ge_concat_notask.refusal import Refusal, refuse
from ge_core.api import DEFAULT_BLOCKS, Block, BlockTable, Target, TensorDesc, bits


def piece_refusal(
    at: int, desc: TensorDesc, target: Target, start: int, widest: int
) -> Refusal | None:
    """Why a piece can't lie `start` bytes behind the beginning of a buffer.

    A target with a run alignment wants every piece to be a multiple of it. Elsewhere a piece starts
    at a multiple of its element.

    Args:
        at: number of the piece.
        widest: bytes of the widest element that its bytes are read or written as.
    """
    width = bits(desc.dtype)
    if width is None or desc.elements is None:
        return refuse("NO_ELEMENT_SIZE", dtype=desc.dtype)
    size = desc.elements * width
    if size % 8:
        return refuse("OFF_BYTE_PIECE", at=at)
    if target.run_align is not None:
        off = size // 8 % target.run_align
    else:
        off = start % max(widest, 1)
    granule = target.run_align or max(widest, 1)
    return refuse("UNALIGNED_PIECE", at=at, granule=granule) if off else None


def sum_refusal(whole: TensorDesc, pieces: Sequence[TensorDesc]) -> Refusal | None:
    """Whether the pieces make up the whole, byte for byte."""
    sizes = [piece.data_bytes for piece in pieces]
    total = sum(size or 0 for size in sizes)
    if None in sizes or whole.data_bytes != total:
        return refuse("SIZES_DISAGREE", pieces=total, whole=whole.data_bytes)
    return None


def total_bytes(descs: Iterator[TensorDesc]) -> int | None:
    """Bytes of storage of all together; None where one is not known."""
    sizes = [desc.nbytes for desc in descs]
    return None if None in sizes else sum(size or 0 for size in sizes)


def blocks_of(target: Target) -> BlockTable:
    """The block widths of a target: its bytes per inner block, GE's usual ones elsewhere."""
    table = dict(DEFAULT_BLOCKS.by_dtype)
    for dtype, width_bytes in target.block_widths.items():
        width = bits(dtype)
        if width:
            usual = DEFAULT_BLOCKS.of(dtype)
            table[dtype] = Block(usual.m0, width_bytes * 8 // width, usual.n0)
    return BlockTable(table)
