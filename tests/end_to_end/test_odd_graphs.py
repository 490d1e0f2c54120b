"""Graphs of unusual shape: compiled, proved and executed bit by bit at each level."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ge_core as ge
from ge_core.ir import Graph, GraphBuilder, TensorDesc

SHAPE = (4, 8)
ROWS = TensorDesc.make("float32", SHAPE)


def called_twice() -> Graph:
    """One subgraph behind two calls, the second fed by the first."""
    build = GraphBuilder("root")
    start = build.op("Relu", build.data("x", SHAPE), name="start")
    sub = build.subgraph("g")
    moved = sub.op("TensorMove", sub.data("d", SHAPE, index=0), name="moved")
    sub.net_output(sub.op("Relu", moved, name="inner"))
    first = build.op("PartitionedCall", start, name="first", subgraphs={"f": sub})
    second = build.op("PartitionedCall", first, name="second", subgraphs={"f": sub})
    build.net_output(second, first)
    return build.graph


def listed_twice() -> Graph:
    """Results that are one tensor, or the input itself."""
    build = GraphBuilder("root")
    x = build.data("x", SHAPE)
    moved = build.op("TensorMove", x, name="moved")
    build.net_output(moved, moved, x, x)
    return build.graph


def phony() -> Graph:
    """A join and a split that have no kernel."""
    build = GraphBuilder("root")
    x = build.data("x", SHAPE)
    parts = [build.op(op, x, name=op) for op in ("Relu", "Exp")]
    joined = build.op("PhonyConcat", *parts, name="joined", shape=(8, 8))
    whole = build.op("Sqrt", joined, name="whole")
    cut = build.node("PhonySplit", whole, name="cut", outputs=[ROWS, ROWS])
    build.net_output(*(build.op("Relu", out, name=f"r{out.index}") for out in cut.outputs))
    return build.graph


def joined_pieces() -> Graph:
    """Joins of the pieces of a split, in order and out of it, one inside the other."""
    build = GraphBuilder("root")
    whole = build.op("Relu", build.data("x", (8, 8)), name="whole")
    about = {"split_dim": 0, "num_split": 2}
    one, two = build.node("SplitD", whole, name="cut", outputs=[ROWS, ROWS], attrs=about).outputs
    axis = {"concat_dim": 0}
    inner = build.op("ConcatD", one, two, name="inner", shape=(8, 8), attrs=axis)
    outer = build.op("ConcatD", two, one, inner, name="outer", shape=(16, 8), attrs=axis)
    build.net_output(build.op("Exp", outer, name="e"), build.op("Exp", inner, name="f"))
    return build.graph


def nothing_in_it() -> Graph:
    """Tensors without elements, moved, joined, packed and cut off."""
    build = GraphBuilder("root")
    none = build.op("Relu", build.data("x", (0, 8)), name="none")
    some = build.op("Relu", build.data("y", SHAPE), name="some")
    joined = build.op("ConcatD", none, some, none, name="joined", outputs=[ROWS])
    about = {"split_dim": 0, "num_split": 2}
    pieces = [TensorDesc.make("float32", (0, 8)), ROWS]
    cut = build.node("SplitD", joined, name="cut", outputs=pieces, attrs=about)
    packed = build.op("Pack", none, none, name="packed", shape=(2, 0, 8), attrs={"axis": 0})
    moved = build.op("TensorMove", none, name="moved")
    last = build.op("Relu", cut.outputs[1], name="last")
    build.net_output(moved, last, cut.outputs[0], packed)
    return build.graph


def scalars() -> Graph:
    """Tensors without dimensions, moved and packed."""
    build = GraphBuilder("root")
    made = build.op("Relu", build.data("x", ()), name="made")
    moved = build.op("TensorMove", made, name="moved")
    other = build.op("Exp", moved, name="other")
    packed = build.op("Pack", made, other, moved, name="packed", shape=(3,), attrs={"axis": 0})
    build.net_output(build.op("Relu", packed, name="last"), moved)
    return build.graph


def padded() -> Graph:
    """Buffers larger than what lies in them."""
    build = GraphBuilder("root")
    x, wide = build.data("x", SHAPE), ROWS.replace(size=512)
    made = build.op("Relu", x, name="made", outputs=[wide])
    moved = build.op("TensorMove", made, name="moved", outputs=[wide])
    other = build.op("Exp", x, name="other", outputs=[wide])
    joined = build.op("ConcatD", moved, other, name="joined", shape=(8, 8))
    build.net_output(build.op("Relu", joined, name="r"), build.op("Relu", moved, name="s"))
    return build.graph


def updated_input() -> Graph:
    """A RefData, read through a copy before and after it is updated."""
    build = GraphBuilder("root")
    node = build.node("RefData", name="x", outputs=[ROWS], attrs={"index": 0})
    moved = build.op("TensorMove", node.outputs[0], name="moved")
    value = build.op("Relu", moved, name="value")
    kept = ROWS.replace(reuse_input=0)
    build.node("Assign", node.outputs[0], value, name="update", outputs=[kept])
    build.net_output(build.op("Exp", moved, name="late"))
    return build.graph


GRAPHS = (
    called_twice,
    listed_twice,
    phony,
    joined_pieces,
    nothing_in_it,
    scalars,
    padded,
    updated_input,
)


@pytest.mark.parametrize("target", ["generic", "ascend"])
@pytest.mark.parametrize("level", ["O0", "O3", "O4"])
@pytest.mark.parametrize("make", GRAPHS)
def test_odd_graphs_are_proved_and_bit_exact(
    make: Callable[[], Graph], level: str, target: str
) -> None:
    """No violation, and outputs equal in each bit."""
    result = ge.compile(make(), level=level, target=target, verify_each=True, audit=True)
    assert result.proof is not None
    assert () == result.proof.violations
    assert result.check().ok
