"""Scale: chains, branches and joins with moves at 10k, 100k and 1M nodes.

Every size runs in a process of its own, so that peak memory is that size's. `build` makes the
graph, `sort` orders it, `scan` looks at every edge; `compile` is the whole of O3 with plan and
proof.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

SIZES = (10_000, 100_000, 1_000_000)
COMPILED = (10_000, 100_000)
MARK = "result: "


def build(count: int):
    """A synthetic graph: blocks of a chain, two branches with a move each, and a join."""
    from ge_core.ir import GraphBuilder, TensorDesc, collector_paused

    with collector_paused():
        build = GraphBuilder("scale")
        x = build.data("x", (1, 64))
        graph = build.graph
        flat, wide = TensorDesc.make("float32", (1, 64)), TensorDesc.make("float32", (2, 64))
        made = 1
        while made < count - 1:
            left = graph.add_node("Relu", f"a{made}", [x], [flat]).outputs[0]
            move = graph.add_node("TensorMove", f"m{made}", [left], [flat]).outputs[0]
            right = graph.add_node("Exp", f"b{made}", [move], [flat]).outputs[0]
            other = graph.add_node("Relu", f"c{made}", [x], [flat]).outputs[0]
            second = graph.add_node("Identity", f"i{made}", [other], [flat]).outputs[0]
            join = graph.add_node(
                "ConcatD", f"j{made}", [right, second], [wide], attrs={"concat_dim": 0}
            ).outputs[0]
            x = graph.add_node("ReduceSum", f"r{made}", [join], [flat]).outputs[0]
            made += 7
        build.net_output(x)
    return graph


def measure(count: int) -> dict[str, float]:
    """One size, in this process."""
    from ge_core.analysis import TopoOrder

    start = time.perf_counter()
    graph = build(count)
    built = time.perf_counter()
    TopoOrder(graph)
    ordered = time.perf_counter()
    edges = sum(len(node.inputs) for node in graph.nodes)
    scanned = time.perf_counter()
    found = {
        "nodes": len(graph),
        "edges": edges,
        "build": built - start,
        "sort": ordered - built,
        "scan": scanned - ordered,
        "total": scanned - start,
        "ir_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if count in COMPILED:
        import ge_core as ge

        start = time.perf_counter()
        result = ge.compile(graph, level="O3")
        found["compile"] = time.perf_counter() - start
        found["passes"], found["plan"] = result.seconds.passes, result.seconds.plan
        found["proof"] = result.seconds.proof
        found["ok"] = result.proof is not None and result.proof.ok
        found["compile_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def main() -> None:
    """Print a Markdown table."""
    rows = []
    for count in SIZES:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.scale", str(count)],
            capture_output=True,
            text=True,
            check=True,
        )
        line = next(at for at in done.stdout.splitlines() if at.startswith(MARK))
        rows.append(json.loads(line.removeprefix(MARK)))
    columns = ("build", "sort", "scan", "total", "ir_mb")
    columns += ("passes", "plan", "proof", "compile", "compile_mb", "ok")
    print("| nodes | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for row in rows:
        cells = (_cell(row.get(column)) for column in columns)
        print(f"| {row['nodes']:,} | " + " | ".join(cells) + " |")


def _cell(value: float | bool | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, bool) else f"{value:.2f}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(MARK + json.dumps(measure(int(sys.argv[1]))))
    else:
        main()
