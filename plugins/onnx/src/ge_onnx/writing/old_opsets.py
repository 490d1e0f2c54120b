"""Nodes that follow another version of their domain than the model imports.

They come from functions, which name versions of their own. Where the op has changed between the two
versions the node goes back into a function of one node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx import FunctionProto, NodeProto

from ge_onnx.reading.schemas import schema_of

_DOMAIN: Final = "ge.opsets"


class OldOpsets:
    """The functions that one model needs for such nodes.

    Args:
        imports: the versions that the model imports; a domain of its own is added when needed.
    """

    def __init__(self, imports: dict[str, int]) -> None:
        self._imports = imports
        self.functions: list[FunctionProto] = []

    def wrap(self, node: NodeProto, version: int) -> NodeProto:
        """The node itself, or a call of a function that is the node in its own version."""
        if _is_same(node, version, self._imports) or any(a.HasField("g") for a in node.attribute):
            return node
        number = len(self.functions)
        inner = NodeProto()
        inner.CopyFrom(node)
        inner.ClearField("input")
        inner.ClearField("output")
        inner.input.extend(f"x{at}" if name else "" for at, name in enumerate(node.input))
        inner.output.extend(f"y{at}" if name else "" for at, name in enumerate(node.output))
        function = FunctionProto(name=f"{node.op_type}_{version}_{number}", domain=_DOMAIN)
        function.input.extend(name for name in inner.input if name)
        function.output.extend(name for name in inner.output if name)
        function.node.append(inner)
        function.opset_import.add(domain=node.domain, version=version)
        self.functions.append(function)
        self._imports.setdefault(_DOMAIN, 1)
        return NodeProto(
            op_type=function.name,
            domain=_DOMAIN,
            name=node.name,
            input=[name for name in node.input if name],
            output=[name for name in node.output if name],
        )


def _is_same(node: NodeProto, version: int, imports: Mapping[str, int]) -> bool:
    imported = imports.get(node.domain)
    if imported is None or imported == version:
        return True
    ours = schema_of(node.domain, node.op_type, version)
    theirs = schema_of(node.domain, node.op_type, imported)
    return ours is not None and theirs is not None and ours.since_version == theirs.since_version
