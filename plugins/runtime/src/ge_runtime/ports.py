"""Ports: how a node reads and writes one tensor, in the arena or in a buffer of its own."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ge_core.api import Region, TensorDesc
from ge_runtime.dtypes import (
    Array,
    Bytes,
    from_storage,
    numpy_dtype,
    sub_byte_bits,
    to_storage,
)
from ge_runtime.errors import ExecutionError
from ge_runtime.pools import Pools
from ge_runtime.values import contiguous, seen_as

MISSING: Final = object()
"""The content of a cell that nobody has written yet."""


class Cell:
    """A run-time buffer of its own: the memory of one tensor without a place in the plan."""

    __slots__ = ("bytes", "name", "used", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = MISSING
        self.bytes = 0
        """The most that it held."""
        self.used = False

    def put(self, value: Any) -> None:
        """Hold a value; arrays are kept as they are, not copied."""
        self.value = value
        self.used = True
        if isinstance(value, np.ndarray) and value.dtype != object:
            self.bytes = max(self.bytes, int(value.nbytes))

    def clear(self) -> None:
        """Hold nothing, as before a run."""
        self.value = MISSING
        self.used = False
        self.bytes = 0

    def get(self) -> Any:
        """The value. Raises `ExecutionError` when nothing was written yet."""
        if self.value is MISSING:
            raise ExecutionError(f"tensor {self.name!r} is read before anything wrote it")
        return self.value


class CellPort:
    """A tensor in a run-time buffer."""

    __slots__ = ("cell", "desc")

    region: Region | None = None

    def __init__(self, cell: Cell, desc: TensorDesc) -> None:
        self.cell = cell
        self.desc = desc

    def memory(self) -> Any:
        """The value in its own memory."""
        return seen_as(self.cell.get(), self.desc)

    def read(self) -> Any:
        """The value; an array in it can't be written."""
        value = self.memory()
        if isinstance(value, np.ndarray) and value.dtype != object:
            value = value.view()
            value.flags.writeable = False
        return value

    def flush(self, value: Any) -> None:
        """Keep what an in-place writer left in `memory()`."""

    def write(self, value: Any) -> None:
        """Put a value here. It becomes the buffer: the caller gives it away."""
        self.cell.put(contiguous(value))

    def same_place(self, other: Port) -> bool:
        """Whether the other port stands for the same memory."""
        return isinstance(other, CellPort) and other.cell is self.cell


class ArenaPort:
    """A tensor at a place in a pool.

    Arrays are views where the element type takes whole bytes and the address fits it. Else they
    are copies, which `flush` writes back. So are strided pieces, whose rows lie apart: a kernel
    that adds up a strided array does so in another order than for a contiguous one, and results
    must not depend on where a tensor lies.
    """

    __slots__ = ("_array", "_readonly", "desc", "dtype", "raw", "region", "shape")

    def __init__(self, pools: Pools, region: Region, desc: TensorDesc) -> None:
        self.region: Region = region
        self.desc = desc
        self.dtype = desc.dtype
        self.shape: tuple[int, ...] = desc.shape or ()
        data = desc.data_bytes
        if data is None or data > region.bytes:
            # Known by its size alone: an element type without a width, or storage beyond counting.
            data, self.dtype, self.shape = region.bytes, "undefined", (region.bytes,)
        if data < region.bytes and region.strided is None:
            region = Region(region.pool, region.offset, data)
        self.raw: Bytes = pools.view(region)
        self._array: Array | None = _as_view(self.raw, region, self.dtype, self.shape)
        self._readonly: Array | None = None
        if self._array is not None:
            self._readonly = self._array.view()
            self._readonly.flags.writeable = False

    def memory(self) -> Any:
        """The array in place, or a copy that `flush` writes back."""
        return self._array if self._array is not None else self._copy()

    def read(self) -> Any:
        """The array; it can't be written."""
        return self._readonly if self._readonly is not None else self._copy()

    def _copy(self) -> Array:
        return from_storage(self.raw.reshape(-1), self.dtype, self.shape)

    def flush(self, value: Any) -> None:
        """Write back what an in-place writer did to a copy."""
        if self._array is None:
            self.raw[...] = to_storage(value, self.dtype).reshape(self.raw.shape)

    def write(self, value: Any) -> None:
        """Copy a value here.

        Raises:
            ExecutionError: it has another dtype or another number of elements.
        """
        array = np.asarray(value, order="C")
        want = numpy_dtype(self.dtype)
        if array.dtype != want or array.size != prod(self.shape):
            if not (self.dtype == "undefined" and array.nbytes == self.raw.size):
                raise ExecutionError(
                    f"{array.dtype}{list(array.shape)} does not fit {self.dtype}{list(self.shape)}"
                )
            array = array.reshape(-1).view(np.uint8)
        if self._array is not None:
            self._array[...] = array.reshape(self.shape)
        elif array.size:
            self.raw[...] = to_storage(array, self.dtype).reshape(self.raw.shape)

    def same_place(self, other: Port) -> bool:
        """Whether the other port stands for exactly the same bytes."""
        if not isinstance(other, ArenaPort):
            return False
        a, b = self.region, other.region
        return (a.pool, a.offset, a.strided) == (b.pool, b.offset, b.strided)


Port = CellPort | ArenaPort


def _as_view(raw: Bytes, region: Region, dtype: str, shape: tuple[int, ...]) -> Array | None:
    """The bytes as an array in place, where the dtype and the address allow it."""
    if region.strided is not None or sub_byte_bits(dtype) is not None:
        return None
    want = numpy_dtype(dtype)
    if not raw.size:
        return np.empty(shape, want)
    if region.offset % want.alignment:
        return None
    return raw.view(want).reshape(shape)
