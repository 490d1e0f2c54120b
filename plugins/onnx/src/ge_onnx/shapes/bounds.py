"""Bounds of a Slice that are computed, but turn out to be fixed once shapes are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ge_core.api import Graph, Node

Bounds = Sequence[np.ndarray[Any, np.dtype[Any]] | None]

OFFSETS: Final = "offsets"
SIZE: Final = "size"


def state_bounds(graph: Graph, node: Node, values: Bounds) -> None:
    """Give a Slice the attributes of GE's SliceD, where its bounds are computed and yet known.

    Passes and the proof read them as they read sizes of a Split. Constant bounds speak for
    themselves, and steps other than one have no such attributes.

    Args:
        values: what is known of each input of the node.
    """
    box = None if _are_constant(node) else _box(node, values)
    if box is None:
        # An earlier sweep of a loop may have known more.
        graph.del_attr(node, OFFSETS)
        graph.del_attr(node, SIZE)
        return
    graph.set_attr(node, OFFSETS, [low for low, _ in box])
    graph.set_attr(node, SIZE, [high - low for low, high in box])


def _are_constant(node: Node) -> bool:
    sources = [anchor.source for anchor in node.inputs[1:]]
    return all(source is None or source.node.op == "Const" for source in sources)


def _box(node: Node, values: Bounds) -> list[tuple[int, int]] | None:
    """[low, high) of each axis."""
    source = node.inputs[0].desc
    if source is None or source.shape is None or not source.is_static:
        return None
    given = [_given(node, at, values) for at in range(1, 5)]
    starts, ends, axes, steps = given
    if starts is None or ends is None:
        return None
    if axes is None and not _is_connected(node, 3):
        axes = list(range(len(starts)))
    if steps is None and not _is_connected(node, 4):
        steps = [1] * len(starts)
    if axes is None or steps is None or any(step != 1 for step in steps):
        return None
    rank = len(source.shape)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        return None
    box = [(0, dim) for dim in source.shape]
    for start, end, axis in zip(starts, ends, axes, strict=True):
        if not -rank <= axis < rank:
            return None
        dim = source.shape[axis]
        low = _clamped(start, dim)
        box[axis] = (low, max(low, _clamped(end, dim)))
    return box


def _is_connected(node: Node, at: int) -> bool:
    return at < len(node.inputs) and node.inputs[at].source is not None


def _given(node: Node, at: int, values: Bounds) -> list[int] | None:
    value = values[at] if at < len(values) else None
    if value is None or value.ndim != 1 or value.dtype.kind not in "iu":
        return None
    return [int(number) for number in value]


def _clamped(bound: int, dim: int) -> int:
    return min(max(bound + dim if bound < 0 else bound, 0), dim)
