"""Format transfer: how axes, padding and shapes change from an origin format to a runtime format.

Three questions about the same pair of formats, each answered by a pure function:

* `aligned_shape`: how many elements of each origin axis make a whole block (1: never padded);
* `axis_maps`: which runtime dimensions an origin axis became, and back;
* `stored_shape`: the runtime shape.

The rules are GE's transfer library. It answers "unsupported" for some pairs that have a stored
shape; so do we, with None. Where we differ: the block table is an argument instead of being
filled by the first stored shape, and the C1HWC0 shape is cut along C (GE's uses N there).

An origin shape with fewer dimensions than its format needs an expand mask (GE's attribute
`_reshape_type_mask`): bit i set means that axis i of the full format is missing and counts as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from typing import Final, NamedTuple

from ge_core.ir.desc import UNKNOWN_DIM, Shape
from ge_core.ir.formats import (
    DEFAULT_BLOCKS,
    NZ_FAMILY,
    PLAIN_AXES,
    SPLIT_AXES,
    Block,
    BlockTable,
    is_private,
    parse_format,
)

AxisMap = tuple[tuple[int, ...], ...]

_RANK_SHIFT: Final = 56
_PARTS: Final = {"C1": "C", "C0": "C", "N1": "N", "N0": "N", "C1HW": "CHW"}

# Axes that a shape of lower rank names when nobody says which, by format and rank.
_DEFAULT_AXES: Final = {
    "NCHW": ("", "C", "CH", "CHW"),
    "NHWC": ("", "C", "HW", "HWC"),
    "HWCN": ("", "C", "CN", "WCN"),
    "CHWN": ("", "C", "WN", "HWN"),
    "NDHWC": ("", "C", "WC", "HWC", "DHWC"),
    "NCDHW": ("", "C", "HW", "DHW", "CDHW"),
    "DHWCN": ("", "C", "CN", "WCN", "HWCN"),
    "DHWNC": ("", "C", "NC", "WNC", "HWNC"),
}


class AxisMaps(NamedTuple):
    """Where axes went.

    Attributes:
        forward: per origin axis its runtime dimensions, the outer part first.
        backward: per runtime dimension the origin axes it came from, outermost first;
            -1 stands for an axis that the origin does not have.
    """

    forward: AxisMap
    backward: AxisMap


def aligned_shape(
    origin_format: str,
    runtime_format: str,
    origin_shape: Sequence[int] | None,
    dtype: str,
    *,
    mask: int = 0,
    blocks: BlockTable = DEFAULT_BLOCKS,
    stored_width: bool = False,
) -> Shape | None:
    """Elements per block along each origin axis, 1 where nothing is padded; None: unsupported.

    GE takes the block width of the dtype even where the format fixes another one
    (FRACTAL_NZ_C0_32); with `stored_width` the answer is what storage really pads to.
    """
    if origin_shape is None:
        return None
    origin, runtime = parse_format(origin_format), parse_format(runtime_format)
    rank = len(origin_shape)
    if origin.primary == runtime.primary:
        return (1,) * rank
    block = blocks.of(dtype)
    if stored_width and runtime.c0 is not None:
        block = block._replace(c0=runtime.c0)
    if origin.primary == "ND" or runtime.primary in NZ_FAMILY:
        if rank < 2 or runtime.primary not in NZ_FAMILY:
            return None
        return (*(1,) * (rank - 2), block.m0, block.c0)
    axes = _present_axes(origin.primary, rank, mask)
    if axes is None:
        return None
    names = SPLIT_AXES.get(runtime.primary, ())
    width = {
        "N": block.n0 if "N0" in names else 1,
        "C": block.c0 if "C0" in names else 1,
    }
    return tuple(width.get(axis, 1) for axis in axes)


def axis_maps(
    origin_format: str, runtime_format: str, rank: int, *, mask: int = 0
) -> AxisMaps | None:
    """Where the `rank` origin axes went and came from; None: unsupported."""
    origin, runtime = parse_format(origin_format), parse_format(runtime_format)
    if origin.primary == runtime.primary:
        same = tuple((axis,) for axis in range(rank))
        return AxisMaps(same, same)
    if origin.primary == "ND" or runtime.primary in NZ_FAMILY:
        if rank < 2 or runtime.primary not in NZ_FAMILY:
            return None
        swapped = (*((axis,) for axis in range(rank - 2)), (rank - 1,), (rank - 2,))
        return AxisMaps(swapped, (*swapped, (-1,), (-1,)))
    axes = _present_axes(origin.primary, rank, mask)
    names = SPLIT_AXES.get(runtime.primary) or tuple(PLAIN_AXES.get(runtime.primary, ()))
    if axes is None or not names:
        return None
    sources = [_PARTS.get(name, name) for name in names]
    forward = tuple(
        tuple(at for at, source in enumerate(sources) if axis in source) for axis in axes
    )
    if not all(forward):
        return None  # an origin axis that the runtime format has no place for
    # C lies outside H and W inside C1HW, and the outer part of an axis comes before its inner one.
    backward = tuple(tuple(axes.find(axis) for axis in source) for source in sources)
    return AxisMaps(forward, backward)


def stored_shape(
    origin_format: str,
    runtime_format: str,
    origin_shape: Sequence[int] | None,
    dtype: str,
    *,
    mask: int = 0,
    blocks: BlockTable = DEFAULT_BLOCKS,
) -> Shape | None:
    """The runtime shape; unknown dimensions stay unknown. None: unsupported.

    A low-rank origin is expanded only when a mask says how (`default_mask` gives GE's default);
    without one its shape comes back as it is, as from GE's shape rule.
    """
    if origin_shape is None:
        return None
    shape = tuple(origin_shape)
    origin, runtime = parse_format(origin_format), parse_format(runtime_format)
    if not shape or origin.primary == runtime.primary:
        return shape
    block = blocks.of(dtype)
    if runtime.c0 is not None:
        block = block._replace(c0=runtime.c0)
    if runtime.primary in NZ_FAMILY:
        return _nz_shape(shape, block)
    axes = PLAIN_AXES.get(origin.primary)
    if axes is None:
        axes = _axes_of_nd(origin.primary, runtime.primary, len(shape))
    if axes is None:
        return shape if origin.primary == "ND" and runtime.primary in PLAIN_AXES else None
    if len(shape) < len(axes) and mask > 0:
        present = _present_axes(origin.primary, len(shape), mask)
        if present is None:
            return None
        sizes = iter(shape)
        shape = tuple(next(sizes) if axis in present else 1 for axis in axes)
    if len(shape) < len(axes):
        if runtime.primary == "FRACTAL_Z" and len(shape) == 2:
            return (_up(shape[0], block.c0), _up(shape[1], block.n0), block.n0, block.c0)
        return shape
    if len(shape) > len(axes):
        return None
    return _from_axes(dict(zip(axes, shape, strict=True)), runtime.primary, runtime.groups, block)


def default_mask(origin_format: str, rank: int) -> int:
    """GE's expand mask for a shape of this rank when nobody names its axes; 0 for a full shape.

    Raises:
        ValueError: the format expands no shape of this rank.
    """
    primary = parse_format(origin_format).primary
    axes = PLAIN_AXES.get(primary)
    if axes is not None and rank == len(axes):
        return 0
    if axes is None or not 0 < rank < len(axes):
        raise ValueError(f"format {origin_format!r} expands no shape of rank {rank}")
    return expand_mask(origin_format, _DEFAULT_AXES[primary][rank])


def expand_mask(origin_format: str, present: str) -> int:
    """The mask that says a shape names the axes `present`, such as "CH" of NCHW."""
    axes = PLAIN_AXES[parse_format(origin_format).primary]
    missing = sum(1 << at for at, axis in enumerate(axes) if axis not in present)
    return missing | len(axes) << _RANK_SHIFT


def _present_axes(origin: str, rank: int, mask: int) -> str | None:
    """The axes that an origin shape of this rank names; None where that can't be known."""
    axes = PLAIN_AXES.get(origin)
    if axes is None or rank > len(axes):
        return None
    if rank == len(axes):
        return axes
    if mask <= 0:
        return None
    present = "".join(axis for at, axis in enumerate(axes) if not mask >> at & 1)
    return present if len(present) == rank else None


def _axes_of_nd(origin: str, runtime: str, rank: int) -> str | None:
    """GE reads an ND origin of rank four as NCHW when the runtime format is private."""
    if origin == "ND" and rank == 4 and (is_private(runtime) or runtime == "C1HWC0"):
        return "NCHW"
    return None


def _nz_shape(shape: Shape, block: Block) -> Shape:
    if len(shape) == 1:
        return (1, _up(shape[0], block.m0), block.m0, block.c0)
    *leading, rows, columns = shape
    return (*leading, _up(columns, block.c0), _up(rows, block.m0), block.m0, block.c0)


def _from_axes(dims: dict[str, int], runtime: str, groups: int, block: Block) -> Shape | None:
    """The stored shape of dimensions given by axis letter."""
    depth = dims.get("D", 1)
    n, c, h, w = dims["N"], dims["C"], dims["H"], dims["W"]
    plain = PLAIN_AXES.get(runtime)
    if plain is not None:
        if "D" in dims and "D" not in plain:
            return None
        return tuple(dims.get(axis, 1) for axis in plain)
    _, c0, n0 = block
    if runtime == "NDC1HWC0":
        return (n, depth, _up(c, c0), h, w, c0)
    if runtime in ("FRACTAL_Z_3D", "FRACTAL_Z_3D_TRANSPOSE"):
        outer, c, n = _grouped(groups, c, n, block)
        if runtime == "FRACTAL_Z_3D":
            return (_times(outer, depth, _up(c, c0), h, w), _up(n, n0), n0, c0)
        return (_times(_up(n, n0), depth, h, w), _up(c, c0), n0, c0)
    if "D" in dims:
        return None
    if runtime in ("NC1HWC0", "NC1HWC0_C04"):
        return (n, _up(c, c0), h, w, c0)
    if runtime == "FRACTAL_Z":
        outer, c, n = _grouped(groups, c, n, block)
        return (_times(outer, _up(c, c0), h, w), _up(n, n0), n0, c0)
    if runtime == "FRACTAL_Z_C04":
        return (_up(_times(4, h, w), c0), _up(n, n0), n0, c0)
    if runtime == "C1HWNCoC0":
        return (_up(c, c0), h, w, _up(n, c0), c0, c0)
    if runtime == "C1HWC0":
        return (_up(c, c0), h, w, c0)
    if runtime == "FRACTAL_ZN_LSTM" and UNKNOWN_DIM not in (n, c):
        hidden = n // 4
        return (_up(c - hidden, n0) + _up(hidden, n0), 4 * _up(hidden, n0), n0, n0)
    return None


def _grouped(groups: int, c: int, n: int, block: Block) -> tuple[int, int, int]:
    """Groups side by side until a block is full: (outer groups, channels, output channels)."""
    if groups <= 1 or UNKNOWN_DIM in (c, n) or n < groups or c < 1:
        return 1, c, n
    each = n // groups
    fold = min(lcm(block.c0 // gcd(c, block.c0), block.n0 // gcd(each, block.n0)), groups)
    return _up(groups, fold), c * fold, each * fold


def _up(size: int, width: int) -> int:
    """Blocks that hold `size` elements; unknown stays unknown."""
    return UNKNOWN_DIM if size == UNKNOWN_DIM else -(-size // width)


def _times(*sizes: int) -> int:
    product = 1
    for size in sizes:
        if size == UNKNOWN_DIM:
            return UNKNOWN_DIM
        product *= size
    return product
