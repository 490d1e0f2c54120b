"""Which of two nodes runs first, whatever the planner and the streams do."""

from __future__ import annotations

from typing import Final

from ge_core.api import Graph, Node, OpRegistry, Order, lift_both, listed_order

_END: Final = float("inf")


class Times:
    """The order of nodes: as listed where all run on one stream, else by edges.

    A graph's NetOutput reads when everything else has run.

    Attributes:
        steps: comparisons made, for the bound on work and tests of the cost.
    """

    def __init__(self, root: Graph, ops: OpRegistry) -> None:
        self.order = Order(root, ops)
        self.steps = 0
        self._ops = ops
        self._places: dict[Node, float] = {}
        self._numbered: set[Graph] = set()
        streams = {node.stream_id for node in root.all_nodes() if "stream_id" in node.attrs}
        self._one_stream = streams <= {0} or (len(streams) == 1 and _all_say(root))

    def before(self, first: Node, second: Node) -> bool:
        """Whether the first has finished whenever the second starts; containers stand for both."""
        self.steps += 1
        both = lift_both(first, second)
        if both is None:
            return False
        _, firsts, seconds = both
        return all(self._in_order(one, other) for one in firsts for other in seconds)

    def may_follow(self, waiting: list[Node], readers: list[Node]) -> bool:
        """Whether all waiting nodes can be made to wait for all readers, the listing as it is."""
        if self._one_stream:
            last = max(self._place(node) for node in readers)
            return last < min(self._place(node) for node in waiting)
        if any(self._ops.kind(node) == "net_output" for node in readers):
            return False
        return self.order.path(waiting, readers) is None

    def put_in_order(self, one: Node, other: Node) -> None:
        """Have an edge say what only the listing says of two nodes of one graph."""
        if not self._one_stream or self._place(one) == self._place(other):
            return
        first, second = sorted((one, other), key=self._place)
        if self._ops.kind(second) != "net_output" and not self.order.depends(first, second):
            self.order.add_control(first, second)

    def insert_before(self, node: Node, reader: Node) -> None:
        """A new node stands directly before one that reads it."""
        self.order.vouch()
        if self._one_stream:
            self._places[node] = self._place(reader) - 0.5

    def edited(self) -> None:
        """Edges went, or came along paths there were."""
        self.order.vouch()

    def _in_order(self, one: Node, other: Node) -> bool:
        if one is other:
            return False
        if self._one_stream:
            return self._place(one) < self._place(other)
        return self.order.depends(one, other)

    def _place(self, node: Node) -> float:
        if self._ops.kind(node) == "net_output":
            return _END
        graph = node.graph
        if graph is not None and graph not in self._numbered:
            self._numbered.add(graph)
            for at, each in enumerate(listed_order(graph)):
                self._places.setdefault(each, at)
        if node not in self._places:
            # A barrier that a removal left, for order alone.
            earlier = [self._place(other) for other in node.control_inputs]
            self._places[node] = max(earlier, default=0) + 0.25
        return self._places[node]


def _all_say(root: Graph) -> bool:
    """Whether all nodes but those that feed graphs, or end them, name their stream."""
    return all(
        "stream_id" in node.attrs or not node.inputs or node.op == "NetOutput"
        for node in root.all_nodes()
    )
