"""A node as its kernel sees it: ONNX's op, version and attributes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ge_core.api import Node
from ge_onnx import ops
from ge_onnx.messages import absent_outputs, version_of

Array = np.ndarray[Any, np.dtype[Any]]
Kernel = Callable[..., Any]
"""(call, *inputs) -> an array, or a tuple of them. Inputs left out are None."""


@dataclass
class Call:
    """What a kernel needs to know besides its inputs.

    Attributes:
        domain, op, version: of ONNX.
        attrs: by ONNX's names.
        node_attrs: all attributes of the node, by the graph's names.
        outputs: which outputs are wanted.
        state: whatever the kernel wants to keep between runs of equal nodes.
    """

    domain: str
    op: str
    version: int
    attrs: dict[str, Any]
    node_attrs: dict[str, Any]
    outputs: tuple[bool, ...]
    state: dict[Any, Any] = field(default_factory=dict)

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, or the default where the node has none."""
        found = self.attrs.get(name, default)
        if isinstance(found, dict) and "empty" in found:
            return []
        return found


_IGNORED: Final = frozenset(
    {ops.DOC, ops.METADATA, ops.REST, ops.NODE_NAME, ops.SOURCE_OP, ops.SIZES_NAME}
)
_CACHE_SIZE: Final = 4096
_cache: OrderedDict[Any, Call] = OrderedDict()


def call_of(node: Node) -> Call:
    """The call of a node; equal nodes share one, so that what a kernel prepares is done once."""
    version = version_of(node)
    outputs = tuple(not gone for gone in absent_outputs(node))
    attrs = {key: value for key, value in node.attrs.items() if key not in _IGNORED}
    key = (node.op, version, outputs, frozen(attrs))
    found = _cache.get(key)
    if found is not None:
        _cache.move_to_end(key)
        return found
    domain, op = ops.onnx_op(node.op)
    found = Call(domain, op, version, ops.onnx_attrs(node.op, attrs), attrs, outputs)
    _cache[key] = found
    if len(_cache) > _CACHE_SIZE:
        _cache.popitem(last=False)
    return found


def frozen(value: Any) -> Any:
    """A hashable stand-in for an attribute's value; tells 1, 1.0 and True apart."""
    if isinstance(value, dict):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    if isinstance(value, (list, tuple)):
        return tuple(frozen(item) for item in value)
    return (type(value), value)
