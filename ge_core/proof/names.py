"""Which original nodes a compiled node stands for: by origin, else by name."""

from __future__ import annotations

from ge_core.ir import Graph, Node
from ge_core.proof.frames import Call, Frame, Instance


class Names:
    """Names of compiled nodes in terms of a reference graph.

    For the reference graph itself every node stands for itself.
    """

    def __init__(self, reference: Graph) -> None:
        self._reference = reference.root
        self._by_origin: dict[str, list[str]] = {}
        for node in reference.root.all_nodes():
            for name in node.origin:
                self._by_origin.setdefault(name, []).append(node.name)
        self._known: dict[Node, tuple[str, ...]] = {}
        self._calls: dict[Frame, Call | None] = {}

    def originals(self, node: Node) -> tuple[str, ...]:
        """The nodes of the reference graph that a node stands for; empty for an invented one."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._find(node)
        return found

    def _find(self, node: Node) -> tuple[str, ...]:
        twin = self._reference.find(node.name)
        if twin is not None and (twin is node or twin.origin == node.origin):
            return (node.name,)
        found: dict[str, None] = {}
        for name in node.origin:
            found.update(dict.fromkeys(self._by_origin.get(name, ())))
        if not found and twin is not None and not node.origin:
            # No origin: a pass invented it, and took a name that means something else.
            return ()
        return tuple(found)

    def alike(self, node: Node) -> tuple[str, ...]:
        """Those of the originals that are the same op with the same inputs, one by one."""
        found = []
        for name in self.originals(node):
            other = self._reference.node(name)
            if other.op == node.op and len(other.inputs) == len(node.inputs):
                found.append(name)
        return tuple(found)

    def call(self, frame: Frame) -> Call | None:
        """The call path in names of the reference graph; None where it has no such call."""
        # Not by recursion: calls may nest deeper than Python's stack.
        waiting: list[Frame] = []
        outer: Frame | None = frame
        while outer is not None and outer not in self._calls:
            waiting.append(outer)
            outer = outer.parent
        while waiting:
            inner = waiting.pop()
            path: Call | None = ()
            if inner.parent is not None and inner.caller is not None:
                around = self._calls[inner.parent]
                names = self.originals(inner.caller)
                path = (*around, names[0]) if around is not None and len(names) == 1 else None
            self._calls[inner] = path
        return self._calls[frame]

    def instances(self, frame: Frame, node: Node) -> list[Instance]:
        """The reference's node instances that a node instance stands for."""
        path = self.call(frame)
        return [] if path is None else [(path, name) for name in self.originals(node)]
