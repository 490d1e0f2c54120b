"""Who writes the memory of an output: asked before its readers, or others, are given another."""

from __future__ import annotations

from ge_core.analysis._alias_rules import NAME_MARK
from ge_core.analysis.aliases import AliasClasses, Anchor
from ge_core.analysis.effects import Effects
from ge_core.errors import LayoutConflict
from ge_core.ir import Graph, InputAnchor, OutputAnchor
from ge_core.ops import OpRegistry

_WRITES = "writes"


class Sharing:
    """What is one memory when the graph runs, and who writes it; right after every edit.

    A `Graph.bypass` joins two memories, which is done to the classes at hand, so that a pass may
    ask before each of many. After other edits they are made anew at the next question. A node that
    is gone may leave memories together that it alone had held together: the answer is then no where
    it could be yes.
    """

    def __init__(self, graph: Graph, ops: OpRegistry) -> None:
        self._root = graph.root
        self._ops = ops
        self._effects = Effects(ops)
        self._made: AliasClasses | None = None
        self._version = 0
        self._read = 0
        self.builds = 0
        """How often the classes were made, for tests of the cost."""

    def first_writer(self, output: OutputAnchor) -> Anchor | None:
        """The first anchor that may change the memory of an output, under any of its names.

        Returns:
            an input whose node writes or destroys it, or an output that says by name that it is a
            variable's memory; None where nobody writes.
        """
        return next(iter(self._classes().of_type(output, _WRITES)), None)

    def may_share(self, output: OutputAnchor, source: OutputAnchor) -> bool:
        """Whether the readers of one output may read another, whose contents are the same.

        Yes where both are one memory already, or where nobody writes either. No where only the
        order of writers and readers could tell.
        """
        classes = self._classes()
        if classes.same(output, source):
            return True
        return not any(classes.count(one, _WRITES) for one in (output, source))

    def _classes(self) -> AliasClasses:
        if self._made is None or not self._caught_up(self._made):
            self._made = AliasClasses(self._root, self._ops, types=self._types)
            self._version = self._root.version
            self._read = len(self._root.journal.bypasses)
            self.builds += 1
        return self._made

    def _caught_up(self, classes: AliasClasses) -> bool:
        """Follow the bypasses since the last question; False where there were other edits too."""
        log = self._root.journal.bypasses
        while self._read < len(log) and log[self._read].before == self._version:
            step = log[self._read]
            try:
                classes.join(step.source, step.output)
            except LayoutConflict:
                return False
            for anchors in (step.node.inputs, step.node.outputs):
                for anchor in anchors:
                    classes.discard(anchor)
            self._version, self._read = step.after, self._read + 1
        return self._version == self._root.version

    def _types(self, anchor: Anchor) -> tuple[str, ...]:
        if isinstance(anchor, InputAnchor):
            writes = self._effects.writes(anchor)
        else:
            writes = NAME_MARK in anchor.desc.attrs or NAME_MARK in anchor.node.attrs
        return (_WRITES,) if writes else ()
