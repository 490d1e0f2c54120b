"""Whether an axis is the outermost one in memory, and every piece a whole number of blocks.

Then pieces of a tensor along that axis are consecutive bytes, so that joining or cutting there
moves nothing. The rules are GE's, on origin axes; where a format fixes a block width of its own,
we ask for whole blocks of that width as well, which GE leaves out.
"""

from __future__ import annotations

from typing import Final

from ge_core.api import (
    BlockTable,
    Shape,
    TensorDesc,
    aligned_shape,
    axis_maps,
    parse_format,
)

OUT_OF_RANGE: Final = "AXIS_OUT_OF_RANGE"
NO_ALIGNED_SHAPE: Final = "NO_ALIGNED_SHAPE"
NO_AXIS_MAP: Final = "NO_AXIS_MAP"
NOT_OUTERMOST: Final = "NOT_OUTERMOST"
PADDED: Final = "PADDED_AXIS"

_MASK: Final = "_reshape_type_mask"


def resolve_axis(value: object, rank: int) -> int | None:
    """A non-negative axis; None for what is no axis of a tensor of this rank."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    axis = value + rank if value < 0 else value
    return axis if 0 <= axis < rank else None


def axis_fault(desc: TensorDesc, axis: int, blocks: BlockTable) -> str | None:
    """Why pieces along origin axis `axis` of this tensor are not consecutive; None where they are.

    The description must be static; the answer is one of this module's codes.
    """
    origin, runtime = desc.origin_shape, desc.shape
    if origin is None or runtime is None or not 0 <= axis < len(origin):
        return OUT_OF_RANGE
    mask = desc.attrs.get(_MASK, 0)
    mask = mask if isinstance(mask, int) else 0
    granules = _granules(desc, origin, mask, blocks)
    if granules is None:
        return NO_ALIGNED_SHAPE
    runtime_format = parse_format(desc.format)
    if runtime_format.groups > 1 and desc.format != desc.origin_format:
        return NO_AXIS_MAP  # the map knows nothing of groups, which stand outside every axis
    maps = axis_maps(desc.origin_format, desc.format, len(origin), mask=mask)
    if maps is None or len(maps.backward) != len(runtime):
        return NO_AXIS_MAP
    outer = maps.forward[axis][0]
    if any(size != 1 for size in runtime[:outer]):
        return NOT_OUTERMOST
    merged = maps.backward[outer]
    if len(merged) > 1:
        if axis not in merged:
            return NOT_OUTERMOST
        # An axis that the origin leaves out (-1) counts as one.
        outside = [other for other in merged[: merged.index(axis)] if other >= 0]
        if not all(
            _is_one(other, outer, maps.forward[other], origin, granules) for other in outside
        ):
            return NOT_OUTERMOST
    granule = granules[axis]
    if granule <= 0 or origin[axis] < 0 or origin[axis] % granule:
        return PADDED
    return None


def _granules(desc: TensorDesc, origin: Shape, mask: int, blocks: BlockTable) -> Shape | None:
    """Elements per block along each origin axis, by the dtype's width and by the format's."""
    ask = (desc.origin_format, desc.format, origin, desc.dtype)
    by_dtype = aligned_shape(*ask, mask=mask, blocks=blocks)
    by_format = aligned_shape(*ask, mask=mask, blocks=blocks, stored_width=True)
    if by_dtype is None or by_format is None or len(by_dtype) != len(origin):
        return None
    # Widths are powers of two, so a multiple of the larger is one of both.
    return tuple(max(pair) for pair in zip(by_dtype, by_format, strict=True))


def _is_one(axis: int, outer: int, parts: tuple[int, ...], origin: Shape, granules: Shape) -> bool:
    """Whether the part of an axis that stands in merged runtime dimension `outer` is one."""
    if len(parts) == 1:
        return origin[axis] == 1
    if parts[0] == outer:
        return origin[axis] <= granules[axis]
    return granules[axis] == 1
