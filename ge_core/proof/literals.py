"""Numbers that a node states: attributes, and constants that feed it directly."""

from __future__ import annotations

from typing import Final

from ge_core.ir import Node

_MOST: Final = 1024
"""Bytes of the largest constant that is read for axes, offsets or sizes."""


def declared_axis(node: Node, names: tuple[str, ...]) -> int | None:
    """The axis that an attribute of the node gives."""
    for name in names:
        value = node.attrs.get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def constant_ints(node: Node, at: int) -> list[int] | None:
    """The integers of a constant that feeds an input directly; None where there are none."""
    source = node.inputs[at].source if at < len(node.inputs) else None
    value = None if source is None else source.node.value
    if source is None or value is None or source.desc.dtype not in ("int32", "int64"):
        return None
    if value.nbytes > _MOST:
        return None
    data = value.read()
    size = 4 if source.desc.dtype == "int32" else 8
    return [
        int.from_bytes(data[at : at + size], "little", signed=True)
        for at in range(0, len(data), size)
    ]
