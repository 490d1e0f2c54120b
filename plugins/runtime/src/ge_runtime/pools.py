"""The memory of a planned run: one buffer per pool, and the views that regions stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from ge_core.api import ARENA, Plan, Region, TaskList
from ge_runtime.dtypes import Bytes
from ge_runtime.errors import ExecutionError

_ALIGN: Final = 64


class Pools:
    """One uint8 buffer per pool, large enough for every region of plan and tasks."""

    def __init__(self, plan: Plan, tasks: TaskList) -> None:
        sizes = {name: totals.bytes for name, totals in plan.pools.items()}
        for pool, end in _ends(plan, tasks):
            sizes[pool] = max(sizes.get(pool, 0), end)
        self.buffers: dict[str, Bytes] = {
            name: _allocated(name, size) for name, size in sizes.items()
        }
        self._fills = 0

    @property
    def arena_bytes(self) -> int:
        """Size of the arena, as really allocated."""
        arena = self.buffers.get(ARENA)
        return 0 if arena is None else arena.size

    def sizes(self) -> dict[str, int]:
        """Bytes of every pool, by name."""
        return {name: buffer.size for name, buffer in sorted(self.buffers.items())}

    def view(self, region: Region) -> Bytes:
        """The bytes of a region, in place: one dimension, or rows of a strided one."""
        buffer = self.buffers[region.pool]
        strided = region.strided
        if strided is None or strided.count * strided.row == 0:
            return buffer[region.offset : region.offset + region.bytes]
        return np.lib.stride_tricks.as_strided(
            buffer[region.offset : region.end],
            (strided.count, strided.row),
            (strided.pitch, 1),
        )

    def span(self, pool: str, start: int, end: int) -> Bytes:
        """Some bytes of a pool, in place."""
        return self.buffers[pool][start:end]

    def poison(self, views: Iterable[Bytes]) -> None:
        """Fill bytes that hold nothing, with something no two fills in a row share.

        As floats the fills are large and finite, as integers positive, so that they neither vanish
        in a Relu nor turn a whole result into the one NaN that every other corruption gives.
        """
        for view in views:
            view.fill(self.next_fill())

    def next_fill(self) -> int:
        """The byte of the next fill."""
        self._fills += 1
        return 0x71 + self._fills % 14

    def reset(self) -> None:
        """Make every pool unwritten again."""
        self._fills = 0
        self.poison(self.buffers.values())


def _allocated(pool: str, size: int) -> Bytes:
    try:
        return _aligned(size)
    except (MemoryError, ValueError, OverflowError) as error:
        raise ExecutionError(
            f"pool {pool} needs {size} bytes, more than can be had here"
        ) from error


def _aligned(size: int) -> Bytes:
    """A buffer whose first byte lies on a multiple of 64, as the offsets in it assume."""
    raw = np.empty(size + _ALIGN, np.uint8)
    skip = -raw.ctypes.data % _ALIGN
    return raw[skip : skip + size]


def _ends(plan: Plan, tasks: TaskList) -> Iterable[tuple[str, int]]:
    for tensor in plan.tensors:
        yield tensor.pool, tensor.end
    for area in plan.workspace:
        yield area.pool, area.end
    for task in tasks.tasks:
        for region in (*task.inputs, *task.outputs, *task.workspace):
            if region is not None:
                yield region.pool, region.end
