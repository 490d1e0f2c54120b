"""Writes a choice into the graph: marks, copies on the bonds that are not honoured, and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from ge_concat_notask.dumps import mark_for_dump, unmark_for_dump
from ge_concat_notask.marks import (
    CONCAT_CLAIM,
    PACK_CLAIM,
    is_marked,
    mark_join,
    mark_slice,
    mark_split,
    unmark,
)
from ge_concat_notask.placement.gather import Candidate
from ge_concat_notask.placement.layout import Layout
from ge_concat_notask.placement.problem import Bond, Component
from ge_concat_notask.refusal import ALL_TEXTS, Refusal
from ge_concat_notask.slice_rules import SliceRules
from ge_concat_notask.split_rules import SplitRules
from ge_core.api import Graph, InputAnchor, Node, OutputAnchor, PassContext

COPY = "Identity"
STREAM = "stream_id"


@dataclass(frozen=True, slots=True)
class ResultCopies:
    """Copies for callers, and the nodes without a task that they are there for."""

    copies: tuple[Node, ...]
    nodes: tuple[Node, ...]


@dataclass(slots=True)
class Settling:
    """Puts choices into one graph.

    Attributes:
        before: the nodes that had no task when the pass began.
        for_results: by node, the copies for callers that would not be needed without its placement
            and that of the others named with them.
    """

    graph: Graph
    ctx: PassContext
    before: frozenset[Node]
    for_results: dict[Node, list[ResultCopies]] = field(default_factory=dict)

    def results(self, component: Component, honoured: Sequence[bool]) -> None:
        """Copies for callers of what the graph hands out and does not lay out as a result."""
        layout = Layout(component, honoured)
        layout.conflicts()
        block_of = {tensor: at for at, block in enumerate(layout.blocks) for tensor in block}
        for bond in component.bonds:
            if bond.kind != "result" or honoured[bond.number]:
                continue
            here = block_of.get(bond.inner)
            nodes = dict.fromkeys(
                other.node
                for other in component.bonds
                if other.kind != "result"
                and honoured[other.number]
                and block_of.get(other.outer) == here
            )
            copies = ResultCopies(tuple(self._copy_result(bond)), tuple(nodes))
            for node in nodes:
                self.for_results.setdefault(node, []).append(copies)

    def node(self, candidate: Candidate, honoured: Sequence[bool]) -> None:
        """Mark one join or split as chosen, or leave it its task."""
        node = candidate.node
        bonds = [bond for bond in candidate.bonds if bond is not None]
        kept = [bond for bond in bonds if honoured[bond.number]]
        if not kept:
            if node in self.before:
                unmark_for_dump(self.graph, node)
                self._give_up(candidate, bonds)
            return
        copied = [bond for bond in bonds if not honoured[bond.number]]
        copies = [self._copy(candidate, bond) for bond in copied]
        self._mark(candidate, kept)
        mark_for_dump(self.graph, node, self.ctx)
        if not copies and node in self.before and node not in self.for_results:
            return
        self._say(candidate, kept, copied, copies)

    # ---- copies --------------------------------------------------------------------------------

    def _copy_result(self, bond: Bond) -> list[Node]:
        by_source: dict[OutputAnchor, list[InputAnchor]] = {}
        for anchor in bond.anchors:
            assert isinstance(anchor, InputAnchor) and anchor.source is not None
            by_source.setdefault(anchor.source, []).append(anchor)
        copies = []
        for source, readers in by_source.items():
            copy = self._insert(source, readers, f"{source.node.name}/result", behind=source.node)
            copies.append(copy)
            self.ctx.missed(
                copy, "RESULT_COPIED", blame=(source,), bytes=source.desc.nbytes, producer=source
            )
        return copies

    def _copy(self, candidate: Candidate, bond: Bond) -> Node:
        node = candidate.node
        anchor = bond.anchors[0]
        if isinstance(anchor, InputAnchor):
            assert anchor.source is not None
            name = f"{node.name}/operand_{anchor.index}"
            return self._insert(anchor.source, [anchor], name, before=node)
        name = f"{node.name}/piece_{anchor.index}"
        return self._insert(anchor, list(anchor.readers), name, behind=node)

    def _insert(
        self,
        source: OutputAnchor,
        readers: Sequence[InputAnchor],
        name: str,
        *,
        before: Node | None = None,
        behind: Node | None = None,
    ) -> Node:
        where = before or behind
        assert where is not None
        attrs = {STREAM: where.attrs[STREAM]} if STREAM in where.attrs else {}
        # A clean description: what the source says of shared memory is not true of a copy.
        desc = source.desc.replace(reuse_input=None, attrs={})
        copy = self.graph.add_node(
            COPY,
            self.graph.fresh_name(name),
            [source],
            [desc],
            attrs=attrs,
            origin=(),
            before=before,
            after=behind,
        )
        for reader in readers:
            self.graph.rewire(reader, copy.outputs[0])
        return copy

    # ---- marks ---------------------------------------------------------------------------------

    def _mark(self, candidate: Candidate, kept: Sequence[Bond]) -> None:
        node = candidate.node
        if candidate.is_join:
            roots = [bond.inner.output for bond in kept]
            mark_join(self.graph, node, claim_of(node), roots, candidate.rules.axis)
        else:
            assert isinstance(candidate.rules, SplitRules)
            mark_cut(self.graph, candidate.rules)

    # ---- words ---------------------------------------------------------------------------------

    def _give_up(self, candidate: Candidate, bonds: Sequence[Bond]) -> None:
        node = candidate.node
        self.ctx.withdraw(node)
        self.ctx.missed(node, "OUTWEIGHED", bytes=sum(bond.bytes for bond in bonds))

    def _say(
        self,
        candidate: Candidate,
        kept: Sequence[Bond],
        copied: Sequence[Bond],
        copies: Sequence[Node],
    ) -> None:
        node, ctx = candidate.node, self.ctx
        parts = "operands" if candidate.is_join else "outputs"
        saved = sum(bond.bytes for bond in kept)
        lost = sum(bond.bytes for bond in copied)
        if copies:
            ctx.applied(
                node,
                "NO_TASK_IN_PART",
                bytes=saved,
                parts=parts,
                copied=len(copies),
                bytes_copied=lost,
            )
        else:
            ctx.applied(node, "NO_TASK", bytes=saved, parts=parts)
        for bond, copy in zip(copied, copies, strict=True):
            self._say_copy(node, bond, copy)
        results = tuple(self.for_results.get(node, ()))
        undo = partial(take_back, self.graph, node, tuple(copies), results)
        ctx.retractable(node, undo, "RAISES_PEAK", bytes=saved)

    def _say_copy(self, node: Node, bond: Bond, copy: Node) -> None:
        anchor = bond.anchors[0]
        code = "OPERAND_COPIED" if isinstance(anchor, InputAnchor) else "PIECE_COPIED"
        banned = bond.banned
        why = "other placements save more" if banned is None else words(banned)
        blame = () if banned is None else banned.blame
        self.ctx.missed(
            copy,
            code,
            blame=blame or (node,),
            bytes=bond.bytes,
            at=anchor.index,
            whose=node.name,
            why=why,
            because=None if banned is None else banned.code,
        )


def mark_cut(graph: Graph, rules: SplitRules) -> None:
    """Mark a split, or a slice with the window that it is."""
    if isinstance(rules, SliceRules):
        pieces = rules.pieces()
        assert pieces is not None
        mark_slice(graph, rules.node, pieces[0])
    else:
        mark_split(graph, rules.node, rules.axis)


def claim_of(node: Node) -> str:
    """GE's name of the claim that a join makes on its operands."""
    return PACK_CLAIM if node.op == "Pack" else CONCAT_CLAIM


def words(refusal: Refusal) -> str:
    """What a refusal says."""
    return ALL_TEXTS[refusal.code].format(**refusal.fields)


def take_back(
    graph: Graph, node: Node, copies: Sequence[Node], results: Sequence[ResultCopies] = ()
) -> None:
    """Make a join or split an ordinary node again, and take out the copies made for its sake."""
    if not is_marked(node):
        return
    unmark(graph, node)
    unmark_for_dump(graph, node)
    unneeded = [r.copies for r in results if not any(map(is_marked, r.nodes))]
    for copy in (*copies, *(copy for group in unneeded for copy in group)):
        if copy.graph is graph:
            graph.bypass(copy)
