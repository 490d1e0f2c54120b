"""Joins and splits as byte ranges: rows, and the width of each piece in a row.

None means "not by bytes that we know": the op is then like any other, and equal only to itself on
equal inputs. Pieces that don't begin on a byte boundary (types narrower than a byte) are such.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from ge_core.ir import Node, TensorDesc
from ge_core.ir.dtypes import bits
from ge_core.ir.formats import NZ_FAMILY, parse_format
from ge_core.ir.transfer import aligned_shape, axis_maps
from ge_core.proof.literals import constant_ints, declared_axis

_EXPAND_MASK: Final = "_reshape_type_mask"
_NO_AXIS: Final = -1
_FIRST_AXIS: Final = frozenset({"ConcatD", "ConcatV2D", "PhonyConcat", "SplitD", "PhonySplit"})
"""Ops that GE reads as of axis 0 where no attribute says another."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """`rows` equal rows; in each, piece i takes `widths[i]` bytes."""

    rows: int
    widths: tuple[int, ...]


def join_parts(node: Node) -> tuple[list[int], Cutting] | None:
    """The operands of a join in order, and how their bytes lie in the result."""
    operands, axis = _operands(node)
    if axis is None or not operands or len(node.outputs) != 1:
        return None
    descs = [node.inputs[at].desc for at in operands]
    cutting = _cutting(node.outputs[0].desc, descs, axis)
    return None if cutting is None else (operands, cutting)


def split_parts(node: Node) -> tuple[int, Cutting] | None:
    """Which input a split cuts, and how the outputs' bytes lie in it."""
    source, axis = 0, declared_axis(node, ("split_dim", "axis", "dim"))
    if axis is None and node.op == "Split" and len(node.inputs) == 2:
        source, axis = 1, _given_axis(node, 0)
    elif axis is None and node.op == "SplitV" and len(node.inputs) == 3:
        axis = _given_axis(node, 2)
    elif axis is None and node.op in _FIRST_AXIS:
        axis = 0
    if axis is None or source >= len(node.inputs):
        return None
    whole = node.inputs[source].desc
    if whole is None:
        return None
    cutting = _cutting(whole, [output.desc for output in node.outputs], axis)
    return None if cutting is None else (source, cutting)


def pack_parts(node: Node) -> Cutting | None:
    """How the operands of a Pack lie in the result: one new axis."""
    if len(node.outputs) != 1:
        return None
    out = node.outputs[0].desc
    descs = [anchor.desc for anchor in node.inputs]
    axis = declared_axis(node, ("axis",)) or 0
    if not descs or any(desc is None for desc in descs):
        return None
    shape, first = out.shape, descs[0]
    assert first is not None
    if shape is None or first.shape is None or len(shape) != len(first.shape) + 1:
        return None
    # The axis is one of the original shape.
    free = len(shape) if is_plain(out) else _leading(out)
    axis = axis + len(out.origin_shape or shape) if axis < 0 else axis
    if not 0 <= axis < free or shape[axis] != len(descs):
        return None
    if (*shape[:axis], *shape[axis + 1 :]) != first.shape or not out.is_static:
        return None
    for desc in descs:
        assert desc is not None
        if desc.shape != first.shape or desc.dtype != out.dtype or desc.format != out.format:
            return None
        if not is_plain(desc) and not _is_piece_of(out, desc, axis):
            return None
    width = _row_bytes([prod(first.shape[axis:])] * len(descs), out.dtype, prod(shape[:axis]))
    return None if width is None else Cutting(prod(shape[:axis]), width)


def _leading(desc: TensorDesc) -> int:
    """How many of the axes a format transfer leaves where they were, in front of all others."""
    nz = parse_format(desc.format).primary in NZ_FAMILY
    return max(0, len(desc.origin_shape or ()) - 2) if nz else 0


def _is_piece_of(whole: TensorDesc, piece: TensorDesc, axis: int) -> bool:
    """Whether a piece is the whole without its axis, stored in the same format."""
    origin = whole.origin_shape or ()
    return piece.origin_format == whole.origin_format and piece.origin_shape == (
        *origin[:axis],
        *origin[axis + 1 :],
    )


def _operands(node: Node) -> tuple[list[int], int | None]:
    """A join's tensors and its axis, which some ops take as an input."""
    every = [anchor.index for anchor in node.inputs if anchor.source is not None]
    axis = declared_axis(node, ("concat_dim", "axis", "dim"))
    place = {"Concat": 0, "ConcatV2": len(node.inputs) - 1}.get(node.op)
    if place is not None and axis is None:
        return [at for at in every if at != place], _given_axis(node, place)
    if axis is None and node.op in _FIRST_AXIS:
        axis = 0
    return every, axis


def _given_axis(node: Node, at: int) -> int | None:
    """The axis that a constant input gives."""
    given = constant_ints(node, at)
    return given[0] if given is not None and len(given) == 1 else None


def is_plain(desc: TensorDesc) -> bool:
    """Whether the shape says how the bytes lie: no format transfer in between."""
    return desc.format == desc.origin_format and desc.shape == desc.origin_shape


def _cutting(whole: TensorDesc, pieces: list[TensorDesc | None], axis: int) -> Cutting | None:
    found = [desc for desc in pieces if desc is not None]
    if len(found) != len(pieces) or not found or not whole.is_static or whole.shape is None:
        return None
    for desc in found:
        if desc.dtype != whole.dtype or desc.format != whole.format or not desc.is_static:
            return None
    placed = _runtime_axis(whole, found, axis)
    if placed is None:
        return None
    shape = whole.shape
    sizes: list[int] = []
    for desc in found:
        assert desc.shape is not None
        if len(desc.shape) != len(shape):
            return None
        if any(
            a != b for at, (a, b) in enumerate(zip(desc.shape, shape, strict=True)) if at != placed
        ):
            return None
        sizes.append(desc.shape[placed])
    if sum(sizes) != shape[placed]:
        return None
    inner = prod(shape[placed + 1 :])
    rows = prod(shape[:placed])
    widths = _row_bytes([size * inner for size in sizes], whole.dtype, rows)
    return None if widths is None else Cutting(rows, widths)


def _row_bytes(elements: list[int], dtype: str, rows: int) -> tuple[int, ...] | None:
    """Bytes of each piece in a row; None where a piece begins inside a byte."""
    width = bits(dtype)
    if width is None:
        return None
    sizes = [count * width for count in elements]
    inside = sizes if rows > 1 else sizes[:-1]
    if any(size % 8 for size in inside):
        return None
    return tuple([(size + 7) // 8 for size in sizes])


def _runtime_axis(whole: TensorDesc, pieces: list[TensorDesc], axis: int) -> int | None:
    """The dimension of the runtime shape along which the pieces lie one behind the other."""
    origin = whole.origin_shape
    if origin is None or whole.shape is None:
        return None
    if axis < 0:
        axis += len(origin)
    if not 0 <= axis < len(origin):
        return None
    if all(is_plain(desc) for desc in (whole, *pieces)):
        return axis
    if parse_format(whole.format).groups > 1:
        return None  # groups stand outside every axis, and no map knows them
    mask = whole.attrs.get(_EXPAND_MASK, 0)
    mask = mask if isinstance(mask, int) else 0
    pair = whole.origin_format, whole.format
    maps = axis_maps(*pair, len(origin), mask=mask)
    granules = aligned_shape(*pair, origin, whole.dtype, mask=mask, stored_width=True)
    if maps is None or granules is None or len(maps.backward) != len(whole.shape):
        return None
    places = maps.forward[axis]
    outer = places[0]
    # The axis must be the outermost of those that share its dimension; what is one doesn't count.
    sharing = maps.backward[outer]
    for other in sharing[: sharing.index(axis)]:
        if other == _NO_AXIS:
            continue
        split = len(maps.forward[other]) > 1
        if -(-origin[other] // granules[other] if split else -origin[other]) != 1:
            return None
    block = prod(whole.shape[at] for at in places[1:] if at < len(whole.shape))
    if parse_format(whole.format).primary in NZ_FAMILY:
        block = _nz_block(whole.shape, axis, len(origin))
    for at, desc in enumerate(pieces):
        if desc.origin_format != whole.origin_format or not _differs_along(desc, origin, axis):
            return None
        # Padding in the middle would be part of the tensor: only the last may end in a block.
        if block > 1 and at < len(pieces) - 1 and (desc.origin_shape or ())[axis] % block:
            return None
    return outer


def _differs_along(desc: TensorDesc, origin: tuple[int, ...], axis: int) -> bool:
    """Whether the original shape is another one's but for its size along one axis."""
    shape = desc.origin_shape
    if shape is None or len(shape) != len(origin):
        return False
    return (*shape[:axis], *shape[axis + 1 :]) == (*origin[:axis], *origin[axis + 1 :])


def _nz_block(shape: tuple[int, ...], axis: int, rank: int) -> int:
    if axis == rank - 1:
        return shape[-1]
    return shape[-2] if axis == rank - 2 else 1
