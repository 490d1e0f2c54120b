"""Joins: 100,000 nodes with 10,000 joins of up to 500 operands, and splits among them.

Every shape and level runs in a process of its own, and processor time is measured. *passes* are all
passes of the level up to the schedule, of which *joins* are those of this plugin; *plan*, *tasks*
and *proof* are the rest of the compile. *edges* are the operands of all joins and the pieces of all
splits, *left* is how many joins and splits still have a task.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

LEVELS = ("O3", "O4")
NODES = 100_000
JOINS = 10_000
OPERANDS = 500
ELEMENTS = 16
MARK = "result: "
OWN = ("SplitNotaskPass", "ConcatNotaskPass", "PackNotaskPass", "TensorPlacementPass")
KINDS = ("ConcatD", "SplitD", "Pack", "StridedSliceD")


class _Maker:
    """Rows of float16[16]: every tensor is a number of them, and its length tells its bytes."""

    def __init__(self, builder) -> None:
        from ge_core.ir import TensorDesc

        self.b = builder
        self.made = 0
        self._descs: dict[int, object] = {}
        self._make = TensorDesc.make

    def desc(self, rows: int):
        if rows not in self._descs:
            self._descs[rows] = self._make("float16", (rows, ELEMENTS))
        return self._descs[rows]

    def rows(self, tensor) -> int:
        return tensor.desc.shape[0]

    def data(self, rows: int = 1):
        self.made += 1
        return self.b.data(f"x{self.made}", desc=self.desc(rows))

    def op(self, op: str, *feeds, rows: int = 1):
        self.made += 1
        return self.b.op(op, *feeds, name=f"{op}{self.made}", outputs=[self.desc(rows)])

    def join(self, feeds):
        return self.op("ConcatD", *feeds, rows=sum(map(self.rows, feeds)))

    def split(self, whole, parts: int):
        self.made += 1
        each = self.desc(self.rows(whole) // parts)
        node = self.b.node("SplitD", whole, name=f"SplitD{self.made}", outputs=[each] * parts)
        return list(node.outputs)

    def pad(self, at, nodes: int):
        """A chain behind a tensor that brings the graph to a number of nodes."""
        while self.made < nodes - 1:
            at = self.op("Relu", at)
        return at


def _sizes(joins: int, operands: int):
    """How many operands each join has: one in 250 has them all, the others few."""
    return [operands if at % 250 == 0 else 3 + at % 3 for at in range(joins)]


def own(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Joins of operands of their own."""
    x, results = m.data(), []
    for size in _sizes(joins, operands):
        results.append(m.op("Relu", m.join([m.op("Exp", x) for _ in range(size)])))
    m.b.net_output(m.pad(x, nodes), *results[::100])


def prefixes(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Blocks as in DenseNet: each join has all operands of the one before, and one more."""
    x, results = m.data(), []
    left = joins
    for depth in (operands, *[25] * joins):
        held = [m.op("Exp", x)]
        for _ in range(min(depth, left)):
            held.append(m.op("ReduceSum", m.join(held)))
            for _ in range(nodes // joins - 4):
                held[-1] = m.op("Relu", held[-1])
        results.append(held[-1])
        left -= depth
        if left <= 0:
            break
    m.b.net_output(m.pad(x, nodes), *results)


def nested(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Joins of joins: each holds the one before and some operands of its own, 50 deep."""
    x, results = m.data(), []
    grown = None
    for at, size in enumerate(_sizes(joins, operands)):
        feeds = [m.op("Exp", x) for _ in range(size)]
        grown = m.join(feeds if grown is None else [grown, *feeds])
        if at % 50 == 49:
            results.append(m.op("Relu", grown, rows=m.rows(grown)))
            grown = None
    m.b.net_output(m.pad(x, nodes), *results)


def tower(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Each join holds the one before: all lie in one buffer."""
    x = m.data()
    grown = m.op("Exp", x)
    for _ in range(joins):
        grown = m.join([grown, *(m.op("Exp", x) for _ in range(nodes // joins - 2))])
    m.b.net_output(m.pad(x, nodes), m.op("Relu", grown, rows=m.rows(grown)))


def windows(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Joins of neighbours in one row of tensors, each starting one further: all can be placed."""
    x = m.data()
    width = 8
    row = [m.op("Exp", x) for _ in range(joins + width)]
    joined = [m.join(row[at : at + width]) for at in range(joins)]
    for at in joined:
        m.op("Relu", at, rows=width)
    m.b.net_output(m.pad(x, nodes), *row[-1:])


def competing(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Joins that want the same tensors in different orders: in each pair one can be placed."""
    x = m.data()
    row = [m.op("Exp", x) for _ in range(joins)]
    for at in range(joins):
        feeds = [row[(at * 7 + step * (1 + at % 5)) % joins] for step in range(4)]
        m.op("Relu", m.join(feeds), rows=4)
    m.b.net_output(m.pad(x, nodes), row[0])


def cut_and_joined(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Splits whose parts are joined again: straight, behind an op each, or in another order."""
    results = []
    for at, size in enumerate(_sizes(joins // 2, operands)):
        whole = m.op("Exp", m.data(size), rows=size)
        parts = m.split(whole, size)
        if at % 3 == 1:
            parts = [m.op("Relu", part) for part in parts]
        elif at % 3 == 2:
            parts.reverse()
        results.append(m.op("Relu", m.join(parts), rows=size))
    m.b.net_output(m.pad(results[0], nodes), *results[1::100])


def joined_and_cut(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Joins that are cut into the operands again, or into larger parts."""
    x, results = m.data(), []
    for at, size in enumerate(_sizes(joins // 2, operands)):
        joined = m.join([m.op("Exp", x, rows=2) for _ in range(size)])
        parts = m.split(joined, size if at % 2 else 2)
        results += [m.op("Relu", part, rows=m.rows(part)) for part in parts]
    m.b.net_output(m.pad(x, nodes), *results[::1000])


def refused(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """Joins with an operand that can't be placed: a graph input that all of them have, a constant,
    a result of the graph, or one that somebody overwrites."""
    x, results = m.data(), []
    constant = m.b.const("constant", bytes(2 * ELEMENTS), (1, ELEMENTS), "float16")
    out, value = m.op("Exp", x), m.op("Exp", x)
    for at, size in enumerate(_sizes(joins, operands)):
        feeds = [m.op("Exp", x) for _ in range(size - 1)]
        feeds.insert(at % size, (x, constant, out, value)[at % 4])
        results.append(m.op("Relu", m.join(feeds)))
    m.b.op("Assign", value, x, name="assign", outputs=[m.desc(1)])
    m.b.net_output(m.pad(x, nodes), out, *results[::100])


def one_operand(m: _Maker, nodes: int, joins: int, operands: int) -> None:
    """All joins have one tensor in common, at different places."""
    x = m.data()
    shared = m.op("Exp", x)
    for at in range(joins):
        feeds = [m.op("Exp", x) for _ in range(6)]
        feeds.insert(at % 7, shared)
        m.op("Relu", m.join(feeds), rows=7)
    m.b.net_output(m.pad(x, nodes), m.op("Relu", shared))


SHAPES: dict[str, Callable] = {
    shape.__name__: shape
    for shape in (
        own,
        prefixes,
        nested,
        tower,
        windows,
        competing,
        cut_and_joined,
        joined_and_cut,
        refused,
        one_operand,
    )
}


def build(shape: str, nodes: int = NODES, joins: int = JOINS, operands: int = OPERANDS):
    """The graph of one shape."""
    from ge_core.ir import GraphBuilder, collector_paused

    with collector_paused():
        builder = GraphBuilder(shape)
        SHAPES[shape](_Maker(builder), nodes, joins, operands)
    return builder.graph


def measure(shape: str, level: str) -> dict[str, object]:
    """One shape at one level, in this process."""
    import ge_core as ge
    from ge_core.passes.instruments import Instrument

    class Clock(Instrument):
        """Processor time by pass."""

        def __init__(self) -> None:
            self.started = 0.0
            self.taken: dict[str, float] = {}

        def before_pass(self, ctx) -> None:
            self.started = time.process_time()

        def after_pass(self, ctx, changed: bool, seconds: float) -> None:
            name = ctx.declaration.name
            taken = time.process_time() - self.started
            self.taken[name] = self.taken.get(name, 0.0) + taken

    graph, clock = build(shape), Clock()
    joins, edges = _count(graph)
    nodes = len(graph)
    start = time.process_time()
    result = ge.compile(graph, level=level, objective="copies", instruments=[clock])
    whole = time.process_time() - start
    if "-v" in sys.argv:
        for name, taken in sorted(clock.taken.items(), key=lambda item: -item[1])[:12]:
            print(f"{taken:8.2f} {name}", file=sys.stderr)
    return {
        "nodes": nodes,
        "joins": joins,
        "edges": edges,
        "left": result.after.total.count,
        "own": sum(clock.taken.get(name, 0.0) for name in OWN),
        "passes": result.seconds.passes,
        "plan": result.seconds.plan,
        "proof": result.seconds.proof,
        "compile": whole,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ok": result.proof is not None and result.proof.ok,
    }


def _count(graph) -> tuple[int, int]:
    found = [node for kind in KINDS for node in graph.nodes_of(kind)]
    return len(found), sum(max(len(node.inputs), len(node.outputs)) for node in found)


if __name__ == "__main__":
    print(MARK + json.dumps(measure(sys.argv[1], sys.argv[2])))
