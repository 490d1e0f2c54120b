"""The readers of an output, sorted by what the removal rules ask about them.

An output can feed thousands of copies, each of which is judged by its siblings: they are looked at
once, and the summary is kept right while copies go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ge_core.api import (
    Effects,
    InputAnchor,
    InputKind,
    Node,
    OpRegistry,
    Order,
    OutputAnchor,
    ref_of,
)


@dataclass(slots=True)
class Readers:
    """The readers of one output; each stands in one group, in order.

    Attributes:
        results: inputs of a NetOutput.
        wrappers: inputs of nodes with subgraphs.
        views: inputs whose memory the node hands on as an output; of them `writing_views` are
            overwritten as well.
        writers: inputs that are overwritten, and not handed on.
        plain: inputs that are only read.
        kinds: the kind of each reader that has no subgraphs.
        nodes: the nodes of all readers, with the number of their inputs that read.
    """

    results: dict[InputAnchor, None] = field(default_factory=dict)
    wrappers: dict[InputAnchor, None] = field(default_factory=dict)
    views: dict[InputAnchor, None] = field(default_factory=dict)
    writing_views: dict[InputAnchor, None] = field(default_factory=dict)
    writers: dict[InputAnchor, None] = field(default_factory=dict)
    plain: dict[InputAnchor, None] = field(default_factory=dict)
    kinds: dict[InputKind, dict[InputAnchor, None]] = field(default_factory=dict)
    nodes: dict[Node, int] = field(default_factory=dict)
    _leading: dict[Node, Node] = field(default_factory=dict)
    _last: tuple[int, int] | None = None

    def groups(self) -> tuple[dict[InputAnchor, None], ...]:
        """All groups of which every reader is in one."""
        return self.results, self.wrappers, self.views, self.writers, self.plain

    def drop(self, anchor: InputAnchor) -> None:
        """Take a reader out."""
        for group in (*self.groups(), self.writing_views, *self.kinds.values()):
            group.pop(anchor, None)
        left = self.nodes.pop(anchor.node, 1) - 1
        if left:
            self.nodes[anchor.node] = left

    def absorb(self, other: Readers) -> None:
        """Take over the readers of another output."""
        for mine, theirs in zip(self.groups(), other.groups(), strict=True):
            mine.update(theirs)
        self.writing_views.update(other.writing_views)
        if not other.nodes:
            # What led to a copy that nobody read leads nowhere now.
            self._leading.clear()
        for kind, anchors in other.kinds.items():
            self.kinds.setdefault(kind, {}).update(anchors)
        for node, count in other.nodes.items():
            self.nodes[node] = self.nodes.get(node, 0) + count
        self._last = None

    # ---- what comes before a reader ------------------------------------------------------------

    def reached(self, sources: Iterable[Node], order: Order) -> tuple[Node, Node] | None:
        """One of some nodes from which a path leads to a reader, and that reader; None for none.

        What was found to lead there is remembered: where a copy goes its readers are led to.
        """
        last = self._last_label(order)
        for source in sources:
            found = self._leads_to(source, order, last)
            if found is not None:
                return source, found
        return None

    def _last_label(self, order: Order) -> int:
        """The highest label of a reader: nothing beyond leads to one."""
        if self._last is None or self._last[0] != order.work.relabelled:
            last = max((order.label(node) for node in self.nodes), default=0)
            # Asking may have placed new nodes.
            self._last = order.work.relabelled, last
        return self._last[1]

    def _leads_to(self, source: Node, order: Order, last: int) -> Node | None:
        leading = self._leading
        if source in leading:
            return leading[source]
        if order.label(source) >= last:
            return None
        came_from: dict[Node, Node | None] = {source: None}
        stack = [source]
        while stack:
            node = stack.pop()
            for other in (*node.out_nodes, *node.control_outputs):
                order.work.steps += 1
                target = other if other in self.nodes else leading.get(other)
                if target is not None:
                    way: Node | None = node
                    while way is not None:
                        leading[way] = target
                        way = came_from[way]
                    return target
                if other not in came_from and order.label(other) < last:
                    came_from[other] = node
                    stack.append(other)
        return None


class ReaderTable:
    """The summaries of all outputs asked for so far."""

    def __init__(self, ops: OpRegistry, effects: Effects) -> None:
        self._ops = ops
        self._effects = effects
        self._known: dict[OutputAnchor, Readers] = {}

    def of(self, output: OutputAnchor) -> Readers:
        """The readers of an output, sorted."""
        found = self._known.get(output)
        if found is None:
            found = self._known[output] = Readers()
            for anchor in output.readers:
                self._sort_in(anchor, found)
        return found

    def _sort_in(self, anchor: InputAnchor, into: Readers) -> None:
        node = anchor.node
        into.nodes[node] = into.nodes.get(node, 0) + 1
        if node.subgraphs:
            into.wrappers[anchor] = None
            return
        kind = self._effects.input_kind(anchor)
        into.kinds.setdefault(kind, {})[anchor] = None
        if self._ops.kind(node) == "net_output":
            into.results[anchor] = None
        elif any(ref_of(output, self._ops) == anchor.index for output in node.outputs):
            into.views[anchor] = None
            if kind.writes:
                into.writing_views[anchor] = None
        elif kind.writes:
            into.writers[anchor] = None
        else:
            into.plain[anchor] = None

    def bypassed(
        self, copy_input: InputAnchor, source: OutputAnchor, gone: OutputAnchor | None
    ) -> None:
        """A copy was removed: what read it (None: nothing could) reads its source now."""
        theirs = Readers() if gone is None else self._known.pop(gone, None)
        mine = self._known.get(source)
        if mine is None:
            return
        mine.drop(copy_input)
        if theirs is not None:
            mine.absorb(theirs)
        else:
            del self._known[source]
