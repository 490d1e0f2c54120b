"""`GraphBuilder`: graphs in a few lines of Python, for tests, examples and plugin authors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ge_core.errors import GraphError
from ge_core.ir.desc import TensorDesc
from ge_core.ir.graph import Graph
from ge_core.ir.node import Node, OutputAnchor
from ge_core.ir.value import ConstValue


class GraphBuilder:
    """Builds one graph; `subgraph` opens a builder for a subgraph of it.

    Descriptions default to that of the first input, else to float32[1,16].
    """

    def __init__(
        self, name: str = "root", source: str = "ge", *, graph: Graph | None = None
    ) -> None:
        self.graph = Graph(name, source) if graph is None else graph
        self._inputs = 0

    def subgraph(self, name: str) -> GraphBuilder:
        """A builder for a new subgraph of the same root."""
        return GraphBuilder(graph=self.graph.root.add_subgraph(name))

    def data(
        self,
        name: str,
        shape: Sequence[int] | None = (1, 16),
        dtype: str = "float32",
        *,
        index: int | None = None,
        desc: TensorDesc | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> OutputAnchor:
        """A graph input; in a subgraph `index` is the parent's input (counted up by default)."""
        at = self._inputs if index is None else index
        self._inputs = max(self._inputs, at + 1)
        key = "index" if self.graph.is_root else "_parent_node_index"
        node = self.graph.add_node(
            "Data",
            name,
            outputs=[desc or TensorDesc.make(dtype, shape)],
            attrs={key: at, **(attrs or {})},
        )
        return node.outputs[0]

    def const(
        self, name: str, data: bytes, shape: Sequence[int], dtype: str = "float32"
    ) -> OutputAnchor:
        """A constant with these raw little-endian bytes."""
        desc = TensorDesc.make(dtype, shape)
        if desc.nbytes != len(data):
            raise GraphError(f"{len(data)} bytes for {desc!r}", node=name, field="value")
        node = self.graph.add_node("Const", name, outputs=[desc], value=ConstValue(data=data))
        return node.outputs[0]

    def node(
        self,
        op: str,
        *inputs: OutputAnchor | None,
        name: str | None = None,
        outputs: Sequence[TensorDesc] | None = None,
        shape: Sequence[int] | None = None,
        dtype: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        control: Iterable[Node | OutputAnchor] = (),
        subgraphs: Mapping[str, GraphBuilder | Graph] | None = None,
        reuse_input: int | None = None,
    ) -> Node:
        """Add a node; without `outputs` it has one, described by shape and dtype."""
        if outputs is None:
            like = next((feed.desc for feed in inputs if feed is not None), TensorDesc.make())
            outputs = [
                TensorDesc.make(
                    dtype or like.dtype,
                    like.shape if shape is None else shape,
                    like.format if shape is None else "ND",
                    reuse_input=reuse_input,
                )
            ]
        return self.graph.add_node(
            op,
            name,
            inputs,
            outputs,
            attrs=attrs,
            control_inputs=[c.node if isinstance(c, OutputAnchor) else c for c in control],
            subgraphs={
                label: sub.graph if isinstance(sub, GraphBuilder) else sub
                for label, sub in (subgraphs or {}).items()
            },
        )

    def op(self, op: str, *inputs: OutputAnchor | None, **facts: Any) -> OutputAnchor:
        """Add a node and return its output 0."""
        return self.node(op, *inputs, **facts).outputs[0]

    def net_output(self, *inputs: OutputAnchor, name: str | None = None) -> Node:
        """The graph's results; in a subgraph input j carries parent index j."""
        if name is None:
            name = "NetOutput" if self.graph.is_root else f"{self.graph.name}/NetOutput"
        node = self.graph.add_node("NetOutput", name, inputs)
        if not self.graph.is_root:
            for at, anchor in enumerate(node.inputs):
                assert anchor.source is not None
                desc = anchor.source.desc.replace(attrs={}, reuse_input=None, mem_type="HBM")
                self.graph.set_desc(anchor, desc.with_attr("_parent_node_index", at))
        return node
