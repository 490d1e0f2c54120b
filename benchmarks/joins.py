"""Joins: 100,000 nodes with 10,000 joins of up to 500 operands, and splits among them.

Every shape and level runs in a process of its own, and processor time is measured. *passes* are all
passes of the level, of which *own* are those that place joins and splits; *plan*, *tasks* and
*proof* are the rest of the compile. *edges* are the operands of all joins and the pieces of all
splits; *left* is how many joins, splits and copies still have a task, and *copied* how many bytes
they copy *of* those of the graph as it was.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from unittest.mock import patch

LEVELS = ("O3", "O4")
NODES = 100_000
JOINS = 10_000
OPERANDS = 500
ELEMENTS = 32
MARK = "result: "
OWN = ("SplitNotaskPass", "ConcatNotaskPass", "PackNotaskPass", "TensorPlacementPass")
KINDS = ("ConcatD", "SplitD", "Pack", "StridedSliceD")


class _Maker:
    """Rows of float16[32]: every tensor is a number of them, and its length tells its bytes."""

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
    """Joins with an operand that can't be placed.

    That is a graph input that all of them have, a constant, a result of the graph, or a tensor that
    somebody overwrites.
    """
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


class Clock:
    """Processor time by step of a compile; `passes` by pass."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}
        self.passes: dict[str, float] = {}
        self._started = 0.0

    def instrument(self):
        """What the pass manager tells."""
        from ge_core.passes.instruments import Instrument

        clock = self

        class Told(Instrument):
            def before_pass(self, ctx) -> None:
                clock._started = time.process_time()

            def after_pass(self, ctx, changed: bool, seconds: float) -> None:
                taken = time.process_time() - clock._started
                name = ctx.declaration.name
                clock.passes[name] = clock.passes.get(name, 0.0) + taken

        return Told()

    def timed(self, name: str, step: Callable) -> Callable:
        """The step, measured."""

        def run(*args, **named):
            start = time.process_time()
            try:
                return step(*args, **named)
            finally:
                taken = time.process_time() - start
                self.steps[name] = self.steps.get(name, 0.0) + taken

        return run


def measure(shape: str, level: str, scale: int = 1) -> dict[str, object]:
    """One shape at one level, in this process."""
    import ge_core as ge
    import ge_core.proof
    from ge_core.session import compiler, planning

    graph, clock = build(shape, NODES // scale, JOINS // scale, OPERANDS), Clock()
    joins, edges = _count(graph)
    nodes = len(graph)
    with (
        patch.object(planning.Planner, "plan", clock.timed("plan", planning.Planner.plan)),
        patch.object(compiler, "generate_tasks", clock.timed("tasks", compiler.generate_tasks)),
        patch.object(ge_core.proof, "verify_compile", clock.timed("proof", verify_compile())),
    ):
        start = time.process_time()
        result = ge.compile(
            graph, level=level, objective="copies", instruments=[clock.instrument()]
        )
        whole = time.process_time() - start
    return {
        "nodes": nodes,
        "joins": joins,
        "edges": edges,
        "left": result.after.total.count,
        "of": result.before.total.bytes,
        "copied": result.after.total.bytes,
        "own": sum(clock.passes.get(name, 0.0) for name in OWN),
        "passes": sum(clock.passes.values()),
        **clock.steps,
        "compile": whole,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ok": result.proof is not None and result.proof.ok,
        "slowest": sorted(clock.passes.items(), key=lambda item: -item[1])[:5],
    }


def verify_compile() -> Callable:
    """The proof."""
    from ge_core.proof import verify_compile

    return verify_compile


def _count(graph) -> tuple[int, int]:
    found = [node for kind in KINDS for node in graph.nodes_of(kind)]
    return len(found), sum(max(len(node.inputs), len(node.outputs)) for node in found)


COLUMNS = ("nodes", "joins", "edges", "left", "of", "copied", "own", "passes", "plan", "tasks")
COLUMNS += ("proof", "compile", "mb", "ok")


def main() -> None:
    """Print a Markdown table."""
    print("| shape | level | " + " | ".join(COLUMNS) + " |")
    print("| --- | --- |" + " --- |" * len(COLUMNS))
    for shape in SHAPES:
        for level in LEVELS:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.joins", shape, level],
                capture_output=True,
                text=True,
                check=True,
            )
            line = next(at for at in done.stdout.splitlines() if at.startswith(MARK))
            row = json.loads(line.removeprefix(MARK))
            cells = " | ".join(_cell(row[column]) for column in COLUMNS)
            print(f"| {shape} | {level} | {cells} |", flush=True)


def _cell(value: float | bool) -> str:
    if isinstance(value, bool):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        scale = int(sys.argv[3]) if len(sys.argv) > 3 else 1
        print(MARK + json.dumps(measure(sys.argv[1], sys.argv[2], scale)))
    else:
        main()
