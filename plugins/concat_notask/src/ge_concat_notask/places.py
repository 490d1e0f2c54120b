"""Where tensors lie relative to each other, beyond one join at a time.

GE lets a tensor be an operand of one join only, and no join an operand of another. That is
stricter than needed: what a join asks for is a distance between tensors, and any set of joins and
splits goes without tasks as long as all distances agree and no two tensors that are written
separately overlap. Examples: a join inside a join; lists of operands that begin alike (`[a, b]`
and `[a, b, c]`); parts of a split joined again in the same order.

A *block* is a set of owners, tensors with a producer of their own, at fixed distances. Views,
joined results and cut pieces are no owners: they lie where what they stand for lies.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from ge_concat_notask.kinds import ORDINARY
from ge_concat_notask.marks import CUT, JOINED, is_marked
from ge_concat_notask.memory import Memory, Uses
from ge_core.api import Graph, InputAnchor, Node, OutputAnchor, join_pieces, split_pieces

Span = tuple[int, int]
_BEHIND: Final = float("inf")


@dataclass(eq=False, slots=True)
class _Block:
    """Owners at fixed distances.

    Attributes:
        starts: where each owner and each joined result starts, in bytes from a zero of the block's
            own.
        spans: the owners' bytes, sorted.
        heads: owners and results that are no piece of anything: they start aligned, as buffers do.
        uses: what touches them, except through nodes whose distances are accounted for. Once a
            join lies in the block, one example of each kind is kept, and no reader.
    """

    starts: dict[OutputAnchor, int] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    heads: dict[OutputAnchor, None] = field(default_factory=dict)
    uses: Uses = field(default_factory=Uses)

    def room_for(self, span: Span) -> bool:
        """Whether no owner has bytes in the span."""
        at = bisect_right(self.spans, (span[0], _BEHIND))
        before_ends = at == 0 or self.spans[at - 1][1] <= span[0]
        return before_ends and (at == len(self.spans) or self.spans[at][0] >= span[1])


class Places:
    """The blocks of one graph; marked joins and splits are taken in when it is made.

    Args:
        memory: tells the owner of a tensor, and how far behind its start the tensor begins.
        align: bytes that a buffer is aligned to.
    """

    def __init__(self, graph: Graph, memory: Memory, align: int = 1) -> None:
        self._memory = memory
        self._align = align
        self._blocks: dict[OutputAnchor, _Block] = {}
        self._known: set[Node] = set()
        self._asked: tuple[Node, dict[_Block, int] | OutputAnchor] | None = None
        self._claims: set[OutputAnchor] = set()
        self._last: OutputAnchor | None = None
        self._told = Uses()
        self._in_rows: set[OutputAnchor] = set()
        """Owners that lie in rows of a joined result, at no one distance from other tensors."""
        for node in graph.nodes:
            if is_marked(node):
                self._adopt(node)

    def knows(self, node: Node) -> bool:
        """Whether the node is a marked join or split whose distances are accounted for."""
        return node in self._known

    def holds(self, output: OutputAnchor) -> bool:
        """Whether the tensor is claimed by joins whose distances are accounted for."""
        return output in self._claims

    def kind(self, output: OutputAnchor) -> tuple[str, InputAnchor | OutputAnchor]:
        """The special memory kind that is asked for the block of a tensor, and who asks."""
        kinds = self._at(output)[0].uses.kinds
        return kinds[0] if kinds else (ORDINARY, output)

    def uses(self, output: OutputAnchor) -> Uses:
        """What touches the block that a tensor lies in."""
        if output is not self._last:
            # Rules ask of one operand after the other, and of each several times.
            self._last, self._told = output, self._at(output)[0].uses
        return self._told

    def clash(self, node: Node, axis: int | None = None) -> OutputAnchor | None:
        """The first operand of a join that can't lie where the join wants it; None: all can."""
        if self._has_gaps(node, axis):
            return self._rows_clash(node)
        found = self._wanted(node)
        self._asked = node, found
        if isinstance(found, OutputAnchor):
            return found
        return self._overlap(node, found) or self._misaligned(node, found)

    def settle(self, node: Node, axis: int | None = None) -> None:
        """Book a join that was marked, or is about to be, and does not clash."""
        if node in self._known:
            return
        if self._has_gaps(node, axis):
            self._settle_rows(node)
            return
        # Most often just asked: the node did not clash.
        asked = self._asked
        self._asked = None
        bases = asked[1] if asked is not None and asked[0] is node else self._wanted(node)
        assert isinstance(bases, dict)
        operands = self._whole_operands(node)
        self._merge(node.outputs[0], bases)
        heads = self._blocks[node.outputs[0]].heads
        for operand in operands:
            heads.pop(operand, None)
        self._known.add(node)
        self._last = None
        for anchor in node.inputs:
            if anchor.source is not None:
                self._claims.update(self._memory.chain(anchor.source).outputs)
        self._memory.forget_chains()

    # ---- asking --------------------------------------------------------------------------------

    def settle_split(self, node: Node) -> None:
        """Book a split that was marked."""
        self._known.add(node)
        self._last = None
        self._asked = None

    def _adopt(self, node: Node) -> None:
        """Take in a node that is marked already, unless its marks can't be followed."""
        attrs = node.attrs
        if attrs.get(CUT):
            pieces = split_pieces(node)
            if pieces is not None:
                self._known.add(node)
        elif attrs.get(JOINED) and node.outputs and self.clash(node) is None:
            self.settle(node)

    def _at(self, output: OutputAnchor) -> tuple[_Block, int]:
        """The block of a tensor and where the tensor starts in it."""
        chain = self._memory.chain(output)
        owner = chain.root
        block = self._blocks.get(owner)
        if block is None:
            span = (0, owner.desc.data_bytes or 0)
            block = self._blocks[owner] = _Block(
                {owner: 0}, [span], {owner: None}, self._uses_of(owner)
            )
        return block, block.starts[owner] + chain.delta

    def _wanted(self, node: Node) -> dict[_Block, int] | OutputAnchor:
        """Where the join would start in the block of every operand and of its result."""
        pieces = join_pieces(node)
        bases: dict[_Block, int] = {}
        for anchor, piece in zip(node.inputs, pieces or (), strict=pieces is not None):
            if anchor.source is None:
                continue
            if not piece.contiguous or self._is_apart(anchor.source):
                return anchor.source
            block, start = self._at(anchor.source)
            if bases.setdefault(block, start - piece.delta) != start - piece.delta:
                return anchor.source
        result = node.outputs[0]
        if not is_marked(node):
            block, start = self._at(result)
            if bases.setdefault(block, start) != start:
                return result
        return result if pieces is None else bases

    # ---- rows with gaps ------------------------------------------------------------------------

    @staticmethod
    def _has_gaps(node: Node, axis: int | None) -> bool:
        pieces = join_pieces(node, axis)
        return pieces is not None and not all(piece.contiguous for piece in pieces)

    def _is_apart(self, output: OutputAnchor) -> bool:
        """Whether a tensor's distance to others is not one number of bytes, or not known."""
        chain = self._memory.chain(output)
        return not chain.complete or chain.gaps or chain.root in self._in_rows

    def _rows_clash(self, node: Node) -> OutputAnchor | None:
        """The first operand that can't lie in rows of the result, with all that lies in it.

        It has a block of its own, which then goes into the result's as it is: nothing else may be
        at a distance from what is in it.
        """
        seen: set[_Block] = set()
        result = node.outputs[0]
        if not is_marked(node):
            if self._is_apart(result):
                return result
            seen.add(self._at(result)[0])
        for anchor in node.inputs:
            source = anchor.source
            if source is None:
                continue
            if self._is_apart(source):
                return source
            block, start = self._at(source)
            size = source.desc.data_bytes or 0
            inside = start <= block.spans[0][0] and block.spans[-1][1] <= start + size
            if block in seen or not inside:
                return source
            seen.add(block)
        return None

    def _settle_rows(self, node: Node) -> None:
        """Book a join of rows: from outside, the result is one owner, and operands are no more."""
        self._asked = None
        result = node.outputs[0]
        whole, start = self._at(result)
        for anchor in node.inputs:
            if anchor.source is None:
                continue
            chain = self._memory.chain(anchor.source)
            self._claims.update(chain.outputs)
            block = self._blocks.get(chain.root) or self._at(anchor.source)[0]
            whole.uses = _together([whole.uses, block.uses])
            for owner in block.starts:
                self._in_rows.add(owner)
                self._blocks[owner] = whole
                whole.starts.setdefault(owner, start)
        self._known.add(node)
        self._last = None
        self._memory.forget_chains()

    def _overlap(self, node: Node, bases: dict[_Block, int]) -> OutputAnchor | None:
        """An operand whose block, put beside the others, would overlap one of them."""
        result = node.outputs[0]
        largest = max(bases, key=lambda block: len(block.spans))
        moved: list[Span] = []
        for block, base in bases.items():
            if block is largest:
                continue
            shift = bases[largest] - base
            spans = [(start + shift, end + shift) for start, end in self._owned(block, result)]
            if not all(self._room(largest, span, result) for span in spans):
                return next(iter(block.starts))
            moved += spans
        moved.sort()
        for before, after in pairwise(moved):
            if after[0] < before[1]:
                return node.inputs[0].source
        return None

    def _misaligned(self, node: Node, bases: dict[_Block, int]) -> OutputAnchor | None:
        """A head that would not be aligned in the joined block.

        The heads of one block are aligned to each other, so one of them answers for all.
        """
        result = node.outputs[0]
        leaving = self._whole_operands(node)
        firsts = [self._first(block, result, base) for block, base in bases.items()]
        low = min(first for first in firsts if first is not None)
        known = self._blocks.get(result)
        if (known is None or result in known.heads) and low % self._align:
            return result
        for block, base in bases.items():
            going = [output for output in (*leaving, result) if output in block.heads]
            if len(block.heads) > len(set(going)):
                one = next(iter(block.heads))
                if (block.starts[one] - base - low) % self._align:
                    return one
        return None

    def _first(self, block: _Block, result: OutputAnchor, base: int) -> int | None:
        """The first byte of a block behind the start of the join, its result's own left out."""
        mine = self._span(block, result)
        for span in block.spans[:2]:
            if span != mine:
                return span[0] - base
        return None

    def _whole_operands(self, node: Node) -> dict[OutputAnchor, None]:
        """The owners and results that are, as a whole, operands of a join."""
        found: dict[OutputAnchor, None] = {}
        for anchor in node.inputs:
            if anchor.source is None:
                continue
            chain = self._memory.chain(anchor.source)
            if chain.delta == 0 and chain.root.desc.data_bytes == anchor.source.desc.data_bytes:
                found[chain.root] = None
        return found

    def _owned(self, block: _Block, result: OutputAnchor) -> list[Span]:
        """The spans of a block without that of the join's result, which will own nothing."""
        spans = list(block.spans)
        span = self._span(block, result)
        if span is not None:
            spans.remove(span)
        return spans

    def _room(self, block: _Block, span: Span, result: OutputAnchor) -> bool:
        mine = self._span(block, result)
        if mine is None or span[1] <= mine[0] or mine[1] <= span[0]:
            return block.room_for(span)
        # Inside the result's own span nobody else has bytes; what sticks out is looked at.
        left = (span[0], min(span[1], mine[0]))
        right = (max(span[0], mine[1]), span[1])
        return all(part[0] >= part[1] or block.room_for(part) for part in (left, right))

    def _uses_of(self, output: OutputAnchor) -> Uses:
        """What touches one tensor, without the nodes whose distances are accounted for."""
        every = self._memory.uses(output)
        if not (every.placing or every.virtual):
            return every
        return replace(
            every,
            placing=[r for r in every.placing if r.node not in self._known],
            virtual=[r for r in every.virtual if r.node not in self._known],
        )

    def _span(self, block: _Block, owner: OutputAnchor) -> Span | None:
        start = block.starts.get(owner)
        return None if start is None else (start, start + (owner.desc.data_bytes or 0))

    # ---- joining -------------------------------------------------------------------------------

    def _merge(self, result: OutputAnchor, bases: dict[_Block, int]) -> None:
        """Put the blocks together, the smaller ones into the largest."""
        is_new = result not in self._blocks
        for block in bases:
            span = self._span(block, result)
            if span is not None:
                del block.spans[bisect_left(block.spans, span)]
        largest = max(bases, key=lambda block: len(block.spans))
        largest.uses = _together([*(block.uses for block in bases), self._uses_of(result)])
        for block, base in bases.items():
            if block is largest:
                continue
            shift = bases[largest] - base
            for owner, start in block.starts.items():
                largest.starts[owner] = start + shift
                self._blocks[owner] = largest
            largest.heads.update(block.heads)
            largest.spans.extend((start + shift, end + shift) for start, end in block.spans)
        largest.spans.sort()
        largest.starts[result] = bases[largest]
        self._blocks[result] = largest
        if is_new:
            largest.heads[result] = None


def _together(parts: Iterable[Uses]) -> Uses:
    """One example of everything but readers."""
    found = Uses()
    for part in parts:
        found.widest = max(found.widest, part.widest)
        for name in ("writers", "results", "placing", "virtual", "kinds"):
            examples = getattr(found, name)
            examples += getattr(part, name)[: 1 - len(examples)]
    return found
