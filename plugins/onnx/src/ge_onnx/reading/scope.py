"""Which name means which value where.

A scope is a graph of the file, or one call of a function. Functions see only their own names; an
inner graph sees those around it too. What it reads from outside becomes an explicit input: of the
node that runs it, and of every node between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onnx import AttributeProto

from ge_core.api import Graph, InputFileError, Node, OutputAnchor, TensorDesc
from ge_onnx.proto.types import UNKNOWN
from ge_onnx.reading.schemas import Opsets


@dataclass
class CallSite:
    """What the graphs of one node capture: an input of the node for each value, behind its own."""

    base: int
    outer: dict[OutputAnchor, int] = field(default_factory=dict)

    def position(self, anchor: OutputAnchor) -> int:
        """The input of the node that hands this value in."""
        return self.base + self.outer.setdefault(anchor, len(self.outer))


@dataclass
class Scope:
    """Names and surroundings of the nodes being read.

    Attributes:
        graph: where they go.
        opsets: the versions that they are written in.
        prefix: in front of the names of what a function call expands to.
        bindings: attributes of the call, in a function's scope.
        parent, site: of an inner graph: what lies around it, and the node that runs it.
        values: what is known by name; None for an optional argument left out.
        add_data: makes an inner graph's Data: (graph, name, attributes, description) -> node.
    """

    graph: Graph
    opsets: Opsets
    prefix: str = ""
    bindings: Mapping[str, AttributeProto] = field(default_factory=dict)
    parent: Scope | None = None
    site: CallSite | None = None
    values: dict[str, OutputAnchor | None] = field(default_factory=dict)
    captured: dict[OutputAnchor, OutputAnchor] = field(default_factory=dict)
    last_data: Node | None = None
    add_data: Callable[[Scope, str, Mapping[str, Any], TensorDesc], Node] | None = None

    def read(self, name: str, node: str, field: str = "input") -> OutputAnchor | None:
        """The value of that name, captured as far in as this scope lies.

        Raises:
            InputFileError: nobody produces it.
        """
        crossed: list[Scope] = []
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            crossed.append(scope)
            scope = scope.parent
        if scope is None:
            raise InputFileError(f"nothing produces {name!r}", node=node, field=field)
        anchor = scope.values[name]
        for inner in reversed(crossed):
            if anchor is not None:
                anchor = inner._capture(name, anchor)
            inner.values[name] = anchor
        return anchor

    def define(self, name: str, anchor: OutputAnchor | None, node: str, field: str) -> None:
        """Give a value its name.

        Raises:
            InputFileError: the name is taken in this scope.
        """
        if name in self.values:
            raise InputFileError(f"{name!r} is produced twice", node=node, field=field)
        self.values[name] = anchor

    def _capture(self, name: str, anchor: OutputAnchor) -> OutputAnchor:
        if anchor.node.graph is self.graph:
            return anchor
        found = self.captured.get(anchor)
        if found is None:
            assert self.site is not None and self.add_data is not None
            at = self.site.position(anchor)
            data = self.add_data(self, name, {"_parent_node_index": at}, UNKNOWN)
            found = self.captured[anchor] = data.outputs[0]
        return found
