"""Puts copies in front of inputs and behind outputs that can't share a memory with others.

An input gets a copy of its own, an output one for all its readers. None is made where there is one
already: behind or in front of a copy that serves one edge alone. Nor is one made of a tensor whose
shape isn't known, as nobody lays that out before the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ge_core.api import (
    ARENA,
    Graph,
    InputAnchor,
    Node,
    OpRegistry,
    OutputAnchor,
    ref_of,
    scribbled_inputs,
    written_inputs,
)
from ge_memconflict.identities import NO_FOLDING, RESERVED, insert_identity
from ge_memconflict.layout.marks import from_reader, hand_over

COPIES: Final = frozenset({"Identity", "MemcpyAsync", "MemcpyAddrAsync"})
PASS: Final = "MemLayoutConflict"


def serves_one(output: OutputAnchor) -> bool:
    """Whether an output is a copy that one edge reads."""
    return output.node.op in COPIES and len(output.readers) == 1


def is_inserted(node: Node) -> bool:
    """Whether a node is a copy that this pass put in, in this run or an earlier one."""
    return node.op == "Identity" and f"_{PASS}_" in node.name and bool(node.attrs.get(RESERVED))


def only_reads(reader: InputAnchor, ops: OpRegistry) -> bool:
    """Whether a reader neither updates the memory nor gives it another name."""
    node, at = reader.node, reader.index
    if node.subgraphs or at in written_inputs(node, ops) or at in scribbled_inputs(node, ops):
        return False
    return all(ref_of(output, ops) != at for output in node.outputs)


class Isolation:
    """Inserts copies, numbering them in one graph and everything below it."""

    def __init__(self, graph: Graph, ops: OpRegistry) -> None:
        self._root = graph.root
        self._ops = ops
        self._made: dict[Node, None] = {}
        self._places: dict[Graph, dict[Node, int]] = {}

    @property
    def made(self) -> Sequence[Node]:
        """The copies so far."""
        return list(self._made)

    def isolate(self, anchor: InputAnchor | OutputAnchor) -> Node | None:
        """Put a copy at an anchor; None where there is one, or none is needed."""
        if isinstance(anchor, InputAnchor):
            return self._in_front_of(anchor)
        return self._behind(anchor)

    def _in_front_of(self, reader: InputAnchor) -> Node | None:
        source = reader.source
        if source is None or serves_one(source) or not _is_known(reader):
            return None
        return self._insert([source], [[reader]], reader)

    def _behind(self, output: OutputAnchor) -> Node | None:
        readers = self._to_isolate(output)
        if not readers or not output.desc.is_static:
            return None
        if len(output.readers) == 1 and readers[0].node.op in COPIES:
            return None
        first = min(readers, key=lambda reader: (self._place(reader.node), reader.index))
        return self._insert([output], [readers], first)

    def _to_isolate(self, output: OutputAnchor) -> list[InputAnchor]:
        """The readers of an output that need the copy.

        What a copy of this pass reads is isolated already; but where another reader may update the
        memory, or hand it on to who does, all have to see it.
        """
        others = [reader for reader in output.readers if not is_inserted(reader.node)]
        if all(only_reads(reader, self._ops) for reader in others):
            return others
        return list(output.readers)

    def together(self, readers: Sequence[InputAnchor]) -> Node:
        """One copy with a port for each of some inputs of one node, all of them connected."""
        feeds = [reader.source for reader in readers if reader.source is not None]
        return self._insert(feeds, [[reader] for reader in readers], readers[0])

    def _insert(
        self,
        feeds: Sequence[OutputAnchor],
        readers: Sequence[Sequence[InputAnchor]],
        first: InputAnchor,
    ) -> Node:
        name = f"identity_{first.index}_{first.node.name}_{PASS}_{len(self._made)}"
        attrs: Mapping[str, Any] = {
            **from_reader(first.node),
            NO_FOLDING: False,
            RESERVED: True,
        }
        copy = insert_identity(feeds, readers, name, attrs, at=first.node)
        for port, feed in zip(copy.outputs, feeds, strict=True):
            # Where the copy lies is for its readers to say.
            self._root.set_desc(port, port.desc.replace(mem_type=ARENA))
            hand_over(copy, port, feed)
        if len(readers) == 1 and len(readers[0]) == 1:
            self._keep_order(copy, first)
        if first.node.op == "NetOutput":
            self._wait_for_updates(copy)
        self._made[copy] = None
        return copy

    def _keep_order(self, copy: Node, reader: InputAnchor) -> None:
        """A copy for one reader is made when that reader would have read: behind who it waits for.

        Those are whom it waits for by control edges, and other readers of the same tensor that it
        is fed by: they may have updated it.
        """
        feed = copy.inputs[0].source
        assert feed is not None
        others = {other.node for other in feed.readers}
        waits = [
            *reader.node.control_inputs,
            *(node for node in reader.node.in_nodes if node in others),
        ]
        for before in _others(waits, (copy, feed.node)):
            self._root.add_control(before, copy)

    def _wait_for_updates(self, copy: Node) -> None:
        """A graph ends when all in it has run: a copy of its results is made behind all updates.

        Nothing comes behind the copy but the end, so that no edge closes a cycle.
        """
        for port in copy.inputs:
            updating = self._updating(port)
            for before in _others(updating, (copy, *copy.in_nodes, *copy.control_inputs)):
                self._root.add_control(before, copy)

    def _updating(self, reader: InputAnchor) -> list[Node]:
        """Who may update what an input reads, by it or by another view of it in its graph."""
        source = reader.source
        while source is not None:
            at = ref_of(source, self._ops)
            if at is None or at >= len(source.node.inputs) or not source.node.inputs[at].source:
                break
            source = source.node.inputs[at].source
        found: list[Node] = []
        names = [] if source is None else [source]
        for name in names:
            for other in name.readers:
                node, at = other.node, other.index
                if node.op == "NetOutput" or node is reader.node:
                    continue
                views = [output for output in node.outputs if ref_of(output, self._ops) == at]
                names.extend(view for view in views if view not in names)
                written = (*written_inputs(node, self._ops), *scribbled_inputs(node, self._ops))
                if node.subgraphs or at in written:
                    found.append(node)
        return found

    def _place(self, node: Node) -> int:
        graph = node.graph
        assert graph is not None
        places = self._places.get(graph)
        if places is None:
            # What is inserted later reads what it reads first: it needs no place.
            places = self._places[graph] = {known: at for at, known in enumerate(graph.nodes)}
        return places.get(node, -1)


def _is_known(reader: InputAnchor) -> bool:
    desc = reader.desc
    return desc is not None and desc.is_static


def _others(nodes: Iterable[Node], known: Sequence[Node]) -> list[Node]:
    return [node for node in dict.fromkeys(nodes) if node not in known]
