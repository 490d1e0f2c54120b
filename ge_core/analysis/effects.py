"""Read and write kinds: what a node does to an input, what an output allows its readers.

GE records the kinds of subgraph inputs and outputs in tables and inserts copies on the way. Here
they are pure functions of the graph as it stands; where GE would insert a copy in front of a
subgraph's result, `Recorded.isolate` says so and nothing is inserted. A subgraph's result is found
by its parent index, where GE takes the position.

An output's kind depends on how many readers it has, so it changes when a copy is removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from ge_core.analysis.interface import Interfaces
from ge_core.ir import InputAnchor, Node, OutputAnchor
from ge_core.ops import (
    OpRegistry,
    named_pairs,
    output_parent_index,
    parent_index,
    scribbled_inputs,
    written_inputs,
)
from ge_core.ops.builtin import CONST_LIKE, DATA_LIKE, VAR_LIKE


class InputKind(Enum):
    """What a node does to the memory of an input."""

    READ_ONLY = "ReadOnly"
    WRITEABLE = "Writeable"
    """Updates it; others are meant to see that."""
    SCOPE_WRITEABLE = "ScopeWriteable"
    """Overwrites it for its own use; nobody is meant to see that."""
    INVALID = "Invalid"
    """Can't be told, or two uses contradict each other."""

    @property
    def writes(self) -> bool:
        """Whether the memory may have changed afterwards; what can't be told counts as written."""
        return self is not InputKind.READ_ONLY


class OutputKind(Enum):
    """What the memory of an output allows."""

    READ_ONLY_CONST = "ReadOnlyConst"
    READ_ONLY = "ReadOnly"
    """Several readers share it."""
    SOFT_READ = "SoftRead"
    """It has one reader, which may do as it likes."""
    WRITEABLE = "Writeable"
    """Memory that is updated in place: a variable, a graph input, the result of a store."""
    INVALID = "Invalid"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one result of a subgraph passes on.

    Attributes:
        kind: the kind that the parent's output has because of it.
        isolate: whether GE puts a copy in front of it, since the parent's readers can't take
            memory that is updated in place; `kind` is then that of the copy.
    """

    kind: OutputKind
    isolate: bool = False


def combined(kinds: Iterable[InputKind]) -> InputKind:
    """The kind of several uses together: reading yields to writing, two ways of writing clash."""
    found = frozenset(kinds) - {InputKind.READ_ONLY}
    if not found:
        return InputKind.READ_ONLY
    if len(found) > 1:
        return InputKind.INVALID
    return next(iter(found))


_STRICTEST: Final = (
    OutputKind.INVALID,
    OutputKind.READ_ONLY_CONST,
    OutputKind.READ_ONLY,
    OutputKind.WRITEABLE,
    OutputKind.SOFT_READ,
)
"""Which kind forbids most, first; for a subgraph input that several callers feed differently."""


_Marks: TypeAlias = tuple[frozenset[int], frozenset[int]]
_UNMARKED: Final[_Marks] = (frozenset(), frozenset())


class Effects:
    """Kinds of all anchors below a root. Keeps no kinds: every answer is about the graph as it is.

    Cost: of an ordinary anchor its node's attributes; of a node with subgraphs the readers of the
    inner inputs, at any depth.

    Args:
        ends: how the ends of subgraphs are read; by default again after every edit.
        lasting: read the marks of a node once for all, for somebody who edits edges only.
    """

    def __init__(
        self, ops: OpRegistry, ends: Interfaces | None = None, *, lasting: bool = False
    ) -> None:
        self._ops = ops
        self._ends = Interfaces() if ends is None else ends
        self._lasting: dict[Node, _Marks] | None = {} if lasting else None
        self._marks: tuple[Node, int, _Marks] | None = None

    # ---- inputs --------------------------------------------------------------------------------

    def input_kind(self, anchor: InputAnchor) -> InputKind:
        """What the node does to this input."""
        if self._is_wrapper(anchor.node) and not self._scribbles_first(anchor):
            return combined(self._inner_kinds(anchor))
        return self._own_kind(anchor)

    def writes(self, anchor: InputAnchor) -> bool:
        """Whether the node may change the memory of this input."""
        return self.input_kind(anchor).writes

    def plain_kind(self, anchor: InputAnchor) -> InputKind:
        """What the node's own marks and traits say of this input, its subgraphs left out."""
        return self._own_kind(anchor)

    def _own_kind(self, anchor: InputAnchor) -> InputKind:
        scribbled, written = self._marks_of(anchor.node)
        if anchor.index in scribbled:
            return InputKind.SCOPE_WRITEABLE
        if anchor.index in written:
            return InputKind.WRITEABLE
        return InputKind.READ_ONLY

    def _marks_of(self, node: Node) -> _Marks:
        """Scribbled and written inputs; those of the last node, which is often asked again."""
        if self._lasting is not None:
            known = self._lasting.get(node)
            if known is None:
                known = self._lasting[node] = self._read_marks(node)
            return known
        version = -1 if node.graph is None else node.graph.version
        last = self._marks
        if last is not None and last[0] is node and last[1] == version:
            return last[2]
        found = self._read_marks(node)
        self._marks = node, version, found
        return found

    def _read_marks(self, node: Node) -> _Marks:
        scribbled, written = scribbled_inputs(node, self._ops), written_inputs(node, self._ops)
        if not scribbled and not written:
            return _UNMARKED
        return frozenset(scribbled), frozenset(written)

    def _scribbles_first(self, anchor: InputAnchor) -> bool:
        """Whether a wrapper destroys this input whatever its subgraphs do."""
        if self._ops.kind(anchor.node) == "while":
            return True
        desc = anchor.own_desc
        size = 0 if desc is None else desc.attrs.get("_special_input_size", 0)
        return isinstance(size, int) and size > 0

    def _is_wrapper(self, node: Node) -> bool:
        return bool(node.subgraphs)

    def _inner_kinds(self, anchor: InputAnchor) -> list[InputKind]:
        """Kinds of all uses of one input of a wrapper inside its subgraphs, at any depth."""
        kinds: dict[InputKind, None] = {}
        waiting: list[InputAnchor] = [anchor]
        seen = {anchor}
        while waiting:
            outer = waiting.pop()
            for data in self._inner_data(outer, kinds):
                for output in data.outputs:
                    for reader in output.readers:
                        if not self._is_wrapper(reader.node) or self._scribbles_first(reader):
                            kinds[self._own_kind(reader)] = None
                        elif reader not in seen:
                            seen.add(reader)
                            waiting.append(reader)
        return list(kinds)

    def _inner_data(self, outer: InputAnchor, kinds: dict[InputKind, None]) -> list[Node]:
        """The inner inputs that one input of a wrapper feeds; notes what can't be told."""
        node = outer.node
        found: list[Node] = []
        if self._copies_in(outer):
            return found
        for graph in dict.fromkeys(node.subgraphs.values()):
            ends = self._ends.of(graph)
            found += ends.data.get(outer.index, ())
            if ends.unplaced or any(not 0 <= at < len(node.inputs) for at in ends.data):
                # Nobody knows which input such a node stands for: it might be this one.
                kinds[InputKind.INVALID] = None
        return found

    def _copies_in(self, outer: InputAnchor) -> bool:
        """Whether a loop reads this input once, into a slot of its own, and leaves it alone."""
        node = outer.node
        if self._ops.kind(node) not in ("loop", "scan"):
            return False
        captured = int(node.attrs.get("captured", 0))
        return outer.index < len(node.inputs) - captured

    # ---- outputs -------------------------------------------------------------------------------

    def output_kind(self, anchor: OutputAnchor) -> OutputKind:
        """What this output allows its readers."""
        chain: list[OutputAnchor] = []
        at: OutputAnchor | None = anchor
        kind = OutputKind.INVALID
        # Walk down through calls to the innermost producer, then fold the way back.
        while at is not None:
            if not self._hands_out_inner(at.node):
                kind = self._base_kind(at)
                break
            chain.append(at)
            at = self.inner_result(at)
        for outer in reversed(chain):
            kind = self._passed_on(outer, kind).kind
            if kind is not OutputKind.WRITEABLE and len(outer.readers) > 1:
                kind = OutputKind.READ_ONLY
        return kind

    def recorded(self, result: InputAnchor) -> Recorded:
        """What an input of a subgraph's NetOutput records for its parents' output."""
        graph = result.node.graph
        index = output_parent_index(result.node, result.index)
        if graph is None or index is None or result.source is None:
            return Recorded(OutputKind.INVALID)
        kind = self.output_kind(result.source)
        found = [
            self._passed_on(caller.outputs[index], kind)
            for caller, _ in graph.callers
            if index < len(caller.outputs)
        ]
        if not found:
            return Recorded(kind)
        return next((each for each in found if each.isolate), found[0])

    def inner_result(self, output: OutputAnchor) -> OutputAnchor | None:
        """What the subgraph of a call delivers as this output; None where it delivers nothing."""
        for graph in output.node.subgraphs.values():
            inner = self._ends.of(graph).results.get(output.index)
            return None if inner is None else inner.source
        return None

    def _hands_out_inner(self, node: Node) -> bool:
        return len(node.subgraphs) == 1 and self._ops.kind(node) not in ("while", "loop", "scan")

    def _passed_on(self, outer: OutputAnchor, kind: OutputKind) -> Recorded:
        if kind is OutputKind.WRITEABLE and not self._can_take(outer):
            return Recorded(OutputKind.SOFT_READ, isolate=True)
        return Recorded(kind)

    def _can_take(self, outer: OutputAnchor) -> bool:
        """Whether the readers of a wrapper's output can live with memory updated in place."""
        node = outer.node
        if self._ops.kind(node) == "call":
            # Its result is the inner memory itself, which a copy would part from its other users.
            # (GE says so of a PartitionedCall alone.)
            return True
        if len(node.subgraphs) > 1 and self._some_arm_shares(outer):
            return False
        return all(
            not self._is_wrapper(reader.node) and self._own_kind(reader) is InputKind.READ_ONLY
            for reader in outer.readers
        )

    def _some_arm_shares(self, outer: OutputAnchor) -> bool:
        for graph in outer.node.subgraphs.values():
            inner = self._ends.of(graph).results.get(outer.index)
            if inner is None or inner.source is None:
                continue
            if self.output_kind(inner.source) is OutputKind.READ_ONLY:
                return True
        return False

    def _base_kind(self, anchor: OutputAnchor) -> OutputKind:
        """The kind of an output that no single subgraph delivers."""
        node = anchor.node
        if self._ops.kind(node) == "while":
            return OutputKind.SOFT_READ
        if self._is_wrapper(node):
            return _by_count(anchor)
        return self._plain_output(anchor)

    def _plain_output(self, anchor: OutputAnchor) -> OutputKind:
        """Rows of GE's table for a plain node; inner inputs are what feeds their parents."""
        found: dict[OutputKind, None] = {}
        waiting = [anchor]
        seen = {anchor}
        while waiting:
            at = waiting.pop()
            node = at.node
            if node.op in VAR_LIKE or self._ops.kind(node) == "variable":
                found[OutputKind.WRITEABLE] = None
            elif node.op in DATA_LIKE and "_parent_node_index" in node.attrs:
                for feed in self._feeds(node, found):
                    if feed not in seen:
                        seen.add(feed)
                        waiting.append(feed)
            else:
                found[self._row(at)] = None
        return next((kind for kind in _STRICTEST if kind in found), OutputKind.INVALID)

    def _row(self, anchor: OutputAnchor) -> OutputKind:
        node = anchor.node
        if node.op in DATA_LIKE:
            return OutputKind.WRITEABLE
        if self._updates_in_place(anchor):
            return OutputKind.WRITEABLE
        if node.op in CONST_LIKE or self._ops.kind(node) == "constant":
            return OutputKind.READ_ONLY_CONST
        return _by_count(anchor)

    def _updates_in_place(self, anchor: OutputAnchor) -> bool:
        """Whether this output is an input that the node has written (GE: a name-matched pair)."""
        node = anchor.node
        written = written_inputs(node, self._ops)
        if not written:
            return False
        if node.op == "RefSwitch" or node.attrs.get("original_type") == "RefSwitch":
            return True
        if any(out == anchor.index and inp in written for out, inp in named_pairs(node)):
            return True
        return anchor.desc.reuse_input in written

    def _feeds(self, data: Node, found: dict[OutputKind, None]) -> list[OutputAnchor]:
        """What feeds an inner input, for every caller; notes what can't be told."""
        index = parent_index(data)
        graph = data.graph
        feeds: list[OutputAnchor] = []
        for caller, _ in [] if graph is None else graph.callers:
            inputs = caller.inputs
            source = (
                inputs[index].source if index is not None and 0 <= index < len(inputs) else None
            )
            if source is None:
                found[OutputKind.INVALID] = None
            else:
                feeds.append(source)
        return feeds


def _by_count(anchor: OutputAnchor) -> OutputKind:
    return OutputKind.READ_ONLY if len(anchor.readers) > 1 else OutputKind.SOFT_READ
