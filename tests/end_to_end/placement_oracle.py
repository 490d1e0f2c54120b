"""The fewest bytes that joins and splits of a small graph must copy: every choice, byte by byte.

Shares nothing with the product: a choice of ties puts tensors at fixed distances, the nodes run in
the listed order on memories of single bytes, each of which knows whose value it holds, and every
read says whether it found what it should. One graph, one stream, no calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ge_core.api import Graph, InputAnchor, Node, OutputAnchor

JOINS = ("ConcatD", "Pack")
CUTS = ("SplitD",)
ALIGN = 64

Value = tuple[str, int, int]
"""A byte of what an output holds."""


@dataclass(frozen=True)
class Tie:
    """A tensor that would lie in another one, or the end of the graph, which wants it as it is."""

    inner: OutputAnchor
    outer: OutputAnchor | None
    delta: int
    size: int
    node: Node
    port: int


def fewest_bytes(graph: Graph, most: int = 11) -> int | None:
    """The least bytes that are copied; None where there are more ties than `most`."""
    ties = list(_ties(graph))
    if len(ties) > most:
        return None
    costs = []
    for kept in product((True, False), repeat=len(ties)):
        cost = sum(tie.size for tie, keep in zip(ties, kept, strict=True) if not keep)
        if (not costs or cost < min(costs)) and _Run(graph, ties, kept).holds():
            costs.append(cost)
    return min(costs)


def _size(output: OutputAnchor) -> int:
    return output.desc.data_bytes or 0


def _ties(graph: Graph) -> Iterator[Tie]:
    for node in graph.nodes:
        at = 0
        if node.op in JOINS:
            for anchor in node.inputs:
                assert anchor.source is not None
                size = _size(anchor.source)
                yield Tie(anchor.source, node.outputs[0], at, size, node, anchor.index)
                at += size
        elif node.op in CUTS:
            source = node.inputs[0].source
            for output in node.outputs:
                yield Tie(output, source, at, _size(output), node, output.index)
                at += _size(output)
        elif node.op == "NetOutput":
            seen = set()
            for anchor in node.inputs:
                if anchor.source is not None and anchor.source not in seen:
                    seen.add(anchor.source)
                    size = _size(anchor.source)
                    yield Tie(anchor.source, None, 0, size, node, anchor.index)


class _Run:
    """One choice of ties, run."""

    def __init__(self, graph: Graph, ties: list[Tie], kept: tuple[bool, ...]) -> None:
        self.graph = graph
        self.ties = ties
        self.kept = {(tie.node, tie.port) for tie, keep in zip(ties, kept, strict=True) if keep}
        self.block: dict[OutputAnchor, int] = {}
        self.at: dict[OutputAnchor, int] = {}
        self.memory: dict[tuple[int, int], Value] = {}
        self.written: dict[int, set[tuple[int, str]]] = {}

    def holds(self) -> bool:
        """Whether every read finds what it should, and memory of the caller's is left alone."""
        return self._place() and self._caller() and all(map(self._step, self.graph.nodes))

    def _is_kept(self, tie: Tie) -> bool:
        return (tie.node, tie.port) in self.kept

    # ---- places --------------------------------------------------------------------------------

    def _place(self) -> bool:
        outputs = [output for node in self.graph.nodes for output in node.outputs]
        for number, start in enumerate(outputs):
            if start in self.at:
                continue
            self.at[start], self.block[start] = 0, number
            waiting = [start]
            while waiting:
                one = waiting.pop()
                for tie in self.ties:
                    if tie.outer is None or not self._is_kept(tie):
                        continue
                    for here, there, shift in (
                        (tie.inner, tie.outer, -tie.delta),
                        (tie.outer, tie.inner, tie.delta),
                    ):
                        if here is not one:
                            continue
                        want = self.at[one] + shift
                        if there not in self.at:
                            self.at[there], self.block[there] = want, number
                            waiting.append(there)
                        elif self.at[there] != want:
                            return False
        return all(self._aligned(outputs, number) for number in range(len(outputs)))

    def _aligned(self, outputs: list[OutputAnchor], number: int) -> bool:
        members = [output for output in outputs if self.block[output] == number]
        low = min((self.at[output] for output in members), default=0)
        inner = {tie.inner for tie in self.ties if tie.outer is not None and self._is_kept(tie)}
        return all(o in inner or (self.at[o] - low) % ALIGN == 0 for o in members)

    def _caller(self) -> bool:
        """What the caller gives or gets is a buffer of its own, from end to end."""
        for tie in self.ties:
            if tie.outer is None and self._is_kept(tie):
                own = tie.inner
                others = [
                    o for o in self.block if self.block[o] == self.block[own] and o is not own
                ]
                low, high = self.at[own], self.at[own] + _size(own)
                if any(self.at[o] < low or self.at[o] + _size(o) > high for o in others):
                    return False
                ends = [t for t in self.ties if t.outer is None and self._is_kept(t)]
                if any(t.inner in others for t in ends):
                    return False
                for other in self.ties:
                    lies = other.outer is not None and self._is_kept(other)
                    is_cut = lies and other.node.op in CUTS and other.outer is own
                    if is_cut or (lies and other.inner is own):
                        return False
        for node in self.graph.nodes:
            if node.op == "Data":
                own = node.outputs[0]
                low, high = self.at[own], self.at[own] + _size(own)
                for output, block in self.block.items():
                    if block != self.block[own] or output is own:
                        continue
                    if self.at[output] < low or self.at[output] + _size(output) > high:
                        return False
                    if any(
                        t.outer is None and self._is_kept(t) and t.inner is output
                        for t in self.ties
                    ):
                        return False
        return True

    # ---- running -------------------------------------------------------------------------------

    def _value(self, output: OutputAnchor) -> list[Value]:
        """What an output should hold."""
        node = output.node
        if node.op in JOINS:
            parts = [a.source for a in node.inputs if a.source is not None]
            return [value for part in parts for value in self._value(part)]
        if node.op in CUTS:
            source = node.inputs[0].source
            assert source is not None
            at = sum(_size(other) for other in node.outputs[: output.index])
            return self._value(source)[at : at + _size(output)]
        return [(node.name, output.index, byte) for byte in range(_size(output))]

    def _found(self, output: OutputAnchor, low: int = 0, size: int | None = None) -> bool:
        block, at = self.block[output], self.at[output] + low
        wanted = self._value(output)[low : None if size is None else low + size]
        return all(
            self.memory.get((block, at + byte)) == value for byte, value in enumerate(wanted)
        )

    def _write(self, output: OutputAnchor, low: int = 0, size: int | None = None) -> bool:
        block, at = self.block[output], self.at[output] + low
        for byte, value in enumerate(
            self._value(output)[low : None if size is None else low + size]
        ):
            place = (block, at + byte)
            # One place is not written twice with one value: the product shares tensors, not luck.
            if self.memory.get(place) == value or self._is_callers(place, output):
                return False
            self.memory[place] = value
        return True

    def _is_callers(self, place: tuple[int, int], output: OutputAnchor) -> bool:
        """Whether a byte is the caller's, and something else than the result was put there."""
        held = self.memory.get(place)
        if held is None:
            return False
        data = self.graph.find(held[0])
        if data is not None and data.op == "Data":
            own = data.outputs[0]
            inside = self.at[own] <= place[1] < self.at[own] + _size(own)
            if self.block[own] == place[0] and inside:
                return True
        return any(
            tie.outer is None and self._is_kept(tie) and self.block[tie.inner] == place[0]
            for tie in self.ties
        )

    def _step(self, node: Node) -> bool:
        if node.op in JOINS:
            return self._join(node)
        if node.op in CUTS:
            return self._cut(node)
        if node.op == "NetOutput":
            return all(self._delivered(anchor) for anchor in node.inputs)
        sources = [anchor.source for anchor in node.inputs if anchor.source is not None]
        if not all(self._found(source) for source in sources):
            return False
        if any(self._overlap(output, s) for output in node.outputs for s in sources):
            return False
        return all(self._write(output) for output in node.outputs)

    def _overlap(self, one: OutputAnchor, other: OutputAnchor) -> bool:
        if self.block[one] != self.block[other]:
            return False
        low, high = self.at[one], self.at[other]
        return low < high + _size(other) and high < low + _size(one)

    def _join(self, node: Node) -> bool:
        out, at = node.outputs[0], 0
        for anchor in node.inputs:
            assert anchor.source is not None
            size = _size(anchor.source)
            if not self._found(anchor.source):
                return False
            if (node, anchor.index) not in self.kept and not self._write(out, at, size):
                return False
            at += size
        return self._found(out)

    def _cut(self, node: Node) -> bool:
        source, at = node.inputs[0].source, 0
        assert source is not None
        for output in node.outputs:
            if not self._found(source, at, _size(output)):
                return False
            if (node, output.index) not in self.kept and not self._write(output):
                return False
            at += _size(output)
        return True

    def _delivered(self, anchor: InputAnchor) -> bool:
        """What stays where it is must be there at the end; a copy was made in time."""
        assert anchor.source is not None
        first = next(t.port for t in self.ties if t.outer is None and t.inner is anchor.source)
        return (anchor.node, first) not in self.kept or self._found(anchor.source)
