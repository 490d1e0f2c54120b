"""Sliding windows: what convolutions and pools have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ge_onnx.kernels.call import Array, Call


@dataclass(frozen=True)
class Windows:
    """Geometry of windows over the spatial axes, which are all but the first two.

    Attributes:
        kernel, strides, dilations: per axis.
        before, after: padding per axis.
        out: windows per axis.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def taps(self) -> int:
        """Elements of one window."""
        return prod(self.kernel)

    def positions(self) -> Iterator[tuple[int, tuple[slice, ...]]]:
        """For each element of a window: its number, and the slices of a padded array it covers."""
        for at, place in enumerate(product(*(range(size) for size in self.kernel))):
            yield (
                at,
                tuple(
                    slice(p * d, p * d + (n - 1) * s + 1, s)
                    for p, d, n, s in zip(
                        place, self.dilations, self.out, self.strides, strict=True
                    )
                ),
            )

    def pad(self, data: Array, fill: Any) -> Array:
        """The array with padding, and as much behind it as the last window reaches."""
        reach = [
            (n - 1) * s + (k - 1) * d + 1
            for n, s, k, d in zip(self.out, self.strides, self.kernel, self.dilations, strict=True)
        ]
        widths = [(0, 0), (0, 0)]
        for before, size, after, end in zip(
            self.before, data.shape[2:], self.after, reach, strict=True
        ):
            widths.append((before, max(after, end - before - size)))
        if not any(any(pair) for pair in widths):
            return data
        return np.pad(data, widths, constant_values=fill)


def windows_of(
    call: Call, shape: Sequence[int], kernel: Sequence[int], *, ceil: bool = False
) -> Windows:
    """The windows of a Conv or pool over an input of this shape, by the node's attributes."""
    rank = len(shape) - 2
    strides = tuple(call.get("strides") or [1] * rank)
    dilations = tuple(call.get("dilations") or [1] * rank)
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    mode = call.get("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        out = [-(-size // stride) for size, stride in zip(shape[2:], strides, strict=True)]
        before, after = _same(shape[2:], out, strides, extent, lower=mode == "SAME_LOWER")
    else:
        pads = [0] * (2 * rank) if mode == "VALID" else call.get("pads") or [0] * (2 * rank)
        before, after = list(pads[:rank]), list(pads[rank:])
        out = [
            _count(size, b, a, e, s, ceil)
            for size, b, a, e, s in zip(shape[2:], before, after, extent, strides, strict=True)
        ]
    return Windows(tuple(kernel), strides, dilations, tuple(before), tuple(after), tuple(out))


def _same(
    sizes: Sequence[int],
    out: Sequence[int],
    strides: Sequence[int],
    extent: Sequence[int],
    *,
    lower: bool,
) -> tuple[list[int], list[int]]:
    before, after = [], []
    for size, count, stride, span in zip(sizes, out, strides, extent, strict=True):
        total = max(0, (count - 1) * stride + span - size)
        first = (total + 1) // 2 if lower else total // 2
        before.append(first)
        after.append(total - first)
    return before, after


def _count(size: int, before: int, after: int, extent: int, stride: int, ceil: bool) -> int:
    room = size + before + after - extent
    if not ceil:
        return max(room // stride + 1, 0)
    count = -(-room // stride) + 1
    # A window that starts behind the input and its leading padding sees nothing.
    return count - 1 if (count - 1) * stride >= size + before else count
