"""Tensors, and the bonds between them: what a choice of places is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ge_concat_notask.kinds import ORDINARY
from ge_concat_notask.refusal import Refusal
from ge_core.api import Bytes, InputAnchor, Node, OutputAnchor

MOST_TURNS: Final = 10_000
"""Pairs of writers of one place that are looked at closely in one component."""
GRAPH_TURNS: Final = 30_000
"""The same in all components of one graph together."""


COPY_WEIGHT: Final = 1001
RESULT_WEIGHT: Final = 1000


@dataclass(eq=False, slots=True)
class Tensor:
    """The bytes of one output, under all names that views give them.

    Attributes:
        number: its place in the component.
        output: the output that owns the bytes while no join or split goes without a task.
        size: bytes.
        granule: bytes that its start has to be a multiple of.
        fixed: whether the bytes have a place of their own, as those of a graph input have.
        kind: the special kind of memory that is asked for it.
        readers: inputs that really read it, those of joins and splits left out.
        bonds: bonds in which it is the inner or the outer tensor.
        result: the bond that has it be a result of the graph as it is, if it is one.
        piece: the bond that has it be a part of what was cut, if it is the output of a split.
        operands: of a join's result: the bonds of its operands.
        ports: of a join's result: start and size in bytes of every operand.
    """

    number: int
    output: OutputAnchor
    size: int
    granule: int = 1
    fixed: bool = False
    kind: str = ORDINARY
    readers: list[InputAnchor] = field(default_factory=list)
    bonds: list[Bond] = field(default_factory=list)
    result: Bond | None = None
    piece: Bond | None = None
    operands: list[Bond] = field(default_factory=list)
    ports: list[tuple[int, int]] = field(default_factory=list)

    @property
    def writer(self) -> Node:
        """The node that writes it, while it has bytes of its own."""
        return self.output.node


@dataclass(eq=False, slots=True)
class Bond:
    """One thing that costs no copy if it is honoured.

    An operand lies in the result of a join, a piece in what was cut, or a result of the graph has
    no other place than the caller's.

    Attributes:
        number: its place in the component.
        kind: "operand", "piece" or "result".
        inner: the tensor that lies in the other one.
        outer: the other one; `inner` itself for a result.
        delta: bytes from the start of the outer to that of the inner tensor.
        bytes: what is copied if it is not honoured.
        anchors: the join's input, the split's output, or the inputs that hand the result out.
        banned: the reason why it can't be honoured, whatever is chosen; None where it can.
        required: whether it can't be given up, because no copy can be put there.
    """

    number: int
    kind: str
    inner: Tensor
    outer: Tensor
    delta: int
    bytes: int
    anchors: tuple[InputAnchor | OutputAnchor, ...]
    banned: Refusal | None = None
    required: bool = False

    @property
    def weight(self) -> int:
        """What a copy counts among choices of as many bytes: one for the caller counts least."""
        return RESULT_WEIGHT if self.kind == "result" else COPY_WEIGHT

    @property
    def node(self) -> Node:
        """The join or split, or the end of the graph."""
        return self.anchors[0].node


@dataclass(eq=False, slots=True)
class Component:
    """Tensors that bonds tie together, in a fixed order that no listing decides.

    Attributes:
        align: bytes that a buffer of its own is aligned to.
        precedes: whether the first node has finished whenever the second one starts; the third
            argument asks in addition that one stream runs both, which then holds for copies that
            are put right behind the first or right before the second.
        may_reuse: the kernel's rule of reuse: bytes, given here by all their names, may be those
            of others that are written later, where the nodes named last have no task.
        turns: how many more pairs of writers of one place may be looked at closely. Once that many
            were, the component is *crowded*: no two lie on one another any more, which may copy
            more bytes than needed and is always right.
        in_place: whether a node that reads an input may write an output to the same range.
    """

    tensors: list[Tensor]
    bonds: list[Bond]
    align: int
    precedes: Callable[[Node, Node, bool], bool]
    in_place: Callable[[InputAnchor, OutputAnchor], bool]
    may_reuse: Callable[[Sequence[Bytes], Sequence[Bytes], Sequence[Node]], bool]
    turns: int = MOST_TURNS

    @property
    def crowded(self) -> bool:
        """Whether writers of one place are no longer looked at closely."""
        return self.turns <= 0

    def cost(self, honoured: Sequence[bool]) -> tuple[int, int]:
        """Bytes that are copied, and the weight of the copies: among equals the fewest win."""
        copied = [bond for bond in self.bonds if not honoured[bond.number]]
        return sum(bond.bytes for bond in copied), sum(bond.weight for bond in copied)
