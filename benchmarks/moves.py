"""Moves: 100,000 nodes with 10,000 copies in shapes that invite more than linear work.

Every shape and level runs in a process of its own, and processor time is measured. *delete* and
*coalesce* are the two passes that remove copies, *passes* all of the level, *compile* the whole
with plan and proof; *limit* is how many copies stay because a search would have become too long.
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
MOVES = 10_000
MARK = "result: "


def chains(b, nodes: int, moves: int) -> None:
    """100 chains; every tenth node is a copy."""
    results = []
    for line in range(100):
        at = b.data(f"x{line}")
        for step in range(moves // 100):
            at = b.op("TensorMove", at, name=f"m{line}_{step}")
            for other in range(nodes // moves - 1):
                at = b.op("Relu", at, name=f"r{line}_{step}_{other}")
        results.append(at)
    b.net_output(*results)


def fan_out(b, nodes: int, moves: int) -> None:
    """Sources with 1,000 readers, of which 100 are copies."""
    results = []
    at = b.data("x")
    for source in range(nodes // 1000):
        at = b.op("Exp", at, name=f"s{source}")
        for reader in range(1000 - 2 * (moves * 1000 // nodes)):
            b.op("Relu", at, name=f"r{source}_{reader}")
        for copy in range(moves * 1000 // nodes):
            moved = b.op("TensorMove", at, name=f"m{source}_{copy}")
            results.append(b.op("Relu", moved, name=f"c{source}_{copy}"))
    b.net_output(*results[-10:])


def readers_and_writers(b, nodes: int, moves: int) -> None:
    """Sources with 1,000 readers and a copy with writers, in a row; and further copies in chains.

    The writers must come after all readers: a million pairs for each source but for a barrier.
    """
    at = b.data("x")
    value = b.op("Exp", at, name="value")
    groups = nodes // 2000
    for group in range(groups):
        source = b.op("Exp", at, name=f"s{group}")
        for reader in range(1000):
            b.op("Relu", source, name=f"r{group}_{reader}")
        stored = b.op("TensorMove", source, name=f"m{group}")
        # Readers of the copy that overwrite it one after the other.
        last = None
        for writer in range(1000 - 2 * (moves // groups)):
            node = b.node(
                "Assign",
                stored,
                value,
                name=f"w{group}_{writer}",
                reuse_input=0,
                control=[] if last is None else [last],
            )
            last = node
        at = last.outputs[0]
        for copy in range(moves // groups):
            at = b.op("Relu", b.op("TensorMove", at, name=f"k{group}_{copy}"))
    b.net_output(at)


def call_depth(b, nodes: int, moves: int) -> None:
    """Calls 20 deep, with copies in front of, in and behind every call."""
    results = []
    depth = 20
    lines = moves // (2 * depth + 1)
    for line in range(lines):
        results.append(_nest(b, b.data(f"x{line}"), f"n{line}", depth, nodes // lines))
    b.net_output(*results)


def _nest(b, at, name: str, depth: int, count: int):
    """One chain of calls; `count` nodes in all."""
    builders = [b]
    feeds = [b.op("TensorMove", b.op("Relu", at, name=f"{name}_r0"), name=f"{name}_m0")]
    for level in range(depth):
        inner = builders[-1].subgraph(f"{name}_g{level}")
        builders.append(inner)
        data = inner.data(f"{name}_d{level}", index=0)
        moved = inner.op("TensorMove", data, name=f"{name}_in{level}")
        feeds.append(inner.op("Relu", moved, name=f"{name}_r{level + 1}"))
    result = None
    for level in range(depth, -1, -1):
        build, at = builders[level], feeds[level]
        if level < depth:
            called = build.op(
                "PartitionedCall",
                at,
                name=f"{name}_call{level}",
                subgraphs={"f": builders[level + 1]},
            )
            at = build.op("TensorMove", called, name=f"{name}_out{level}")
        for step in range((count - 6 * depth) // (depth + 1)):
            at = build.op("Relu", at, name=f"{name}_f{level}_{step}")
        if level:
            build.net_output(at)
        result = at
    return result


def one_source(b, nodes: int, moves: int) -> None:
    """One source with 10,000 copies, each with readers of its own."""
    source = b.op("Exp", b.data("x"), name="source")
    results = []
    for copy in range(moves):
        at = b.op("TensorMove", source, name=f"m{copy}")
        for step in range(nodes // moves - 1):
            at = b.op("Relu", at, name=f"r{copy}_{step}")
        results.append(at)
    b.net_output(*results[:10])


def views(b, nodes: int, moves: int) -> None:
    """Chains of 900 views with 100 copies at their ends, and copies after every ten views."""
    results = []
    for line in range(nodes // 2000):
        at = b.op("Exp", b.data(f"x{line}"), name=f"s{line}")
        for step in range(nodes // moves * 80):
            at = b.op("Reshape", at, name=f"v{line}_{step}", reuse_input=0)
        for copy in range(moves // (nodes // 2000) // 2):
            moved = b.op("TensorMove", at, name=f"m{line}_{copy}")
            results.append(b.op("Relu", moved, name=f"r{line}_{copy}"))
        for copy in range(moves // (nodes // 2000) // 2):
            at = b.op("TensorMove", at, name=f"n{line}_{copy}")
            for step in range(10):
                at = b.op("Reshape", at, name=f"u{line}_{copy}_{step}", reuse_input=0)
        results.append(b.op("Relu", at, name=f"e{line}"))
    b.net_output(*results[:50])


def shared_calls(b, nodes: int, moves: int) -> None:
    """Subgraphs that are called 50 times each, with copies in them and in front of every call."""
    results = []
    per_graph = 100
    for part in range(moves // (per_graph + 50)):
        inner = b.subgraph(f"g{part}")
        at = inner.data(f"d{part}", index=0)
        for copy in range(per_graph):
            at = inner.op("TensorMove", at, name=f"m{part}_{copy}")
            at = inner.op("Relu", at, name=f"i{part}_{copy}")
        inner.net_output(at)
        source = b.op("Exp", b.data(f"x{part}"), name=f"s{part}")
        for call in range(50):
            at = b.op("TensorMove", source, name=f"c{part}_{call}")
            for step in range(nodes // (moves // (per_graph + 50)) // 50 - 7):
                at = b.op("Relu", at, name=f"o{part}_{call}_{step}")
            results.append(
                b.op("PartitionedCall", at, name=f"call{part}_{call}", subgraphs={"f": inner})
            )
    b.net_output(*results[::50])


def stores(b, nodes: int, moves: int) -> None:
    """Copies in front of stores, each with a reader of the source on either side of it."""
    at = b.op("Relu", b.data("x"), name="start")
    for copy in range(moves):
        moved = b.op("TensorMove", at, name=f"m{copy}")
        early = b.op("Exp", at, name=f"e{copy}")
        stored = b.op("Assign", moved, early, name=f"s{copy}", reuse_input=0)
        late = b.op("Exp", at, name=f"l{copy}")
        at = b.op("Add", stored, late, name=f"a{copy}")
        for step in range(nodes // moves - 5):
            at = b.op("Relu", at, name=f"f{copy}_{step}")
    b.net_output(at)


def refused(b, nodes: int, moves: int) -> None:
    """Copies of one source whose stores come before some reader of it: all stay, after a search."""
    act = b.op("Relu", b.data("x"), name="source")
    value = b.op("Exp", act, name="value")
    results = []
    for copy in range(moves):
        moved = b.op("TensorMove", act, name=f"m{copy}")
        at = b.op("Assign", moved, value, name=f"s{copy}", reuse_input=0)
        for step in range(nodes // moves - 3):
            at = b.op("Tanh", at, name=f"t{copy}_{step}")
        results.append(b.op("Add", act, at, name=f"a{copy}"))
    b.net_output(*results[:10])


SHAPES: dict[str, Callable] = {
    shape.__name__: shape
    for shape in (
        chains,
        fan_out,
        readers_and_writers,
        call_depth,
        one_source,
        views,
        shared_calls,
        stores,
        refused,
    )
}


def build(shape: str, nodes: int = NODES, moves: int = MOVES):
    """The graph of one shape."""
    from ge_core.ir import GraphBuilder, collector_paused

    with collector_paused():
        builder = GraphBuilder(shape)
        SHAPES[shape](builder, nodes, moves)
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
    nodes = sum(len(each) for each in graph.all_graphs())
    moves = sum(len(each.nodes_of("TensorMove")) for each in graph.all_graphs())
    start = time.process_time()
    result = ge.compile(graph, level=level, objective="copies", instruments=[clock])
    whole = time.process_time() - start
    return {
        "nodes": nodes,
        "moves": moves,
        "left": sum(len(each.nodes_of("TensorMove")) for each in result.graph.all_graphs()),
        "limit": sum(remark.code.endswith("SEARCH_LIMIT") for remark in result.remarks),
        "delete": clock.taken.get("TensorMoveDeletePass", 0.0),
        "coalesce": clock.taken.get("TensorMoveCoalescePass"),
        "passes": sum(clock.taken.values()),
        "compile": whole,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ok": result.proof is not None and result.proof.ok,
    }


def main() -> None:
    """Print a Markdown table."""
    columns = ("nodes", "moves", "left", "limit", "delete", "coalesce", "passes", "compile")
    columns += ("mb", "ok")
    print("| shape | level | " + " | ".join(columns) + " |")
    print("| --- | --- |" + " --- |" * len(columns))
    for shape in SHAPES:
        for level in LEVELS:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.moves", shape, level],
                capture_output=True,
                text=True,
                check=True,
            )
            line = next(at for at in done.stdout.splitlines() if at.startswith(MARK))
            row = json.loads(line.removeprefix(MARK))
            cells = " | ".join(_cell(row[column]) for column in columns)
            print(f"| {shape} | {level} | {cells} |", flush=True)


def _cell(value: float | bool | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(MARK + json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        main()
