"""Graphs that the tests compile: a few nodes each, float32[1,16] unless they say otherwise."""

from __future__ import annotations

from ge_core.api import Graph, GraphBuilder, TensorDesc

MOVE_BYTES = 64


def casts(*dtypes: str) -> Graph:
    """A float32 input through one Cast after the other: cast0, cast1, ..."""
    build = GraphBuilder("casts")
    value = build.op("Relu", build.data("x"), name="start")
    for at, dtype in enumerate(dtypes):
        value = build.op("Cast", value, name=f"cast{at}", dtype=dtype)
    build.net_output(build.op("Exp", value, name="end"))
    return build.graph


def pinned(first: int | None, second: int | None) -> Graph:
    """A move between `make` and `use`; what either side of it gives lies in these banks."""
    build = GraphBuilder("pinned")
    made = build.op("Relu", build.data("x"), name="make", outputs=[in_bank(first)])
    moved = build.op("TensorMove", made, name="move", outputs=[in_bank(second)])
    build.net_output(build.op("Exp", moved, name="use", shape=(1, 16)))
    return build.graph


def pinned_result(bank: int | None) -> Graph:
    """A move between `make` and the graph's output, where what `make` gives lies in a bank."""
    build = GraphBuilder("pinned_result")
    made = build.op("Relu", build.data("x"), name="make", outputs=[in_bank(bank)])
    build.net_output(build.op("TensorMove", made, name="move", shape=(1, 16)))
    return build.graph


def windowed(*, closed: bool) -> Graph:
    """The graph's input -> window -> move -> use."""
    build = GraphBuilder("windowed")
    seen = build.op("AcmeWindow", build.data("x"), name="window", attrs={"acme.closed": closed})
    moved = build.op("TensorMove", seen, name="move")
    build.net_output(build.op("Exp", moved, name="use"))
    return build.graph


def branches(width: int = 4, depth: int = 3) -> Graph:
    """Chains side by side, joined at the end: enough lives for a planner to choose among."""
    build = GraphBuilder("branches")
    x = build.data("x")
    ends = []
    for branch in range(width):
        value = x
        for step in range(depth):
            value = build.op("Exp", value, name=f"b{branch}_{step}", shape=(step + 1, 16))
        ends.append(value)
    joined = build.op("ConcatD", *ends, name="join", shape=(width * depth, 16), attrs=AXIS)
    build.net_output(build.op("Relu", joined, name="end"))
    return build.graph


AXIS = {"concat_dim": 0, "N": 4}


def in_bank(bank: int | None) -> TensorDesc:
    """A description that pins its tensor to a bank, or does not."""
    return TensorDesc.make(attrs={} if bank is None else {"acme.bank": bank})
