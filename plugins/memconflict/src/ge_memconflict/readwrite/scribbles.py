"""`ScribbleGuardPass`: nobody reads what a node has destroyed for its own use.

GE's rules look at kinds and at direct readers. A scribbler behind a view, in a loop, on what a loop
delivers or on a subgraph's input may destroy what somebody still reads, and so may a store into a
view of a constant. Here each is asked, by all accesses to the memory in the listed order, whether
anybody would see a difference if it had a copy; only then it is given one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    AccessConflict,
    AliasClasses,
    Anchor,
    Effects,
    Graph,
    GraphPass,
    InputAnchor,
    InputKind,
    Interfaces,
    Interference,
    Node,
    OutputAnchor,
    PassContext,
    Scheme,
)
from ge_memconflict.identities import insert_identity
from ge_memconflict.placing import isolate_input
from ge_memconflict.readwrite.codes import GUARD_CODES
from ge_memconflict.readwrite.run import copied

_COPIES: Final = frozenset({"Identity", "TensorMove"})
_CONSTANT: Final = "constant"
_MOST_PLAYED: Final = 40
"""Accesses that are played through, all together, per node of the graph."""
_FEW: Final = 256
"""Accesses of one memory that always may be."""


@dataclass(frozen=True)
class ScribbleGuardPass(GraphPass, codes=GUARD_CODES):
    """Gives what destroys its input a copy where somebody else would see it."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at all graphs at once: the root's run does the work."""
        if not graph.is_root:
            return
        suspects = _Suspects(graph, ctx)
        asked: list[InputAnchor] = []
        for anchor in suspects.found():
            constant = suspects.constant(anchor)
            if constant is None:
                asked.append(anchor)
            else:
                fields = {"constant": repr(constant)}
                _isolate(anchor, ctx, "GUARDS_CONSTANT", constant, **fields)
        for anchor, seen in _needed(graph, ctx, asked) if asked else ():
            reader = seen.reader.node.name
            _isolate(anchor, ctx, "GUARDS_READER", anchor.source, reader=reader)


class _Suspects:
    """Inputs that destroy what somebody else may read."""

    def __init__(self, root: Graph, ctx: PassContext) -> None:
        self._root = root
        self._ops = ctx.ops
        self._ends = Interfaces(lasting=True)
        self._effects = Effects(ctx.ops, self._ends, lasting=True)
        self._memory: AliasClasses | None = None
        self._interference: Interference | None = None
        self._readers: dict[Anchor, frozenset[Node]] = {}

    def found(self) -> Iterator[InputAnchor]:
        """In the order in which they are listed."""
        for node in list(self._root.all_nodes()):
            if node.subgraphs and self._ops.kind(node) != "while":
                continue
            for anchor in node.inputs:
                kind = self._effects.plain_kind(anchor)
                if kind.writes and anchor.source is not None and self._is_one(anchor, kind):
                    yield anchor

    def _is_one(self, anchor: InputAnchor, kind: InputKind) -> bool:
        source = anchor.source
        assert source is not None
        if source.node.op in _COPIES and len(source.readers) == 1:
            return False
        if self._memory is None:
            self._memory = AliasClasses(self._root, self._ops, Scheme.MEMORY, self._types)
            self._interference = Interference(self._root, self._ops, self._memory)
        if source not in self._memory:
            return False
        if self.constant(anchor) is not None:
            return True
        if kind is not InputKind.SCOPE_WRITEABLE:
            return False
        return bool(self._read_by(source) - {anchor.node})

    def constant(self, anchor: InputAnchor) -> OutputAnchor | None:
        """The constant whose memory an input is, if any."""
        assert self._memory is not None and anchor.source is not None
        found = self._memory.of_type(anchor.source, _CONSTANT)
        return next((one for one in found if isinstance(one, OutputAnchor)), None)

    def _read_by(self, source: OutputAnchor) -> frozenset[Node]:
        assert self._memory is not None and self._interference is not None
        root = self._memory.root(source)
        if root not in self._readers:
            accesses = self._interference.accesses(source)
            self._readers[root] = frozenset(t.access.node for t in accesses if t.access.reads)
        return self._readers[root]

    def _types(self, anchor: Anchor) -> tuple[str, ...]:
        is_output = isinstance(anchor, OutputAnchor)
        return (_CONSTANT,) if is_output and self._ops.kind(anchor.node) == _CONSTANT else ()


def _needed(
    root: Graph, ctx: PassContext, asked: list[InputAnchor]
) -> list[tuple[InputAnchor, AccessConflict]]:
    """The inputs that need a copy, each with who would see what; the graph is left as it is."""
    needed: list[tuple[InputAnchor, AccessConflict]] = []
    with root.transaction() as trial:
        copies = [_trial_copy(anchor) for anchor in asked]
        memory = AliasClasses(root, ctx.ops, Scheme.MEMORY)
        interference = Interference(root, ctx.ops, memory)
        most = _MOST_PLAYED * sum(len(graph) for graph in root.all_graphs())
        gone: list[Node] = []
        for anchor, copy in zip(asked, copies, strict=True):
            given, taken = copy.inputs[0], copy.outputs[0]
            if memory.same(given, taken):
                continue
            few = memory.size(given) + memory.size(taken) <= _FEW
            if not few and interference.steps > most:
                continue
            answer = interference.joined(given, taken, [*gone, copy])
            seen = next((each for each in answer.conflicts if not each.at_once), None)
            if seen is not None and answer.refused is None:
                needed.append((anchor, seen))
                continue
            memory.join(given, taken)
            gone.append(copy)
        trial.rollback()
    return needed


def _trial_copy(anchor: InputAnchor) -> Node:
    source = anchor.source
    assert source is not None
    return insert_identity([source], [[anchor]], f"{source.node.name}_Guard", at=anchor.node)


def _isolate(
    anchor: InputAnchor, ctx: PassContext, code: str, blamed: OutputAnchor | None, **fields: str
) -> None:
    source, node = anchor.source, anchor.node
    assert source is not None
    copy = isolate_input(anchor, f"{source.node.name}_Identity_Guard")
    ctx.missed(
        copy,
        code,
        blame=[anchor, blamed],
        bytes=copied(copy),
        user=node.name,
        output=repr(source),
        **fields,
    )
