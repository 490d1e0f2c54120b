"""What was one memory in the graph that the compile began with, or values were last changed in.

Passes put copies between anchors that had been one memory; without those the graph is again as it
came, and what it did then it may do now.
"""

from __future__ import annotations

from functools import cached_property

from ge_core.api import AliasClasses, Anchor, Graph, InputAnchor, OpRegistry, Timeline


class Before:
    """Questions about the original; made into tables when the first one is asked.

    Args:
        original: None where nobody has kept it: then nothing is known to have been one memory.
    """

    def __init__(self, original: Graph | None, ops: OpRegistry) -> None:
        self._original = original
        self._ops = ops

    @cached_property
    def _classes(self) -> AliasClasses | None:
        return None if self._original is None else AliasClasses(self._original, self._ops)

    def same(self, one: Anchor, other: Anchor) -> bool:
        """Whether two anchors of the graph stand for anchors that were one memory, for certain."""
        classes = self._classes
        ends = [self._then(anchor) for anchor in (one, other)]
        if classes is None or ends[0] is None or ends[1] is None:
            return False
        if not classes.same(ends[0], ends[1]) or classes.distance(ends[0], ends[1]):
            return False
        graphs = [m.node.graph for m in classes.members(ends[0]) if m.node.graph is not None]
        # A subgraph with several callers may seem to make two memories one.
        return not Timeline(graphs[0], self._ops).is_spread(graphs)

    def _then(self, anchor: Anchor) -> Anchor | None:
        """The same anchor of the original node; None for what a pass has made since."""
        if self._original is None:
            return None
        found = (self._original.find(name) for name in (anchor.node.name, *anchor.node.origin))
        node = next((one for one in found if one and one.origin == anchor.node.origin), None)
        if node is None:
            return None
        if isinstance(anchor, InputAnchor):
            return node.inputs[anchor.index] if anchor.index < len(node.inputs) else None
        return node.outputs[anchor.index] if anchor.index < len(node.outputs) else None
