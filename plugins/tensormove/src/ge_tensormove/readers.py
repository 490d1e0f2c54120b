"""The readers of an output, sorted by what the removal rules ask about them.

An output can feed thousands of copies, each of which is judged by its siblings: they are looked at
once, and the summary is kept right while copies go.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ge_core.api import Effects, InputAnchor, InputKind, OpRegistry, OutputAnchor, ref_of


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
    """

    results: dict[InputAnchor, None] = field(default_factory=dict)
    wrappers: dict[InputAnchor, None] = field(default_factory=dict)
    views: dict[InputAnchor, None] = field(default_factory=dict)
    writing_views: dict[InputAnchor, None] = field(default_factory=dict)
    writers: dict[InputAnchor, None] = field(default_factory=dict)
    plain: dict[InputAnchor, None] = field(default_factory=dict)
    kinds: dict[InputKind, dict[InputAnchor, None]] = field(default_factory=dict)

    def groups(self) -> tuple[dict[InputAnchor, None], ...]:
        """All groups of which every reader is in one."""
        return self.results, self.wrappers, self.views, self.writers, self.plain

    def drop(self, anchor: InputAnchor) -> None:
        """Take a reader out."""
        for group in (*self.groups(), self.writing_views, *self.kinds.values()):
            group.pop(anchor, None)

    def absorb(self, other: Readers) -> None:
        """Take over the readers of another output."""
        for mine, theirs in zip(self.groups(), other.groups(), strict=True):
            mine.update(theirs)
        self.writing_views.update(other.writing_views)
        for kind, anchors in other.kinds.items():
            self.kinds.setdefault(kind, {}).update(anchors)


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

    def bypassed(self, copy_input: InputAnchor, source: OutputAnchor, gone: OutputAnchor) -> None:
        """A copy was removed: what read it reads its source now."""
        theirs = self._known.pop(gone, None)
        mine = self._known.get(source)
        if mine is None:
            return
        mine.drop(copy_input)
        if theirs is not None:
            mine.absorb(theirs)
        else:
            del self._known[source]
