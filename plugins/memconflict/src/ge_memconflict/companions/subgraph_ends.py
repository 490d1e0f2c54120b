"""Copies at the ends of one subgraph: behind its inputs, and in front of its results.

GE's conditions. Each says why caller and subgraph can't have one memory there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ge_core.api import (
    DATA_LIKE,
    Graph,
    InputAnchor,
    Interfaces,
    Node,
    OpRegistry,
    OutputAnchor,
    is_subgraph_data,
)
from ge_memconflict.companions.copying import KEPT, Copier
from ge_memconflict.companions.marks import is_constant, is_dynamic, packs_inputs, packs_outputs
from ge_memconflict.companions.ways import callers_feeds, down, makers, up


@dataclass(slots=True)
class Ends:
    """Looks at the ends of subgraphs, one after the other."""

    copier: Copier
    ends: Interfaces

    @property
    def _ops(self) -> OpRegistry:
        return self.copier.ctx.ops

    def inputs(self, graph: Graph) -> None:
        """Copies behind a subgraph's inputs, and before a loop's inputs that are constants."""
        for data in graph.nodes_of(*sorted(DATA_LIKE)):
            if not is_subgraph_data(data) or not data.outputs:
                continue
            value = data.outputs[0]
            packed = next((r for r in down(value, self._ops) if packs_inputs(r.node)), None)
            if packed is not None:
                self.copier.shared(
                    [value],
                    [list(value.readers)],
                    f"{data.name}_output_0_Memcpy",
                    "PACKED_INPUT",
                    attrs=KEPT,
                    blame=[value, packed],
                    user=packed.node.name,
                    value=value,
                )
            for outer in callers_feeds(data):
                self._constant_into_loop(outer)

    def _constant_into_loop(self, outer: InputAnchor) -> None:
        loop, value = outer.node, outer.source
        if value is None or self._ops.kind(loop) != "while":
            return
        made = next(
            (m for m in makers(value, self._ops, self.ends) if is_constant(m.node, self._ops)), None
        )
        if made is not None:
            self.copier.in_front(
                outer,
                f"{loop.name}_input_{outer.index}_Memcpy",
                "CONSTANT_INTO_LOOP",
                attrs=KEPT,
                blame=[made, outer],
                value=made,
            )

    def results(self, graph: Graph, out: Node) -> None:
        """Copies in front of a subgraph's results."""
        for result in out.inputs:
            if result.source is None:
                continue
            why = self._why(graph, result.source)
            if why is not None:
                code, blamed = why
                fields: dict[str, Any] = {"value": result.source, "user": blamed.node.name}
                self.copier.in_front(
                    result,
                    f"{out.name}_input_{result.index}_Memcpy",
                    code,
                    attrs=KEPT,
                    blame=[blamed, result],
                    **fields,
                )

    def _why(self, graph: Graph, value: OutputAnchor) -> tuple[str, OutputAnchor] | None:
        """The code of the reason, and the output that is at the bottom of it; None for none."""
        node, ops = value.node, self._ops
        callers = [caller for caller, _ in graph.callers]
        if any(c.graph is not None and not is_dynamic(c.graph) for c in callers):
            # A call's own subgraph copies what it delivers.
            handed_in = is_subgraph_data(node)
            for made in makers(value, ops, self.ends) if handed_in else (value,):
                if is_constant(made.node, ops):
                    return "CONSTANT_RESULT", made
        if node.attrs.get("is_atomic_node") and value.index in _numbers(
            node.attrs.get("atomic_output_index")
        ):
            return "CLEARED_RESULT", value
        for shared in up(value, ops):
            if packs_outputs(shared.node):
                return "PACKED_RESULT", shared
        if node.op == "Data" and any(ops.kind(caller) != "while" for caller in callers):
            return "INPUT_AS_RESULT", value
        if ops.kind(node) == "while" and is_dynamic(graph.root) and not is_dynamic(graph):
            return "LOOP_RESULT", value
        return None


def _numbers(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()
