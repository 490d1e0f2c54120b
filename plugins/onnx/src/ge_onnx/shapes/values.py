"""Values that are known before a run: constants, shapes, and what is computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ge_core.api import GeError, Node, OutputAnchor, TensorDesc
from ge_onnx.proto.dtypes import numpy_dtype

MAX_ELEMENTS: Final = 1024
"""Longer values are never computed here: shape arithmetic is short."""

MAX_SIZE: Final = 1 << 62

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Partial:
    """An integer vector or scalar of which some elements are known."""

    items: tuple[int | None, ...]
    scalar: bool = False


Value = Array | Partial
"""What is known of a value: all of it, or some elements."""


def items_of(value: Value | None) -> tuple[int | None, ...] | None:
    """The elements of a known integer vector or scalar; None for anything else."""
    if isinstance(value, Partial):
        return value.items
    if value is None or value.ndim > 1 or value.dtype.kind not in "iu":
        return None
    return tuple(int(item) for item in value.reshape(-1))


def make(items: tuple[int | None, ...], scalar: bool = False) -> Value:
    """The value with these elements; an array where all are known.

    A number too large to be a size counts as unknown: nothing may overflow later.
    """
    items = tuple(None if item is None or abs(item) >= MAX_SIZE else item for item in items)
    if None in items:
        return Partial(items, scalar)
    array = np.array(items, dtype=np.int64)
    return array.reshape(()) if scalar else array


def constant_value(node: Node) -> Value | None:
    """The value of a short constant."""
    desc = node.outputs[0].desc
    if node.value is None or not is_short(desc) or desc.dtype == "string":
        return None
    return decode(node.value.read(), desc)


def is_short(desc: TensorDesc) -> bool:
    """Whether a value of this description is short enough to be computed here."""
    return desc.elements is not None and desc.elements <= MAX_ELEMENTS


def decode(data: bytes, desc: TensorDesc) -> Array | None:
    """The array of a constant's bytes; None for types that shapes are not computed in."""
    try:
        dtype = numpy_dtype(desc.dtype)
    except GeError:
        return None
    if dtype.kind not in "biuf" or dtype.itemsize * (desc.elements or 0) != len(data):
        return None
    return np.frombuffer(data, dtype.newbyteorder("<")).reshape(desc.shape or ()).astype(dtype)


class Known:
    """What is known of the values of a graph, by output."""

    def __init__(self) -> None:
        self._values: dict[OutputAnchor, Value] = {}

    def get(self, anchor: OutputAnchor | None) -> Value | None:
        """What is known of a value."""
        return None if anchor is None else self._values.get(anchor)

    def array(self, anchor: OutputAnchor | None) -> Array | None:
        """A value of which everything is known."""
        found = self.get(anchor)
        return found if isinstance(found, np.ndarray) else None

    def set(self, anchor: OutputAnchor, value: Value | None) -> None:
        """Note what is known of a value; None: nothing, any more."""
        if value is None:
            self._values.pop(anchor, None)
        else:
            self._values[anchor] = value
