"""`Target`: what planner and passes must know about a device. The kernel knows no vendor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ge_core.errors import near_matches
from ge_core.ir.dtypes import BITS

HBM = "HBM"
"""The pool that a tensor lies in unless its description says otherwise."""


@dataclass(frozen=True, slots=True)
class Target:
    """A device.

    Attributes:
        name: what users give to `--target`.
        align_bytes: alignment of separate buffers, in bytes.
        run_align: alignment of pieces inside a run, in bytes; None = the size of an element.
        pools: capacity in bytes by pool name, None = not limited; a pool not named is not limited.
        block_widths: bytes by dtype name that a block format pads its inner axis to.
        strided: whether ops may read and write memory with a pitch (those whose traits say
            `strided_in`, `strided_out`).
        address_refresh: whether the addresses of a compiled graph may change between runs.
        about: one line for listings.
        pipeline: what is run for it where no pipeline is given: a name or an overlay file.
    """

    name: str
    align_bytes: int = 64
    run_align: int | None = None
    pools: Mapping[str, int | None] = field(default_factory=lambda: {HBM: None})
    block_widths: Mapping[str, int] = field(default_factory=dict)
    strided: bool = False
    address_refresh: bool = True
    about: str = ""
    pipeline: str | None = None

    def __post_init__(self) -> None:
        for what, value in (("align_bytes", self.align_bytes), ("run_align", self.run_align)):
            if type(value) not in (int, type(None)):
                raise ValueError(f"target {self.name!r}: {what} {value!r} is no whole number")
            if value is not None and (value < 1 or value & (value - 1)):
                raise ValueError(f"target {self.name!r}: {what} {value} is not a power of two")
        for pool, capacity in self.pools.items():
            if capacity is not None and capacity < 0:
                raise ValueError(f"target {self.name!r}: pool {pool!r} has capacity {capacity}")
        for dtype, width in self.block_widths.items():
            if dtype not in BITS:
                raise ValueError(f"target {self.name!r}: block width for unknown dtype {dtype!r}")
            if width < 1:
                raise ValueError(f"target {self.name!r}: block width {width} for {dtype!r}")

    def align(self, size: int) -> int:
        """A size rounded up to the alignment of separate buffers."""
        return -(-size // self.align_bytes) * self.align_bytes

    def piece_align(self, element_bytes: int) -> int:
        """The alignment of a piece inside a run."""
        return element_bytes if self.run_align is None else self.run_align

    def capacity(self, pool: str) -> int | None:
        """Bytes of a pool, None where it is not limited."""
        return self.pools.get(pool)

    def block_width(self, dtype: str) -> int | None:
        """Bytes that a block format pads its inner axis to, None where the target doesn't say."""
        return self.block_widths.get(dtype)


def odd_pools(target: Target, used: Collection[str] = (HBM,)) -> list[str]:
    """What to say of limited pools in which nothing lies, where one that is used is called alike.

    Args:
        used: pools that tensors lie in.
    """
    found = []
    for pool, capacity in sorted(target.pools.items()):
        if capacity is None or pool in used:
            continue
        near = near_matches(pool, [name for name in used if name not in target.pools])
        if near:
            found.append(f"limits pool {pool!r}, in which nothing lies, and not {', '.join(near)}")
    return found


GENERIC = Target("generic", about="64-byte buffers, pieces of a run at the size of their elements")
"""The target that assumes least: the default."""
