"""Random graphs of joins and splits, along either axis, and what must hold of their compiles."""

from __future__ import annotations

from random import Random

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.memory import ARENA
from ge_core.session.execution import execute

COLUMNS = 8
TARGETS = ("generic", "ascend", "numpy")
DTYPES = ("int8", "float16", "float32", "bfloat16", "int4")


class Maker:
    """Joins of joins, shared and repeated operands, splits into joins, views, constants, results.

    Tensors have rows and columns; now and then one has no rows. Ops of one kind may work in place,
    those of the other kind mix what they read. One graph in three has two streams, one in three
    stores into a tensor in place.
    """

    def __init__(self, seed: int) -> None:
        self.pick = Random(seed)
        self.dtype = DTYPES[seed % len(DTYPES)]
        self.streams = 2 if seed % 3 == 1 else 1
        self.stores = seed % 3 == 2
        self.b = GraphBuilder(f"joins{seed}")
        self.count = 0

    def graph(self) -> Graph:
        """One graph."""
        pick = self.pick
        pool = [self.b.data(name, desc=self.desc(pick.randint(1, 3))) for name in "xy"]
        rows, bits = 2, {"int8": 8, "float16": 16, "bfloat16": 16, "int4": 4}.get(self.dtype, 32)
        weight = bytes(at % 7 for at in range(rows * COLUMNS * bits // 8))
        pool.append(self.b.const("w", weight, (rows, COLUMNS), self.dtype))
        pool += [self.op(one) for one in tuple(pool[:2])]
        for _ in range(pick.randint(3, 10)):
            pool += self.step(pool)
        unread = [one for one in pool[3:] if not one.readers]
        results = [one for one in unread if pick.random() < 0.4]
        rest = [self.op(one) for one in unread if one not in results]
        extra = [pick.choice(pool[3:])] if pick.random() < 0.4 else []
        self.b.net_output(*dict.fromkeys((*results, *rest, *extra)))
        return self.b.graph

    def desc(self, rows: int, columns: int = COLUMNS) -> TensorDesc:
        """A tensor of the graph's type."""
        return TensorDesc.make(self.dtype, (rows, columns))

    def name(self, stem: str) -> str:
        """A name of its own."""
        self.count += 1
        return f"{stem}{self.count}"

    def marks(self, **attrs: object) -> dict[str, object]:
        """Attributes with a stream."""
        return {"stream_id": self.pick.randrange(self.streams), **attrs}

    def op(self, one: OutputAnchor) -> OutputAnchor:
        """An op that may work in place."""
        return self.node("Relu", [one], one.desc)

    def node(self, op: str, parts: list[OutputAnchor], out: TensorDesc) -> OutputAnchor:
        """A node with one output."""
        name = self.name(op.lower())
        return self.b.op(op, *parts, name=name, outputs=[out], attrs=self.marks())

    def step(self, pool: list[OutputAnchor]) -> list[OutputAnchor]:
        """One more node, and its outputs."""
        pick = self.pick
        kinds = ["join", "join", "join", "cut", "cut", "relu", "mix", "view", "move", "none"]
        kind = pick.choice(kinds + ["store"] * self.stores)
        one = pick.choice(pool)
        rows, columns = one.desc.shape or (1, COLUMNS)
        if kind == "join":
            return [self.join(pool, one, pick.choice((0, 0, 0, 1)))]
        if kind == "cut":
            return self.cut(one, pick.choice((0, 0, 0, 1)))
        if kind == "mix":
            return [self.node("Foo", [one, pick.choice(pool)], self.desc(pick.randint(1, 3)))]
        if kind == "view":
            return [self.node("Reshape", [one], one.desc.replace(reuse_input=0, attrs={}))]
        if kind == "move":
            return [self.node("TensorMove", [one], one.desc.replace(reuse_input=None, attrs={}))]
        if kind == "none":
            return [self.node("Foo", [one], self.desc(0, columns))]
        if kind == "store" and one.node.op in ("Relu", "Foo") and rows:
            out = one.desc.replace(reuse_input=0, attrs={})
            return [self.node("Assign", [one, self.op(one)], out)]
        return [self.op(one)]

    def join(self, pool: list[OutputAnchor], one: OutputAnchor, axis: int) -> OutputAnchor:
        """A Concat of what fits: the same operand may come twice."""
        other = 1 - axis
        shape = one.desc.shape or ()
        fitting = [t for t in pool if (t.desc.shape or ())[other] == shape[other]]
        parts = [one, *(self.pick.choice(fitting) for _ in range(self.pick.randint(1, 3)))]
        self.pick.shuffle(parts)
        size = sum((part.desc.shape or ())[axis] for part in parts)
        if size > 40:
            return self.op(one)
        out = self.desc(size, shape[1]) if axis == 0 else self.desc(shape[0], size)
        attrs = self.marks(concat_dim=axis, N=len(parts))
        return self.b.op("ConcatD", *parts, name=self.name("join"), outputs=[out], attrs=attrs)

    def cut(self, one: OutputAnchor, axis: int) -> list[OutputAnchor]:
        """A Split into two; columns go by pairs, so that no piece ends within a byte."""
        rows, columns = one.desc.shape or (1, COLUMNS)
        size = rows if axis == 0 else columns // 2
        if size < 2:
            return [self.op(one)]
        first = self.pick.randint(1, size - 1)
        if axis == 0:
            outputs = [self.desc(first, columns), self.desc(rows - first, columns)]
        else:
            outputs = [self.desc(rows, 2 * first), self.desc(rows, columns - 2 * first)]
        attrs = self.marks(split_dim=axis, num_split=2)
        return self.b.node(
            "SplitD", one, name=self.name("cut"), outputs=outputs, attrs=attrs
        ).outputs


def problem(seed: int, level: str) -> str | None:
    """What is wrong with the compiles of one graph; None for nothing."""
    graph = Maker(seed).graph()
    target = TARGETS[seed % len(TARGETS)]
    least = ge.compile(graph, level="O1", target=target, prove=False)
    allowed = least.plan.pools[ARENA].bytes
    for objective in ("peak", "copies"):
        about = f"seed {seed} at {level} on {target} for {objective}"
        result = ge.compile(
            graph,
            level=level,
            target=target,
            objective="copies" if objective == "copies" else "peak",
            verify_each=True,
        )
        if result.proof is None or not result.proof.ok:
            return f"{about}: {result.proof and result.proof.violations[0]}"
        outcome = execute(result, seed=seed, check=True)
        wrong = [output.name for output in outcome.outputs if not output.bit_exact]
        if wrong:
            return f"{about}: {wrong} differ"
        if result.after.total.bytes > least.after.total.bytes:
            return f"{about}: {result.after.total} is more than {least.after.total} at O1"
        peak = result.plan.pools[ARENA].bytes
        if objective == "peak" and peak > allowed:
            return f"{about}: an arena of {peak} bytes, where O1's has {allowed}"
    return None
