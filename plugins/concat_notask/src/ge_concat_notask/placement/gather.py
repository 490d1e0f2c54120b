"""From a graph without marks of ours to components of tensors and bonds.

What stands against a bond whatever else is chosen is asked of the rules for single joins and
splits; their refusals that name the edge of one operand or piece ban that bond, the others the
whole node. What they say of other joins, of results, sizes and repeated operands is left out: that
is what the choice is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ge_concat_notask.join_rules import JoinRules
from ge_concat_notask.kinds import ORDINARY
from ge_concat_notask.placement.problem import Bond, Component, Tensor
from ge_concat_notask.placement.turns import Turns
from ge_concat_notask.refusal import Refusal, refuse
from ge_concat_notask.setting import Setting
from ge_concat_notask.split_rules import SplitRules
from ge_core.api import (
    InputAnchor,
    Node,
    OutputAnchor,
    Piece,
    bits,
    join_pieces,
)

Rules = JoinRules | SplitRules

OF_THE_CHOICE: Final = frozenset(
    {
        "SAME_SOURCE",
        "UNALIGNED_PIECE",
        "EMPTY_OPERAND",
        "ALSO_GRAPH_OUTPUT",
        "RESULT_READER",
    }
)
"""Refusals that the choice as a whole answers in its own way."""
OF_SPLITS: Final = frozenset({"READER_TYPE", "VIRTUAL_READER", "PIECE_OVERWRITTEN"})
"""Refusals of a split that stand against single pieces."""
OF_WRITTEN: Final = frozenset({"OVERWRITTEN", "VARIABLE_MEMORY"})
"""Refusals of an operand that stand against the join: when a copy reads it matters."""


@dataclass(slots=True)
class Candidate:
    """A join or split that may go without a task, wholly or in part.

    Attributes:
        rules: what is asked of it.
        refusals: what stands against it as a whole.
        bonds: by port; None where nothing is connected.
    """

    rules: Rules
    refusals: list[Refusal] = field(default_factory=list)
    bonds: list[Bond | None] = field(default_factory=list)

    @property
    def node(self) -> Node:
        """The join or split."""
        return self.rules.node

    @property
    def is_refused(self) -> bool:
        """Whether it can't go without a task as a whole, whatever else is chosen."""
        return bool(self.refusals) or any(bond and bond.banned for bond in self.bonds)

    @property
    def is_join(self) -> bool:
        """Whether it is a join."""
        return isinstance(self.rules, JoinRules)


class Gathering:
    """Collects the candidates of one graph.

    Args:
        setting: of a pass that keeps to single joins, on a graph without marks of ours.
        turns: what comes before what.
    """

    def __init__(self, setting: Setting, turns: Turns) -> None:
        self.setting = setting
        self.turns = turns
        self.candidates: list[Candidate] = []
        self.components: list[Component] = []
        self._tensors: dict[OutputAnchor, Tensor] = {}
        self._ours: dict[Node, Candidate] = {}

    def run(self, rules: Iterable[Rules]) -> None:
        """Find the components, each in an order of names."""
        self.candidates = [Candidate(one) for one in rules]
        self._ours = {candidate.node: candidate for candidate in self.candidates}
        for candidate in self.candidates:
            self._judge(candidate)
        for tensor in list(self._tensors.values()):
            tensor.readers += self._tasks_that_stay(tensor)
            self._hands_out(tensor)
        self.components = self._components()

    # ---- tensors -------------------------------------------------------------------------------

    def _tensor(self, output: OutputAnchor) -> Tensor:
        """The tensor that an output is, under whatever name."""
        root = self.setting.memory.chain(output).root
        found = self._tensors.get(root)
        if found is None:
            uses = self.setting.memory.uses(root)
            target = self.setting.target
            found = self._tensors[root] = Tensor(
                -1,
                root,
                root.desc.data_bytes or 0,
                target.run_align or max(uses.widest, 1),
                self.setting.ops.kind(root.node) in ("data", "constant", "variable"),
                uses.kinds[0][0] if uses.kinds else ORDINARY,
                [reader for reader in uses.readers if not self._is_port(reader)],
            )
        return found

    def _is_port(self, reader: InputAnchor) -> bool:
        """Whether a bond speaks of what the input reads; none does of where a cut begins."""
        candidate = self._ours.get(reader.node)
        return candidate is not None and (candidate.is_join or reader.index == 0)

    def _tasks_that_stay(self, tensor: Tensor) -> list[InputAnchor]:
        """Readers that have no bonds although they are of ours: they were refused as a whole."""
        readers = self.setting.memory.uses(tensor.output).readers
        return [one for one in readers if self._is_port(one) and self._ours[one.node].refusals]

    def _hands_out(self, tensor: Tensor) -> None:
        """A result of the graph is one as it is, or a copy is made for the caller."""
        results = self.setting.memory.uses(tensor.output).results
        if not results:
            return
        graph = tensor.output.node.graph
        sources = {r.source: r.source.desc.data_bytes or 0 for r in results if r.source}
        bond = Bond(-1, "result", tensor, tensor, 0, sum(sources.values()), tuple(results))
        # No copy here would help where a call inside hands it out, or might come before a write.
        inside = any(result.node.graph is not graph for result in results)
        bond.required = inside or bool(self.setting.memory.uses(tensor.output).writers)
        tensor.result = bond
        tensor.bonds.append(bond)

    # ---- bonds ---------------------------------------------------------------------------------

    def _judge(self, candidate: Candidate) -> None:
        """The bonds of one node, banned where its rules say so."""
        node, rules = candidate.node, candidate.rules
        pieces = join_pieces(node, rules.axis) if isinstance(rules, JoinRules) else rules.pieces()
        against: dict[object, Refusal] = {}
        for refusal in rules.refusals():
            if refusal.code in OF_THE_CHOICE:
                continue
            at = self._port_of(candidate, refusal)
            if at is None:
                candidate.refusals.append(refusal)
            else:
                against.setdefault(at, refusal)
        if pieces is None and not candidate.refusals:
            candidate.refusals.append(refuse("UNKNOWN_SHAPE", node))
        if candidate.refusals:
            return
        assert pieces is not None
        self._bind(candidate, pieces, against)
        self._align(candidate)

    def _port_of(self, candidate: Candidate, refusal: Refusal) -> int | None:
        """The port that a refusal is about; None for the whole node."""
        if refusal.edge is None:
            return None
        if candidate.is_join:
            mine = refusal.edge.node is candidate.node
            return refusal.edge.index if mine and not self._is_written(refusal) else None
        if refusal.code not in OF_SPLITS or refusal.edge.source is None:
            return None
        if "at" in refusal.fields:
            return int(refusal.fields["at"])
        root = self.setting.memory.chain(refusal.edge.source).root
        return root.index if root.node is candidate.node else None

    def _is_written(self, refusal: Refusal) -> bool:
        """Whether an operand may change: a copy in front of the join might come too early."""
        edge = refusal.edge
        if refusal.code in OF_WRITTEN or edge is None or edge.source is None:
            return True
        root = self.setting.memory.chain(edge.source).root
        if self.setting.ops.kind(root.node) == "variable":
            return True
        return bool(self.setting.memory.uses(root).writers)

    def _bind(
        self, candidate: Candidate, pieces: Sequence[Piece], against: dict[object, Refusal]
    ) -> None:
        node = candidate.node
        is_join = candidate.is_join
        source = None if is_join else node.inputs[0].source
        whole = self._tensor(node.outputs[0] if source is None else source)
        anchors: Sequence[InputAnchor | OutputAnchor] = node.inputs if is_join else node.outputs
        for at, (anchor, piece) in enumerate(zip(anchors, pieces, strict=True)):
            part = anchor.source if isinstance(anchor, InputAnchor) else anchor
            if part is None:
                candidate.bonds.append(None)
                continue
            tensor = self._tensor(part)
            kind = "operand" if is_join else "piece"
            size = part.desc.data_bytes or 0
            bond = Bond(-1, kind, tensor, whole, piece.delta, size, (anchor,), against.get(at))
            if bond.banned is None and (tensor is whole or not piece.contiguous):
                same = refuse("SAME_SOURCE", anchor, first=at, at=at)
                rows = refuse("NOT_OUTERMOST", anchor, axis=candidate.rules.axis)
                bond.banned = same if piece.contiguous else rows
            candidate.bonds.append(bond)
            tensor.bonds.append(bond)
            if tensor is not whole:
                whole.bonds.append(bond)
            if is_join:
                whole.operands.append(bond)
                whole.ports.append((piece.delta, size))
            else:
                tensor.piece = bond

    def _align(self, candidate: Candidate) -> None:
        """What starts off its alignment is copied: a kernel may not write there, a copy may."""
        granule = self.setting.target.run_align
        for at, bond in enumerate(candidate.bonds):
            if bond is None or not bond.bytes:
                continue
            step = granule or max((bits(bond.inner.output.desc.dtype) or 8) // 8, 1)
            if bond.delta % step and bond.banned is None:
                bond.banned = refuse("UNALIGNED_PIECE", at=at, granule=step)

    # ---- components ----------------------------------------------------------------------------

    def _components(self) -> list[Component]:
        """Tensors that bonds connect, banned ones included: those have bytes to copy as well."""
        found: list[Component] = []
        seen: set[Tensor] = set()
        for start in self._tensors.values():
            if start in seen:
                continue
            seen.add(start)
            members = [start]
            for tensor in members:
                for bond in tensor.bonds:
                    for other in (bond.inner, bond.outer):
                        if other not in seen:
                            seen.add(other)
                            members.append(other)
            if any(bond.kind != "result" for bond in start.bonds):
                found.append(self._component(members))
        return found

    def _component(self, tensors: list[Tensor]) -> Component:
        tensors.sort(key=lambda tensor: (tensor.output.node.name, tensor.output.index))
        bonds: list[Bond] = []
        for number, tensor in enumerate(tensors):
            tensor.number = number
        for tensor in tensors:
            bonds += (bond for bond in tensor.bonds if bond.inner is tensor)
        bonds.sort(key=_name)
        for number, bond in enumerate(bonds):
            bond.number = number
        align = self.setting.target.align_bytes
        turns = self.turns
        return Component(tensors, bonds, align, turns.precedes, turns.in_place, turns.may_reuse)


def _name(bond: Bond) -> tuple[str, int, str]:
    """Names decide among equals, so that no listing does."""
    anchor = bond.anchors[0]
    return anchor.node.name, anchor.index, bond.kind
