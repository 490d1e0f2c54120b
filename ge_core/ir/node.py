"""Nodes and their anchors.

Never add here: knowledge of passes, of single op types, or an attribute that only one pass reads.
Both ends of every edge are kept right by `Graph`'s methods; nothing here edits an edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ge_core.ir.desc import TensorDesc
    from ge_core.ir.graph import Graph
    from ge_core.ir.value import ConstValue

_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


class OutputAnchor:
    """Output `index` of `node`; `readers` are the inputs it feeds, in linking order."""

    __slots__ = ("desc", "index", "node", "readers")

    def __init__(self, node: Node, index: int, desc: TensorDesc) -> None:
        self.node = node
        self.index = index
        self.desc = desc
        self.readers: list[InputAnchor] = []

    @property
    def name(self) -> str:
        """The port's name, where the graph gives one; none is invented."""
        names = self.node.output_names
        return names[self.index] if self.index < len(names) else ""

    def __repr__(self) -> str:
        return f"{self.node.name}:{self.index}"


class InputAnchor:
    """Input `index` of `node`, fed by `source` (None: an optional input left out)."""

    __slots__ = ("index", "node", "own_desc", "source")

    def __init__(self, node: Node, index: int) -> None:
        self.node = node
        self.index = index
        self.source: OutputAnchor | None = None
        self.own_desc: TensorDesc | None = None

    @property
    def desc(self) -> TensorDesc | None:
        """Its own description where it has one, else that of what feeds it."""
        if self.own_desc is not None:
            return self.own_desc
        return None if self.source is None else self.source.desc

    @property
    def name(self) -> str:
        """The port's name, where the graph gives one."""
        names = self.node.input_names
        return names[self.index] if self.index < len(names) else ""

    def __repr__(self) -> str:
        return f"{self.node.name}@{self.index}"


class Node:
    """One operator. Containers that most nodes leave empty are made on first use.

    Attributes:
        name: unique in the whole graph, subgraphs included.
        op: op type; ops of a custom ONNX domain are spelled `domain::Type`.
        graph: the graph that owns it; None once removed.
        inputs, outputs: anchors by index.
        subgraphs: named subgraphs in listing order (label -> Graph).
        value: the bytes of a constant.
        origin: names of the original nodes that it stands for; empty for a node a pass invented.
    """

    __slots__ = (
        "_attrs",
        "_control_in",
        "_control_out",
        "_next",
        "_origin",
        "_prev",
        "_subgraphs",
        "graph",
        "input_names",
        "inputs",
        "name",
        "op",
        "output_names",
        "outputs",
        "value",
    )

    def __init__(self, name: str, op: str, graph: Graph) -> None:
        self.name = name
        self.op = op
        self.graph: Graph | None = graph
        self.inputs: list[InputAnchor] = []
        self.outputs: list[OutputAnchor] = []
        self.input_names: tuple[str, ...] = ()
        self.output_names: tuple[str, ...] = ()
        self.value: ConstValue | None = None
        self._attrs: dict[str, Any] | None = None
        self._control_in: dict[Node, None] | None = None
        self._control_out: dict[Node, None] | None = None
        self._subgraphs: dict[str, Graph] | None = None
        self._origin: tuple[str, ...] | None = None
        self._prev: Node | None = None
        self._next: Node | None = None

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes by GE's names; edit through `Graph.set_attr` and `del_attr`."""
        return _EMPTY if self._attrs is None else self._attrs

    @property
    def control_inputs(self) -> Sequence[Node]:
        """Nodes that must have finished before this one starts."""
        return () if self._control_in is None else tuple(self._control_in)

    @property
    def control_outputs(self) -> Sequence[Node]:
        """Nodes that wait for this one."""
        return () if self._control_out is None else tuple(self._control_out)

    @property
    def subgraphs(self) -> Mapping[str, Graph]:
        """Named subgraphs in listing order."""
        return _EMPTY if self._subgraphs is None else self._subgraphs

    @property
    def origin(self) -> tuple[str, ...]:
        """The original nodes it stands for."""
        return (self.name,) if self._origin is None else self._origin

    @property
    def stream_id(self) -> int:
        """The stream it runs on (attribute `stream_id`, 0 by default)."""
        return int(self.attrs.get("stream_id", 0))

    @property
    def in_nodes(self) -> list[Node]:
        """Data predecessors, one entry per connected input."""
        return [anchor.source.node for anchor in self.inputs if anchor.source is not None]

    @property
    def out_nodes(self) -> list[Node]:
        """Data successors, one entry per edge, by output and reader order."""
        return [reader.node for output in self.outputs for reader in output.readers]

    def __repr__(self) -> str:
        return f"<{self.op} {self.name}>"
