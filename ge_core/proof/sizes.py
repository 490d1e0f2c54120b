"""How many bytes of a tensor mean something, and which facts of it an op's result depends on."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from ge_core.ir import TensorDesc


def extent(desc: TensorDesc) -> int | None:
    """Bytes that carry a value; None where nobody knows them.

    A declared storage size is often padded: kernels neither read nor write the padding.
    """
    data, storage = desc.data_bytes, desc.size
    if data is None:
        return storage
    return data if storage is None else min(data, storage)


# Descriptions are interned, so there are few, and none of them goes away.
@cache
def meaning(desc: TensorDesc | None) -> Hashable:
    """What of a description takes part in a computation: not where the tensor lies."""
    if desc is None:
        return None
    return desc.dtype, desc.shape, desc.format, desc.origin_shape, desc.origin_format
