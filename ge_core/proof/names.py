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
        if frame in self._calls:
            return self._calls[frame]
        path: Call | None = ()
        if frame.parent is not None and frame.caller is not None:
            outer = self.call(frame.parent)
            names = self.originals(frame.caller)
            path = (*outer, names[0]) if outer is not None and len(names) == 1 else None
        self._calls[frame] = path
        return path

    def instances(self, frame: Frame, node: Node) -> list[Instance]:
        """The reference's node instances that a node instance stands for."""
        path = self.call(frame)
        return [] if path is None else [(path, name) for name in self.originals(node)]
