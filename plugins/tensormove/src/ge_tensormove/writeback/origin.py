"""Which memory an output certainly is: the way back through names, views, updates and calls.

Alias classes say what may be one memory, which is what a question about interference needs. Whether
a write-back stores a value where it lies already needs certainty: a subgraph with several callers
is given another memory by each of them, and a merge hands on one of several.
"""

from __future__ import annotations

from ge_core.api import (
    Interfaces,
    OpRegistry,
    OutputAnchor,
    is_free_join,
    is_free_split,
    is_subgraph_data,
    named_memory,
    parent_index,
    ref_of,
)


class Origins:
    """Answers for one graph; keeps nothing but how the ends of subgraphs are read."""

    def __init__(self, ops: OpRegistry, ends: Interfaces | None = None) -> None:
        self._ops = ops
        self._ends = Interfaces() if ends is None else ends

    def of(self, output: OutputAnchor) -> OutputAnchor:
        """The output that made the memory, or the last one on the way that is certain."""
        seen: set[OutputAnchor] = set()
        while output not in seen:
            seen.add(output)
            before = self._before(output)
            if before is None:
                break
            output = before
        return output

    def _before(self, output: OutputAnchor) -> OutputAnchor | None:
        node = output.node
        named = named_memory(output)
        if named is not None:
            return named
        if is_subgraph_data(node):
            return self._outside(output)
        if self._ops.kind(node) == "call" and node.subgraphs:
            return self._inside(output)
        # A piece of a whole begins elsewhere, and is shorter.
        if node.subgraphs or is_free_join(node) or is_free_split(node):
            return None
        if self._ops.kind(node) in ("merge", "net_output"):
            return None
        at = ref_of(output, self._ops)
        if at is None or not 0 <= at < len(node.inputs):
            return None
        return node.inputs[at].source

    def _outside(self, output: OutputAnchor) -> OutputAnchor | None:
        """What the only caller hands in, unless each turn gets it anew."""
        graph, at = output.node.graph, parent_index(output.node)
        if graph is None or at is None or len(graph.callers) != 1:
            return None
        caller = graph.callers[0][0]
        if self._ops.kind(caller) not in ("call", "if", "case"):
            return None
        return caller.inputs[at].source if 0 <= at < len(caller.inputs) else None

    def _inside(self, output: OutputAnchor) -> OutputAnchor | None:
        """What the only call of a subgraph gives back."""
        for graph in dict.fromkeys(output.node.subgraphs.values()):
            result = self._ends.of(graph).results.get(output.index)
            if result is not None and len(graph.callers) == 1:
                return result.source
        return None
