"""What one memory is used for: who reads and writes it, under any of its names.

Found by walking from an output over everything that is the same memory when the graph runs: views,
calls, what subgraphs are given, merges, variables by name. A memory is walked once and kept until
the edit that takes it apart, so all walks together look at each anchor a few times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ge_core.api import (
    Effects,
    Graph,
    InputAnchor,
    InputKind,
    Interfaces,
    Node,
    OpRegistry,
    OutputAnchor,
    is_free_join,
    is_free_split,
    is_subgraph_data,
    output_parent_index,
    parent_index,
    ref_of,
)

NAME_MARK = "ref_var_src_var_name"
Anchor = InputAnchor | OutputAnchor


@dataclass(slots=True, eq=False)
class Memory:
    """One memory.

    Attributes:
        updates: anchors that change it for others: inputs, and outputs that name a variable.
        scribbles: inputs whose node destroys it for its own use.
        reads: inputs that only read it; those of nodes removed since are among them.
        owned: the first output that outlives the run or belongs to the caller.
        results: the root's NetOutput inputs that deliver it.
        in_pieces: whether a task-free join or split puts it together with others.
    """

    anchors: list[Anchor] = field(default_factory=list)
    updates: list[Anchor] = field(default_factory=list)
    scribbles: list[Anchor] = field(default_factory=list)
    reads: list[InputAnchor] = field(default_factory=list)
    owned: OutputAnchor | None = None
    results: list[InputAnchor] = field(default_factory=list)
    in_pieces: bool = False

    @property
    def writes(self) -> list[Anchor]:
        """All anchors that may change it."""
        return [*self.updates, *self.scribbles]

    def absorb(self, other: Memory) -> None:
        """Take over what another memory, now one with this, is used for."""
        self.anchors += other.anchors
        self.updates += other.updates
        self.scribbles += other.scribbles
        self.reads += other.reads
        self.results += other.results
        self.owned = self.owned or other.owned
        self.in_pieces = self.in_pieces or other.in_pieces


class Memories:
    """The memories of all anchors asked for so far.

    Attributes:
        steps: anchors looked at, for tests of the cost.
    """

    def __init__(self, root: Graph, ops: OpRegistry, effects: Effects, ends: Interfaces) -> None:
        self._ops = ops
        self._effects = effects
        self._ends = ends
        self._known: dict[Anchor, Memory] = {}
        self._named: dict[str, list[OutputAnchor]] = {}
        self.steps = 0
        for node in root.all_nodes():
            for output in node.outputs:
                name = _name(output)
                if name:
                    self._named.setdefault(name, []).append(output)

    def of(self, anchor: Anchor) -> Memory:
        """The memory that an anchor is, or reads."""
        found = self._known.get(anchor)
        if found is None:
            found = self._walked(anchor, self._neighbours(anchor))
            self.keep(found)
        return found

    def behind(self, reader: InputAnchor) -> Memory:
        """What an input would be the memory of, were it fed from elsewhere; nobody keeps it."""
        return self._walked(reader, self._behind(reader))

    def keep(self, memory: Memory) -> None:
        """A memory is one of its own from now on."""
        for member in memory.anchors:
            self._known[member] = memory

    def _walked(self, start: Anchor, first: Iterator[Anchor]) -> Memory:
        found = Memory()
        seen: dict[Anchor, None] = {start: None}
        waiting: list[tuple[Anchor, Iterator[Anchor]]] = [(start, first)]
        while waiting:
            at, around = waiting.pop()
            self.steps += 1
            self._enter(at, found)
            for other in around:
                if other not in seen:
                    seen[other] = None
                    waiting.append((other, self._neighbours(other)))
        return found

    def join(self, one: Memory, other: Memory) -> None:
        """Two memories have become one."""
        if one is other:
            return
        kept, gone = (one, other) if len(one.anchors) >= len(other.anchors) else (other, one)
        for anchor in gone.anchors:
            self._known[anchor] = kept
        kept.absorb(gone)

    def forget(self, anchor: Anchor) -> None:
        """The memory of an anchor is about to be taken apart."""
        found = self._known.get(anchor)
        for member in () if found is None else found.anchors:
            self._known.pop(member, None)

    # ---- what an anchor is to the memory -------------------------------------------------------

    def _enter(self, at: Anchor, memory: Memory) -> None:
        memory.anchors.append(at)
        node = at.node
        if isinstance(at, OutputAnchor):
            if _name(at):
                memory.updates.append(at)
            if memory.owned is None and self._is_owned(at):
                memory.owned = at
            memory.in_pieces = memory.in_pieces or is_free_split(node) or is_free_join(node)
            return
        memory.in_pieces = memory.in_pieces or is_free_join(node)
        kind = self._effects.plain_kind(at)
        if kind is InputKind.SCOPE_WRITEABLE:
            memory.scribbles.append(at)
        elif kind.writes:
            memory.updates.append(at)
        elif self._ops.kind(node) == "net_output" and node.graph is not None and node.graph.is_root:
            memory.results.append(at)
            memory.reads.append(at)
        elif not self._is_view(at):
            memory.reads.append(at)

    def _is_owned(self, output: OutputAnchor) -> bool:
        node = output.node
        if self._ops.kind(node) in ("constant", "variable"):
            return True
        return self._ops.kind(node) == "data" and not self._is_inner(node)

    def _is_inner(self, node: Node) -> bool:
        graph = node.graph
        return graph is not None and not graph.is_root and is_subgraph_data(node)

    def _is_view(self, at: InputAnchor) -> bool:
        return any(ref_of(output, self._ops) == at.index for output in at.node.outputs)

    # ---- what else is the same memory ----------------------------------------------------------

    def _neighbours(self, at: Anchor) -> Iterator[Anchor]:
        if isinstance(at, OutputAnchor):
            yield from at.readers
            yield from self._before(at)
            if at.index == 0:
                yield from self._named.get(at.node.name, ())
            return
        if at.source is not None:
            yield at.source
        yield from self._behind(at)

    def _before(self, output: OutputAnchor) -> Iterator[Anchor]:
        """What an output is the memory of."""
        node, kind = output.node, self._ops.kind(output.node)
        named = _name(output)
        if named and node.graph is not None:
            source = node.graph.find(named)
            if source is not None and source is not node and source.outputs:
                yield source.outputs[0]
        if kind == "merge":
            yield from node.inputs
        elif self._is_inner(node):
            yield from self._outer(node)
        elif kind == "call" and node.subgraphs:
            yield from self._inner_results(output)
        elif node.subgraphs and kind != "while":
            return
        else:
            at = ref_of(output, self._ops)
            if at is not None and 0 <= at < len(node.inputs):
                yield node.inputs[at]

    def _behind(self, anchor: InputAnchor) -> Iterator[Anchor]:
        """What is an input's memory."""
        node, kind = anchor.node, self._ops.kind(anchor.node)
        if kind == "net_output":
            yield from self._delivered(anchor)
            return
        if node.subgraphs:
            for graph in dict.fromkeys(node.subgraphs.values()):
                if self._is_handed_in(anchor, kind):
                    for data in self._ends.of(graph).data.get(anchor.index, ()):
                        yield from data.outputs
            if kind != "while":
                return
        for output in node.outputs:
            if kind == "merge" or ref_of(output, self._ops) == anchor.index:
                yield output

    def _outer(self, data: Node) -> Iterator[Anchor]:
        index, graph = parent_index(data), data.graph
        for caller, _ in () if graph is None else graph.callers:
            if index is not None and 0 <= index < len(caller.inputs):
                anchor = caller.inputs[index]
                if self._is_handed_in(anchor, self._ops.kind(caller)):
                    yield anchor

    def _inner_results(self, output: OutputAnchor) -> Iterator[Anchor]:
        for graph in dict.fromkeys(output.node.subgraphs.values()):
            result = self._ends.of(graph).results.get(output.index)
            if result is not None:
                yield result

    def _delivered(self, anchor: InputAnchor) -> Iterator[Anchor]:
        """The outputs of calls that a subgraph's result is; arms and turns end with copies."""
        index, graph = output_parent_index(anchor.node, anchor.index), anchor.node.graph
        for caller, _ in () if graph is None else graph.callers:
            is_call = self._ops.kind(caller) == "call"
            if is_call and index is not None and 0 <= index < len(caller.outputs):
                yield caller.outputs[index]

    def _is_handed_in(self, anchor: InputAnchor, kind: str) -> bool:
        """Whether a subgraph works on the input itself; a loop copies what it carries."""
        if kind not in ("loop", "scan"):
            return True
        captured = int(anchor.node.attrs.get("captured", 0))
        return anchor.index >= len(anchor.node.inputs) - captured


def _name(output: OutputAnchor) -> str:
    name = output.desc.attrs.get(NAME_MARK) or output.node.attrs.get(NAME_MARK)
    return name if isinstance(name, str) else ""
