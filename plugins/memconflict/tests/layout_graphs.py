"""Random graphs whose anchors make all kinds of demands, and one run of the pass on a graph."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import plan_passes
from ge_core.passes.precedence import ARGUMENTS, Source
from ge_core.passes.remarks import Remarks
from ge_core.session.kernel import default_kernel

PASS = "MemLayoutConflictOptimizer"
PACKED = {"continuous_input": True}
PACKED_OUT = {"continuous_output": True}
JOIN = {"_no_padding_continuous_input": True, "_output_reuse_input": True, "_no_task": True}
SPLIT = {"_no_padding_continuous_output": True, "_output_reuse_input": True, "_no_task": True}
HCCL = {"_ge_attr_op_kernel_lib_name": "ops_kernel_info_hccl"}
DESC = TensorDesc.make()


def optimized(
    graph: Graph, remarks: Remarks | None = None, level: str = "O3", **options: str
) -> dict[str, int]:
    """Run the pass on a graph, in place; what it counted. Remarks are added to the given ones."""
    kernel = default_kernel()
    given = {"ge.oo.level": level, **{f"ge.{k}".replace("__", "."): v for k, v in options.items()}}
    schedule = plan_passes(kernel.catalog, [Source(ARGUMENTS, given)])
    target = kernel.registries.targets.select("ascend")
    environment = kernel.environment(graph, schedule, target)
    if remarks is not None:
        environment.remarks = remarks
    only = [step for step in schedule.passes if step.name == PASS]
    alone = replace(schedule, passes=tuple(only))
    manager = PassManager(alone, environment, verify_each=True, audit=True)
    report = manager.run()
    return dict(report.passes[0].counters)


def demanding_graph(seed: int, nodes: int = 18) -> Graph:
    """A graph of values that groups, special memory, switches and the caller want for themselves.

    It means nothing: shapes are alike everywhere.
    """
    random = Random(seed)
    b = GraphBuilder()
    pool = [b.data("x"), b.op("Variable", name="w"), b.op("Const", name="k")]
    pool += [b.op("Relu", value, name=f"r{at}") for at, value in enumerate(pool)]
    for at in range(nodes):
        pool += _step(random, b, pool, f"n{at}")
    b.net_output(*(random.choice(pool) for _ in range(random.randint(1, 4))))
    return b.graph


def _step(
    random: Random, b: GraphBuilder, pool: list[OutputAnchor], name: str
) -> list[OutputAnchor]:
    def some(count: int) -> list[OutputAnchor]:
        return [random.choice(pool[-10:]) for _ in range(count)]

    kind = random.choice("relu view gather spread join split in out switch hccl update".split())
    if kind == "relu":
        return [b.op("Relu", *some(1), name=name)]
    if kind == "view":
        return [b.op("Reshape", *some(1), name=name, reuse_input=0)]
    if kind == "gather":
        return [b.op("Foo", *some(random.randint(1, 3)), name=name, attrs=PACKED)]
    if kind == "spread":
        shared = DESC.replace(reuse_input=random.choice((None, 0)))
        node = b.node("Foo", *some(1), name=name, outputs=[shared, DESC], attrs=PACKED_OUT)
        return list(node.outputs)
    if kind == "join":
        return [b.op("ConcatD", *some(random.randint(2, 3)), name=name, attrs=JOIN)]
    if kind == "split":
        return b.node("SplitD", *some(1), name=name, outputs=[DESC, DESC], attrs=SPLIT).outputs
    memory = [random.choice(("P2P", "TS"))]
    if kind == "in":
        return [b.op("Bar", *some(1), name=name, attrs={"_input_memory_type": memory})]
    if kind == "out":
        marks = {"_output_memory_type": memory}
        return [b.op("Bar", *some(1), name=name, attrs=marks, reuse_input=random.choice((None, 0)))]
    if kind == "switch":
        return [b.op("StreamSwitch", *some(1), name=name)]
    reuse = random.choice((None, 0))
    if kind == "hccl":
        return [b.op("HcomFoo", *some(1), name=name, attrs=HCCL, reuse_input=reuse)]
    return [b.op("Foo", *some(1), name=name, attrs={"reference": True}, reuse_input=reuse)]
