"""The pass's work grows with the graph and no faster, counted in anchors and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, OutputAnchor
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import plan_passes
from ge_core.session.kernel import default_kernel

PASS = "HandleMemoryRWConflict"
SCRIBBLE = {"_input_mutable": True}


def chain(b: GraphBuilder, count: int) -> OutputAnchor:
    """Copies and views in a row: one memory, when they are gone."""
    last = b.op("Relu", b.data("x"))
    for at in range(count):
        last = b.op("Reshape", b.op("Identity", last), name=f"v{at}", reuse_input=0)
    return b.op("Exp", last)


def copies_of_one(b: GraphBuilder, count: int) -> OutputAnchor:
    """One variable, copied for each of many readers, and updated in the end."""
    w = b.op("Variable", name="w")
    uses = [b.op("Exp", b.op("Identity", w)) for _ in range(count)]
    return b.op("Assign", w, b.op("AddN", *uses), reuse_input=0)


def scribblers(b: GraphBuilder, count: int) -> OutputAnchor:
    """One value that many nodes want to use up."""
    act = b.op("Relu", b.data("x"))
    return b.op("AddN", *[b.op("Foo", act, attrs=SCRIBBLE) for _ in range(count)])


def one_for_many(b: GraphBuilder, count: int) -> OutputAnchor:
    """One copy for many readers and two stores behind views."""
    copy = b.op("Identity", b.op("Variable", name="w"))
    uses = [b.op("Exp", copy) for _ in range(count)]
    stores = [
        b.op("Assign", b.op("Reshape", copy, reuse_input=0), use, reuse_input=0) for use in uses[:2]
    ]
    return b.op("AddN", *uses, *stores)


def stores(b: GraphBuilder, count: int) -> OutputAnchor:
    """Copies in front of stores, each of them beside a reader."""
    last = b.op("Relu", b.data("x"))
    for _ in range(count):
        copy, early = b.op("Identity", last), b.op("Exp", last)
        last = b.op("Add", b.op("Assign", copy, early, reuse_input=0), early)
    return last


def calls(b: GraphBuilder, count: int) -> OutputAnchor:
    """Calls of one subgraph, in which a call of another does the same, and so on."""
    sub: GraphBuilder | None = None
    for depth in range(20):
        inner = b.subgraph(f"g{depth}")
        d = inner.data(f"g{depth}/d")
        if sub is None:
            made = inner.op("Foo", d, name="deep", attrs=SCRIBBLE)
        else:
            made = inner.op("PartitionedCall", d, name=f"g{depth}/c", subgraphs={"f": sub})
        inner.net_output(inner.op("Identity", made, name=f"g{depth}/i"))
        sub = inner
    assert sub is not None
    act = b.op("Relu", b.data("x"))
    return b.op(
        "AddN",
        *[b.op("PartitionedCall", act, subgraphs={"f": sub}) for _ in range(count)],
    )


def counted(build: Callable[[GraphBuilder, int], OutputAnchor], count: int) -> Mapping[str, int]:
    """What the pass counts on a graph of this size."""
    b = GraphBuilder()
    b.net_output(build(b, count))
    return run(b.graph)


def run(graph: Graph, **fields: Any) -> Mapping[str, int]:
    """The counters of one run."""
    kernel = default_kernel()
    schedule = plan_passes(kernel.catalog, pipeline=PASS)
    env = kernel.environment(graph, schedule, kernel.registries.targets.select("ascend"))
    (ran,) = PassManager(schedule, env).run().passes
    return ran.counters


@pytest.mark.parametrize(
    ("build", "inserted", "removed"),
    [
        (chain, 0, 200),
        (copies_of_one, 0, 200),
        (scribblers, 200, 0),
        (one_for_many, 0, 0),
        (stores, 0, 200),
        (calls, 200, 0),
    ],
)
def test_twice_the_graph_is_twice_the_work(
    build: Callable[[GraphBuilder, int], OutputAnchor], inserted: int, removed: int
) -> None:
    """Whatever the pass puts in or takes out on the way."""
    small, large = counted(build, 100), counted(build, 200)
    assert (inserted, removed) == (large["inserted"], large["removed"])
    assert large["steps"] <= 2.2 * small["steps"] + 50
