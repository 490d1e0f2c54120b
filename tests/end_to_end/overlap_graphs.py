"""Random blocks that cut, compute and join on one buffer, and what is right of them, from words.

A block cuts its input into pieces, computes from some of them, and joins pieces and results; the
next block takes the join apart again. All cuts and joins are marked, so that all blocks lie on one
buffer, where a slot holds one owner after the other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.ops import OpRegistry, OpTraits

JOIN: dict[str, Any] = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
    "concat_dim": 0,
}
SPLIT: dict[str, Any] = {
    "_no_task": True,
    "_no_padding_continuous_output": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
    "split_dim": 0,
}
PIECE = TensorDesc.make("float32", (16,))
IN_PLACE = {"Relu": ((0, 0),), "Add": ((0, 0), (0, 1))}


class Declared(OpRegistry):
    """Other ops, among them two that work in place; copies their meaning from nobody."""

    def __init__(self, ops: OpRegistry) -> None:
        super().__init__()
        self._ops = ops

    def of(self, op: str, source: str) -> OpTraits:
        """The traits of an op type."""
        if op in IN_PLACE:
            return OpTraits(op, inplace=IN_PLACE[op])
        return self._ops.of(op, source)


@dataclass
class Blocks:
    """A graph, and where its tensors lie.

    Attributes:
        slots: per tensor the slots that it covers; those of another buffer have other numbers.
        owner: per tensor and slot who has written what the tensor holds there.
    """

    graph: Graph
    slots: dict[OutputAnchor, range] = field(default_factory=dict)
    owner: dict[tuple[OutputAnchor, int], OutputAnchor] = field(default_factory=dict)

    def put(self, tensor: OutputAnchor, slot: int, *owners: OutputAnchor) -> None:
        """A tensor covers the slots from one on, with what these have written."""
        self.slots[tensor] = range(slot, slot + len(owners))
        self.owner |= {(tensor, slot + at): owner for at, owner in enumerate(owners)}


def random_blocks(seed: int, *, streams: int = 1) -> Blocks:
    """One to three blocks of two to four slots, with readers and edges between them.

    A block that keeps no piece has nothing to do with the buffer that it takes apart.
    """
    maker = _Maker(random.Random(f"blocks {seed} {streams}"), streams)
    for block in range(maker.rng.choice((1, 1, 2, 3))):
        maker.block(block)
    maker.end()
    return maker.found


class _Maker:
    """Makes one graph."""

    def __init__(self, rng: random.Random, streams: int) -> None:
        self.rng = rng
        self.streams = streams
        self.build = GraphBuilder()
        self.found = Blocks(self.build.graph)
        self.width = rng.choice((2, 2, 3, 4))
        self.readers: list[OutputAnchor] = []
        shape = (16 * self.width,)
        given = self.build.data("in", shape, attrs={"stream_id": -1})
        self.whole = self.build.op("MatMul", given, name="x", shape=shape, attrs=self.stream())
        self.found.put(self.whole, 0, *[self.whole] * self.width)
        self.known = [self.whole]

    def stream(self) -> dict[str, Any]:
        """Mostly the first one."""
        return {"stream_id": self.rng.randrange(self.streams) if self.rng.random() < 0.5 else 0}

    def read(self) -> None:
        """Somebody reads a piece, a join or what was cut."""
        facts: dict[str, Any] = {"name": f"read{len(self.readers)}", "attrs": self.stream()}
        source = self.rng.choice(self.known)
        self.readers.append(self.build.op("Foo", source, shape=(4,), **facts))

    def computed(self, made: OutputAnchor, beside: list[OutputAnchor], name: str) -> OutputAnchor:
        """One op or several behind a piece."""
        rng = self.rng
        for step in range(rng.choice((1, 1, 2, 3))):
            op = rng.choice(("Relu", "Abs", "Add"))
            feeds = [made, rng.choice((*beside, made))] if op == "Add" else [made]
            waits = [rng.choice(self.readers)] if self.readers and rng.random() < 0.5 else []
            facts: dict[str, Any] = {"attrs": self.stream(), "control": waits}
            made = self.build.op(op, *feeds, name=f"{name}_{step}", shape=(16,), **facts)
        return made

    def block(self, number: int) -> None:
        """Cut, compute, join."""
        rng, width, found = self.rng, self.width, self.found
        cut = self.build.node(
            "SplitD",
            self.whole,
            name=f"split{number}",
            outputs=[PIECE] * width,
            attrs={**SPLIT, "num_split": width, **self.stream()},
        )
        pieces = list(cut.outputs)
        base = found.slots[self.whole].start
        for at, piece in enumerate(pieces):
            found.put(piece, base + at, found.owner[self.whole, base + at])
        self.known += pieces
        parts = list(pieces)
        for at in range(width):
            if rng.random() < 0.3:
                self.read()
            if rng.random() < 0.6:
                begin = rng.choice(pieces) if rng.random() < 0.2 else pieces[at]
                parts[at] = self.computed(begin, [*pieces, self.whole], f"y{number}_{at}")
        if not any(part in pieces for part in parts):
            base += width
        for at, part in enumerate(parts):
            if part not in pieces:
                found.put(part, base + at, part)
        self.whole = self.build.op(
            "ConcatD",
            *parts,
            name=f"join{number}",
            shape=(16 * width,),
            attrs={**JOIN, "N": width, **self.stream()},
        )
        owners = [found.owner[part, base + at] for at, part in enumerate(parts)]
        found.put(self.whole, base, *owners)
        self.known.append(self.whole)
        if rng.random() < 0.5:
            self.read()

    def end(self) -> None:
        """The last join is a result, or read; now and then something else is one too."""
        ends = [self.whole]
        if self.rng.random() < 0.7:
            ends = [self.build.op("Abs", self.whole, name="end", attrs=self.stream())]
            if self.rng.random() < 0.1:
                ends.append(self.rng.choice(self.known))
        self.build.net_output(*ends, *self.readers)


# ---- from words ----------------------------------------------------------------------------------


class Words:
    """The rule of reuse for the slots of some blocks, by searching paths."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        nodes = list(blocks.graph.nodes)
        tasks = {
            node: not (node.op in ("Data", "NetOutput") or "_no_task" in node.attrs)
            for node in nodes
        }
        follow: dict[Node, list[Node]] = {node: [] for node in nodes}
        last: dict[int, Node] = {}
        for node in nodes:
            for before in (*node.in_nodes, *node.control_inputs):
                if before.op != "Data":
                    follow[before].append(node)
            if tasks[node]:
                if node.stream_id in last:
                    follow[last[node.stream_id]].append(node)
                last[node.stream_id] = node
        self.after: dict[Node, set[Node]] = {}
        for node in reversed(nodes):
            self.after[node] = set()
            for other in follow[node]:
                self.after[node] |= {other} | self.after[other]
        self.tasks = tasks

    def reaches(self, a: Node, b: Node) -> bool:
        """Whether one node has always run before another; results are read when all have."""
        return a is not b and (b.op == "NetOutput" or b in self.after[a])

    def uses(self, owner: OutputAnchor, slot: int) -> list[Node]:
        """Who writes or reads what an owner put into a slot."""
        found = {owner.node: None}
        for (name, at), holder in self.blocks.owner.items():
            if at == slot and holder is owner:
                for reader in name.readers:
                    if self.tasks[reader.node] or reader.node.op == "NetOutput":
                        found[reader.node] = None
        return list(found)

    def comes_before(self, old: OutputAnchor, new: OutputAnchor, slot: int) -> bool:
        """Whether all uses of the old owner's bytes reach the writer of the new one's."""
        writer = new.node
        for node in self.uses(old, slot):
            if node is writer and self.in_place(old, new, slot):
                continue
            if not self.reaches(node, writer):
                return False
        return True

    def in_place(self, old: OutputAnchor, new: OutputAnchor, slot: int) -> bool:
        """Whether the new owner's op may lie on the input that holds the old one's bytes there."""
        node, covers = new.node, self.blocks.slots
        for _, at in IN_PLACE.get(node.op, ()):
            source = node.inputs[at].source
            if source not in covers or covers[source] != range(slot, slot + 1):
                continue
            if self.blocks.owner[source, slot] is not old:
                continue
            others = [anchor.source for anchor in node.inputs if anchor.index != at]
            if not any(other in covers and slot in covers[other] for other in others):
                return True
        return False

    def is_right(self) -> bool:
        """Whether every two owners of every slot come one after the other."""
        slots: dict[int, dict[OutputAnchor, None]] = {}
        for (_, at), owner in self.blocks.owner.items():
            slots.setdefault(at, {})[owner] = None
        return all(
            self.comes_before(a, b, at) or self.comes_before(b, a, at)
            for at, owners in slots.items()
            for a, b in combinations(owners, 2)
        )
