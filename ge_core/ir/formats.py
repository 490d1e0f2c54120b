"""Tensor layouts by GE's names: their axes, their families, and the block widths they pad to.

A format name may carry what GE packs into the upper bits of its enumeration: `FRACTAL_Z:4` is
FRACTAL_Z in four groups, `FRACTAL_NZ:0:8` has blocks of 8 columns. The *primary* format is the
name without them. The table of block widths is a parameter: it belongs to a target, by dtype.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from ge_core.errors import InputFileError

PLAIN_AXES: Final[Mapping[str, str]] = {
    "NCHW": "NCHW",
    "NHWC": "NHWC",
    "HWCN": "HWCN",
    "CHWN": "CHWN",
    "NDHWC": "NDHWC",
    "NCDHW": "NCDHW",
    "DHWCN": "DHWCN",
    "DHWNC": "DHWNC",
}
"""Formats that name one axis per dimension, with the axis letters in order."""

SPLIT_AXES: Final[Mapping[str, tuple[str, ...]]] = {
    "NC1HWC0": ("N", "C1", "H", "W", "C0"),
    "NDC1HWC0": ("N", "D", "C1", "H", "W", "C0"),
    "FRACTAL_Z": ("C1HW", "N1", "N0", "C0"),
}
"""Formats that cut axes into blocks, with the names of their dimensions."""

NZ_FAMILY: Final = (
    "FRACTAL_NZ",
    "FRACTAL_NZ_C0_2",
    "FRACTAL_NZ_C0_4",
    "FRACTAL_NZ_C0_8",
    "FRACTAL_NZ_C0_16",
    "FRACTAL_NZ_C0_32",
)
"""Matrices in blocks of M0 x C0, column of blocks after column of blocks."""

PRIVATE: Final = (
    "NC1HWC0",
    "NC1HWC0_C04",
    "NDC1HWC0",
    "C1HWNCoC0",
    "FRACTAL_Z",
    "FRACTAL_Z_C04",
    "FRACTAL_Z_3D",
    "FRACTAL_Z_3D_TRANSPOSE",
    "FRACTAL_Z_G",
    "FRACTAL_Z_WINO",
    "FRACTAL_ZZ",
    "FRACTAL_ZN_LSTM",
    "FRACTAL_ZN_RNN",
    "FRACTAL_NZ",
    "FRACTAL_DECONV",
    "FRACTAL_DECONV_TRANSPOSE",
    "FRACTAL_DECONV_SP_STRIDE_TRANS",
    "DECONV_SP_STRIDE8_TRANS",
    "NC1C0HWPAD",
    "NHWC1C0",
    "C1HWNC0",
    "NC1KHKWHWC0",
    "ND_RNN_BIAS",
)
"""Formats that GE counts as private to the device; FRACTAL_NZ_C0_* and C1HWC0 are not."""

_WIDTH_IN_NAME: Final[Mapping[str, int]] = {
    "NC1HWC0_C04": 4,
    "FRACTAL_NZ_C0_2": 2,
    "FRACTAL_NZ_C0_4": 4,
    "FRACTAL_NZ_C0_8": 8,
    "FRACTAL_NZ_C0_16": 16,
    "FRACTAL_NZ_C0_32": 32,
}


class Block(NamedTuple):
    """Elements per block: `m0` rows, `c0` columns or channels, `n0` output channels."""

    m0: int = 16
    c0: int = 16
    n0: int = 16


_COMMON: Final = Block()


@dataclass(frozen=True, slots=True)
class BlockTable:
    """Block widths of a device: per dtype, and for every dtype not listed."""

    by_dtype: Mapping[str, Block] = field(default_factory=dict)
    default: Block = _COMMON

    def of(self, dtype: str) -> Block:
        """The widths for one dtype."""
        return self.by_dtype.get(dtype, self.default)


DEFAULT_BLOCKS: Final = BlockTable(
    {
        "int8": Block(c0=32),
        "uint8": Block(c0=32),
        "int4": Block(c0=64),
        "int2": Block(c0=128),
        "uint2": Block(c0=128),
        "uint1": Block(c0=256),
    }
)
"""What most devices use: 16 throughout, more channels per block for types of a byte or less."""


class FormatSpec(NamedTuple):
    """A format name taken apart.

    Attributes:
        primary: the name without qualifiers.
        groups: convolution groups laid side by side, 1 for none.
        c0: block width that the format itself fixes; None leaves it to the dtype.
    """

    primary: str
    groups: int = 1
    c0: int | None = None


@lru_cache(maxsize=1024)
def parse_format(name: str) -> FormatSpec:
    """Take `NAME[:GROUPS[:C0]]` apart. Raises `InputFileError` when a qualifier is no number."""
    primary, *qualifiers = name.split(":")
    if len(qualifiers) > 2 or not all(text.isascii() and text.isdigit() for text in qualifiers):
        raise InputFileError(f"format {name!r} is not NAME[:GROUPS[:C0]]", field="format")
    numbers = [int(text) for text in qualifiers]
    groups = max(1, numbers[0]) if numbers else 1
    width = numbers[1] if len(numbers) == 2 and numbers[1] > 0 else None
    return FormatSpec(primary, groups, width or _WIDTH_IN_NAME.get(primary))


def is_private(name: str) -> bool:
    """Whether GE counts the primary format as private to the device."""
    return parse_format(name).primary in PRIVATE


def full_rank(name: str) -> int | None:
    """Dimensions of a plain format; 4 for ND where it is expanded at all; None for the others."""
    primary = parse_format(name).primary
    if primary == "ND":
        return 4
    axes = PLAIN_AXES.get(primary)
    return None if axes is None else len(axes)
