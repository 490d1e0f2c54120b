"""What flows along an edge: an array, or a Python object (a sequence, an optional, text).

Arrays in here are C-contiguous. Sequences are lists and are never changed once they are made.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ge_core.api import InputAnchor, TensorDesc
from ge_runtime.dtypes import Array, numpy_dtype, sub_byte_bits


def nbytes_of(value: Any) -> int:
    """Bytes of arrays in a value; text and missing optionals count nothing."""
    if isinstance(value, np.ndarray):
        return 0 if value.dtype == object else int(value.nbytes)
    if isinstance(value, list):
        return sum(nbytes_of(item) for item in value)
    return 0


def contiguous(value: Any) -> Any:
    """The value with C-contiguous arrays; scalars become arrays without dimensions."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [contiguous(item) for item in value]
    return np.asarray(value, order="C")


def copied(value: Any) -> Any:
    """The value in memory of its own."""
    if isinstance(value, np.ndarray):
        return value.copy(order="C")
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def own(value: Any, others: list[Any]) -> Any:
    """The value, copied where an array of it may lie in the memory of one of the others."""
    if isinstance(value, list):
        return [own(item, others) for item in value]
    if isinstance(value, np.ndarray) and any(_may_share(value, other) for other in others):
        return value.copy(order="C")
    return value


def _may_share(value: Array, other: Any) -> bool:
    if isinstance(other, list):
        return any(_may_share(value, item) for item in other)
    return isinstance(other, np.ndarray) and np.may_share_memory(value, other)


def read_desc(anchor: InputAnchor) -> TensorDesc | None:
    """How a node sees an input: by the input's own description where that fits the same bytes."""
    if anchor.source is None:
        return None
    source, seen = anchor.source.desc, anchor.own_desc
    if seen is None or seen.data_bytes is None or seen.data_bytes != source.data_bytes:
        return source
    return seen


def seen_as(value: Any, desc: TensorDesc) -> Any:
    """An array in the shape and dtype of a static description, in the same memory."""
    if not isinstance(value, np.ndarray) or not desc.is_static or desc.dtype == "undefined":
        return value
    dtype = numpy_dtype(desc.dtype)
    shape = desc.shape or ()
    if value.dtype == dtype and value.shape == shape:
        return value
    if value.dtype != dtype:
        if desc.dtype == "string" or sub_byte_bits(desc.dtype) or value.dtype == object:
            return value
        if value.nbytes != desc.data_bytes:
            return value
        value = value.reshape(-1).view(dtype)
    return value.reshape(shape) if value.size == desc.elements else value


def digest(value: Any) -> bytes:
    """Eight bytes that tell values apart, by their bytes: NaNs with different payloads differ."""
    state = hashlib.blake2b(digest_size=8)
    feed_digest(state, value)
    return state.digest()


def feed_digest(state: Any, value: Any) -> None:
    """Put a value into a hash: bytes of arrays, contents of sequences, text."""
    if value is None:
        state.update(b"none")
    elif isinstance(value, list):
        state.update(b"[%d" % len(value))
        for item in value:
            feed_digest(state, item)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        state.update(b"a%d:" % value.nbytes)
        if value.size:
            state.update(np.asarray(value, order="C").reshape(-1).view(np.uint8).data)
    else:
        items = value.reshape(-1).tolist() if isinstance(value, np.ndarray) else [value]
        state.update(repr(items).encode())
