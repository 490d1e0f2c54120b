"""The way from a write-back to the memory that it writes: copies, and ops that can work in place.

    variable -> TensorMove -> update in place -> Assign(variable, .)
    variable -> functional update -> Assign(variable, .)

and any sequence of such steps, with views, further updates and calls between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ge_core.api import InputAnchor, Node, OpRegistry, OutputAnchor
from ge_tensormove.writeback.origin import Origins

_MOST_STEPS = 1000
"""Steps that are looked at for one write-back, all branches together."""
_OFFERS = "_output_inplace_ability"
_SUPPORT = "_inplace_support_input_index"


@dataclass(frozen=True, slots=True)
class Link:
    """One step: what the output holds is made of the input's memory, in memory of its own.

    Attributes:
        node: a copy, or an op that can put its output in the place of its input.
        input, output: the two ends.
        is_copy: whether the node goes when both are one memory.
    """

    node: Node
    input: InputAnchor
    output: OutputAnchor
    is_copy: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """What a write-back stores, or a graph output that lies where a graph input does.

    Attributes:
        value: the input that takes what was made: of the write-back, or of the NetOutput.
        target: the memory that it is to lie in, as the output that made it.
        links: the steps from the target's memory to what is stored; none where it lies there
            already. Where none begin at the target they begin with a copy, if there is one.
        source: the output that made the memory which the first link reads, or the value itself.
        nbytes: bytes that are stored, as they were before anything was edited.
    """

    value: InputAnchor
    target: OutputAnchor
    links: tuple[Link, ...]
    source: OutputAnchor
    nbytes: int | None

    @property
    def store(self) -> Node:
        """The write-back, or the NetOutput."""
        return self.value.node

    @property
    def is_result(self) -> bool:
        """Whether it ends in a graph output, so that nothing is written back."""
        return self.store.op == "NetOutput"

    @property
    def places(self) -> Iterator[OutputAnchor]:
        """Outputs that are the target's memory: what the write-back names, and who made it."""
        into = self.store.inputs[0].source
        assert into is not None
        yield into
        yield self.target

    @property
    def is_closed(self) -> bool:
        """Whether the value was made of what the target held."""
        return self.source is self.target


class Chains:
    """Finds the chains of one graph's write-backs."""

    def __init__(self, ops: OpRegistry, origins: Origins) -> None:
        self._ops = ops
        self._origins = origins

    def of(self, store: Node) -> Chain:
        """The chain of a write-back whose two inputs are connected."""
        into = store.inputs[0].source
        assert into is not None
        return self.to(store.inputs[1], self._origins.of(into))

    def to(self, end: InputAnchor, target: OutputAnchor) -> Chain:
        """The chain that leads to a connected input, from a memory if there is such a chain."""
        value = end.source
        assert value is not None
        size = value.desc.nbytes
        open_chain: Chain | None = None
        # Depth first, the first offer of every op before the others.
        stack: list[tuple[OutputAnchor, tuple[Link, ...]]] = [(value, ())]
        seen: set[OutputAnchor] = set()
        steps = 0
        while stack and steps < _MOST_STEPS:
            steps += 1
            at, links = stack.pop()
            origin = self._origins.of(at)
            if origin is target:
                return Chain(end, target, links, target, size)
            if origin in seen:
                continue
            seen.add(origin)
            for link in reversed(list(self._links(origin, size))):
                feed = link.input.source
                assert feed is not None
                stack.append((feed, (link, *links)))
                if link.is_copy and open_chain is None:
                    source = self._origins.of(feed)
                    open_chain = Chain(end, target, (link, *links), source, size)
        return open_chain or Chain(end, target, (), self._origins.of(value), size)

    def _links(self, origin: OutputAnchor, size: int | None) -> Iterator[Link]:
        """The steps that may have made an output."""
        node = origin.node
        if origin.desc.nbytes != size or node.subgraphs:
            return
        for at in self._sources(origin):
            anchor = node.inputs[at] if 0 <= at < len(node.inputs) else None
            feed = None if anchor is None else anchor.source
            if anchor is None or feed is None or feed.desc.nbytes != size:
                continue
            yield Link(node, anchor, origin, self._ops.kind(node) == "move")

    def _sources(self, output: OutputAnchor) -> list[int]:
        node = output.node
        if self._ops.kind(node) == "move":
            return [0] if len(node.inputs) == len(node.outputs) == 1 else []
        offers = [at for out, at in self._ops.traits(node).inplace if out == output.index]
        for pair in node.attrs.get(_OFFERS) or ():
            if isinstance(pair, (list, tuple)) and len(pair) == 2 and pair[0] == output.index:
                offers.append(int(pair[1]))
        support = output.desc.attrs.get(_SUPPORT)
        for at in support if isinstance(support, (list, tuple)) else [support]:
            if isinstance(at, int) and not isinstance(at, bool):
                offers.append(at)
        return list(dict.fromkeys(offers))
