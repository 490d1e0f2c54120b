"""Whose memory a tensor is, and everything that touches it.

`Memory.chain` walks back through views to the output that owns the bytes; `Memory.uses` walks
forward through views, task-free nodes and calls to everything that reads, writes or hands on the
bytes. Both judge the graph as it stands; results are kept for one run of a pass, whose marks touch
only tensors that are claimed with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ge_concat_notask.kinds import input_kinds, output_kinds
from ge_concat_notask.marks import CUT, JOINED, is_marked, is_virtual, lays_out
from ge_core.api import (
    Graph,
    InputAnchor,
    Node,
    OpRegistry,
    OutputAnchor,
    Piece,
    bits,
    compose,
    is_subgraph_data,
    output_parent_index,
    parent_index,
    ref_of,
    scribbled_inputs,
    split_pieces,
    written_inputs,
)

VIEW_LIMIT: Final = 100
"""Views looked through before giving up, as in GE."""


@dataclass(slots=True)
class Chain:
    """The outputs from a tensor back to the owner of its bytes.

    Attributes:
        outputs: the tensor itself first, the owner last.
        complete: whether the owner was found.
        delta: bytes from the start of the owner to that of the tensor; not 0 behind marked splits.
        whole: whether no view is larger or smaller than what it looks at.
        pieces: where parts lie in wholes on the way, the nearest first.
    """

    outputs: list[OutputAnchor]
    complete: bool
    delta: int = 0
    whole: bool = True
    pieces: list[Piece] = field(default_factory=list)

    @property
    def root(self) -> OutputAnchor:
        """The owner."""
        return self.outputs[-1]

    @property
    def gaps(self) -> bool:
        """Whether a part on the way lies in rows."""
        return any(not piece.contiguous for piece in self.pieces)

    def place(self, piece: Piece) -> Piece | None:
        """Where a piece of the tensor lies in the owner; None where its rows have no one pitch."""
        found: Piece | None = piece
        for outer in self.pieces:
            found = None if found is None else compose(outer, found)
        return found


@dataclass(slots=True)
class Uses:
    """Everything that touches one tensor's bytes under any name.

    Attributes:
        readers: inputs of nodes that really read them; views and task-free nodes do not.
        writers: inputs through which a node updates or destroys them.
        results: inputs of NetOutputs, of the root and of subgraphs.
        placing: inputs of nodes that want what they read at a place of their choice.
        virtual: inputs of nodes whose own memory follows that of others.
        kinds: special memory kinds that are asked for the bytes, with who asks.
        widest: bytes of the widest element that the bytes are seen as.
    """

    readers: list[InputAnchor] = field(default_factory=list)
    writers: list[InputAnchor] = field(default_factory=list)
    results: list[InputAnchor] = field(default_factory=list)
    placing: list[InputAnchor] = field(default_factory=list)
    virtual: list[InputAnchor] = field(default_factory=list)
    kinds: list[tuple[str, InputAnchor | OutputAnchor]] = field(default_factory=list)
    widest: int = 1


class Memory:
    """Answers about the memory of tensors below one root graph.

    Args:
        through_joins: whether the result of a marked join is looked through; False where somebody
            else knows where it lies and what touches it (`Places`).
    """

    def __init__(self, ops: OpRegistry, *, through_joins: bool = True) -> None:
        self._ops = ops
        self._through_joins = through_joins
        self._chains: dict[OutputAnchor, Chain] = {}
        self._uses: dict[OutputAnchor, Uses] = {}
        self._pieces: dict[Node, list[Piece]] = {}
        self._writes: dict[Node, frozenset[int]] = {}
        self._refs: dict[Node, dict[int, list[OutputAnchor]]] = {}
        self._direct: dict[OutputAnchor, InputAnchor | None] = {}
        self._inner: dict[Graph, dict[int, list[OutputAnchor]]] = {}
        self.steps = 0
        """Edges looked at so far, for tests of the cost."""

    def chain(self, output: OutputAnchor) -> Chain:
        """Back through views of the same graph, at most `VIEW_LIMIT` of them."""
        known = self._chains.get(output)
        if known is None:
            known = self._chains[output] = self._back(output)
        return known

    def _back(self, output: OutputAnchor) -> Chain:
        chain = Chain([output], False)
        for _ in range(VIEW_LIMIT):
            node = output.node
            self.steps += 1
            at = None if self._is_owner(node) else ref_of(output, self._ops)
            source = None if at is None or at >= len(node.inputs) else node.inputs[at].source
            if source is None:
                chain.complete = True
                break
            if is_marked(node):
                piece = self._piece(output)
                if piece is not None:
                    chain.pieces.append(piece)
                    chain.delta += piece.delta
            elif source.desc.data_bytes != output.desc.data_bytes:
                chain.whole = False
            output = source
            chain.outputs.append(output)
        return chain

    def _is_owner(self, node: Node) -> bool:
        if is_subgraph_data(node):
            return True
        return not self._through_joins and is_marked(node) and bool(node.attrs.get(JOINED))

    def _piece(self, output: OutputAnchor) -> Piece | None:
        """Where an output of a marked node lies in input 0; None where it is all of it."""
        node = output.node
        if not node.attrs.get(CUT):
            return None
        pieces = self._pieces.get(node)
        if pieces is None:
            pieces = self._pieces[node] = split_pieces(node) or []
        return pieces[output.index] if output.index < len(pieces) else None

    def outer_sources(self, output: OutputAnchor) -> list[OutputAnchor]:
        """The owners of an output's bytes, through calls to the tensors outside."""
        found: dict[OutputAnchor, None] = {}
        seen = {output}
        waiting = [output]
        while waiting:
            root = self.chain(waiting.pop()).root
            found[root] = None
            for source in (*self._outside(root), *self._inside(root)):
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return list(found)

    def _outside(self, output: OutputAnchor) -> Iterator[OutputAnchor]:
        """What the callers of a subgraph give for one of its Data."""
        if not is_subgraph_data(output.node):
            return
        at, graph = parent_index(output.node), output.node.graph
        assert graph is not None and at is not None
        for caller, _ in graph.callers:
            source = caller.inputs[at].source if at < len(caller.inputs) else None
            if source is not None:
                yield source

    def _inside(self, output: OutputAnchor) -> Iterator[OutputAnchor]:
        """What a call delivers as one of its outputs: the same memory, and so what it handed on."""
        if self._ops.kind(output.node) != "call":
            return
        for graph in output.node.subgraphs.values():
            out = graph.net_output
            for anchor in () if out is None else out.inputs:
                if anchor.source is not None and (
                    output_parent_index(anchor.node, anchor.index) == output.index
                ):
                    yield anchor.source

    def uses(self, output: OutputAnchor) -> Uses:
        """Everything that touches the bytes of an output; ask it of the owner of the bytes."""
        known = self._uses.get(output)
        if known is None:
            known = self._uses[output] = self._walk(output)
        return known

    def direct_result(self, output: OutputAnchor) -> InputAnchor | None:
        """The first NetOutput that reads an output itself, as one of several readers; else None."""
        if output not in self._direct:
            several = len(output.readers) != 1
            results = (r for r in output.readers if several and r.node.op == "NetOutput")
            self._direct[output] = next(results, None)
            self.steps += len(output.readers)
        return self._direct[output]

    def marked_split(self, node: Node) -> None:
        """Book that a split was marked: what touches its outputs touches its input as well."""
        edge = node.inputs[0]
        if edge.source is None:
            return
        uses = self._uses.get(self.chain(edge.source).root)
        self.forget_chains()
        if uses is None:
            return
        uses.virtual.append(edge)
        uses.placing.append(edge)
        for output in node.outputs:
            piece = self.uses(output)
            uses.widest = max(uses.widest, piece.widest)
            for name in ("readers", "writers", "results", "placing", "virtual", "kinds"):
                getattr(uses, name).extend(getattr(piece, name))

    def marked_join(self, roots: Iterable[OutputAnchor]) -> None:
        """Book that a join was marked: look at its operands again when somebody asks."""
        for root in roots:
            self._uses.pop(root, None)
        self.forget_chains()

    def forget_chains(self) -> None:
        """A node was marked, or is about to be: what lay behind its outputs may have changed.

        All are forgotten: it was no more than one look for each that was asked for since.
        """
        self._chains.clear()

    def _walk(self, start: OutputAnchor) -> Uses:
        uses = Uses()
        seen = {start}
        waiting = [start]
        while waiting:
            output = waiting.pop()
            uses.kinds.extend((kind, output) for kind in output_kinds(output))
            uses.widest = max(uses.widest, (bits(output.desc.dtype) or 0) // 8)
            for reader in output.readers:
                self.steps += 1
                uses.kinds.extend((kind, reader) for kind in input_kinds(reader))
                for same in self._classify(reader, uses):
                    if same not in seen:
                        seen.add(same)
                        waiting.append(same)
        return uses

    def _classify(self, reader: InputAnchor, uses: Uses) -> Iterator[OutputAnchor]:
        """Book one input that the bytes reach; yields the outputs that are the same bytes."""
        node, at = reader.node, reader.index
        if node.op == "NetOutput":
            uses.results.append(reader)
            yield from self._handed_out(node, at)
            return
        if lays_out(reader):
            uses.placing.append(reader)
        if is_virtual(node):
            uses.virtual.append(reader)
        traits = self._ops.traits(node)
        writes = at in self._written(node)
        if writes:
            uses.writers.append(reader)
        same = list(self._same_bytes(node, at))
        if writes or traits.has_subgraphs or not (same or at in traits.shape_only):
            uses.readers.append(reader)
        yield from same
        for graph in node.subgraphs.values():
            yield from self._data_of(graph).get(at, ())

    def _same_bytes(self, node: Node, at: int) -> Iterator[OutputAnchor]:
        if is_marked(node):
            # Every operand of a join is part of its output, every output of a split of its input.
            joins = node.attrs.get(JOINED) and self._through_joins
            if joins or (node.attrs.get(CUT) and at == 0):
                yield from node.outputs
            return
        if self._ops.kind(node) == "merge":
            yield from node.outputs
        else:
            yield from self._views(node).get(at, ())

    # Asked once per reader, and a node may read as many tensors as it likes.

    def _written(self, node: Node) -> frozenset[int]:
        found = self._writes.get(node)
        if found is None:
            both = (*written_inputs(node, self._ops), *scribbled_inputs(node, self._ops))
            found = self._writes[node] = frozenset(both)
        return found

    def _views(self, node: Node) -> dict[int, list[OutputAnchor]]:
        """By input, the outputs of an unmarked node that are its memory."""
        found = self._refs.get(node)
        if found is None:
            found = self._refs[node] = {}
            for output in node.outputs:
                at = ref_of(output, self._ops)
                if at is not None:
                    found.setdefault(at, []).append(output)
        return found

    def _handed_out(self, net_output: Node, at: int) -> Iterator[OutputAnchor]:
        """Outputs of the callers that a result of a subgraph becomes, or may share bytes with."""
        graph = net_output.graph
        assert graph is not None
        for caller, _ in graph.callers:
            to = self._result_index(caller, net_output, at)
            if to is not None and 0 <= to < len(caller.outputs):
                yield caller.outputs[to]

    def _result_index(self, caller: Node, net_output: Node, at: int) -> int | None:
        to = output_parent_index(net_output, at)
        if to is not None and self._ops.kind(caller) == "loop":
            return to - 1  # result 0 of a loop's body is its condition
        return to

    def _data_of(self, graph: Graph) -> dict[int, list[OutputAnchor]]:
        known = self._inner.get(graph)
        if known is None:
            known = self._inner[graph] = {}
            for node in graph.nodes_of("Data"):
                self.steps += 1
                at = parent_index(node)
                if at is not None:
                    known.setdefault(at, []).append(node.outputs[0])
        return known
