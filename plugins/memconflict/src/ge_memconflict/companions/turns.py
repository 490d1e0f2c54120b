"""What of a memory one turn of a loop can see.

What a loop is given is the loop's own, and so is what a turn is given: a store in the body reaches
neither whoever reads the loop's arguments nor the next turn, but by the turn's results.
"""

from __future__ import annotations

from ge_core.api import AliasClasses, Anchor, Graph, OpRegistry, OutputAnchor


class Turns:
    """Tells whether an anchor belongs to the turn that is looked at; without one, all do.

    Args:
        lasting: the type of anchors that are one memory by name, inside loops and outside.
    """

    def __init__(self, classes: AliasClasses, ops: OpRegistry, lasting: str) -> None:
        self._classes = classes
        self._ops = ops
        self._lasting = lasting
        self._known: dict[Graph, frozenset[Graph]] = {}
        self._turn: frozenset[Graph] | None = None

    def look_at(self, source: OutputAnchor | None) -> None:
        """Look at the turn that a value belongs to; None looks at everything again."""
        graph = None if source is None else source.node.graph
        self._turn = None
        if source is None or graph is None or source not in self._classes:
            return
        if not self._classes.count(source, self._lasting):
            self._turn = self._of(graph)

    def has(self, anchor: Anchor) -> bool:
        """Whether an anchor belongs to the turn, or to one of them where a graph is in several."""
        graph = anchor.node.graph
        return self._turn is None or graph is None or not self._turn.isdisjoint(self._of(graph))

    def _of(self, graph: Graph) -> frozenset[Graph]:
        """The loops' graphs, or the root, that a graph runs in; a chain of calls is one turn."""
        found = self._known.get(graph)
        if found is not None:
            return found
        turns: set[Graph] = set()
        seen = {graph}
        waiting = [graph]
        while waiting:
            at = waiting.pop()
            callers = [caller for caller, _ in at.callers]
            if not callers or any(self._ops.kind(caller) == "while" for caller in callers):
                turns.add(at)
            for caller in callers:
                outer = caller.graph
                if self._ops.kind(caller) != "while" and outer is not None and outer not in seen:
                    seen.add(outer)
                    waiting.append(outer)
        return self._known.setdefault(graph, frozenset(turns))
