"""The work grows with the graph and not faster, also where one tensor has all the readers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_concat_notask import setting
from ge_concat_notask.memory import Memory
from ge_core.api import Graph, GraphBuilder, Target, TensorDesc

Make = Callable[[int], Graph]
PIECE = TensorDesc.make("float16", (16, 16))


def _join(b: GraphBuilder, *operands: object) -> TensorDesc:
    return TensorDesc.make("float16", (16 * len(operands), 16))


def separate(count: int) -> Graph:
    """Joins of two tensors each."""
    b = GraphBuilder()
    x = b.data("x", desc=PIECE)
    for at in range(count):
        parts = [b.op("Relu", x, name=f"p{at}"), b.op("Relu", x, name=f"q{at}")]
        b.op("Relu", b.op("ConcatD", *parts, name=f"join{at}", outputs=[_join(b, *parts)]))
    return b.graph


def shared(count: int) -> Graph:
    """Joins that all want the same tensor first."""
    b = GraphBuilder()
    x = b.data("x", desc=PIECE)
    first = b.op("Relu", x, name="first")
    for at in range(count):
        parts = [first, b.op("Relu", x, name=f"q{at}")]
        b.op("Relu", b.op("ConcatD", *parts, name=f"join{at}", outputs=[_join(b, *parts)]))
    return b.graph


def constant(count: int) -> Graph:
    """Joins that all want the same graph input, which none of them gets."""
    b = GraphBuilder()
    x = b.data("x", desc=PIECE)
    for at in range(count):
        parts = [x, b.op("Relu", x, name=f"q{at}")]
        b.op("Relu", b.op("ConcatD", *parts, name=f"join{at}", outputs=[_join(b, *parts)]))
    return b.graph


def wide(count: int) -> Graph:
    """One join of many operands, read by many."""
    b = GraphBuilder()
    x = b.data("x", desc=PIECE)
    parts = [b.op("Relu", x, name=f"p{at}") for at in range(count)]
    join = b.op("ConcatD", *parts, name="join", outputs=[_join(b, *parts)])
    for at in range(count):
        b.op("Relu", join, name=f"r{at}")
    return b.graph


def splits(count: int) -> Graph:
    """Splits of one tensor."""
    b = GraphBuilder()
    whole = b.op("Relu", b.data("x"), name="p", outputs=[_join(b, 0, 1)])
    for at in range(count):
        cut = b.node("SplitD", whole, name=f"cut{at}", outputs=[PIECE, PIECE])
        for output in cut.outputs:
            b.op("Relu", output, name=f"r{at}_{output.index}")
    return b.graph


def nested(count: int) -> Graph:
    """Each join holds the one before."""
    b = GraphBuilder()
    x = b.data("x", desc=PIECE)
    grown = b.op("Relu", x, name="start")
    for at in range(count):
        out = TensorDesc.make("float16", (16 * (at + 2), 16))
        grown = b.op(
            "ConcatD", grown, b.op("Relu", x, name=f"p{at}"), name=f"join{at}", outputs=[out]
        )
    b.op("Relu", grown)
    return b.graph


def views(count: int) -> Graph:
    """One tensor behind many views, joined."""
    b = GraphBuilder()
    x = b.data("x", desc=PIECE)
    seen = b.op("Relu", x, name="p")
    for at in range(count):
        seen = b.op("Reshape", seen, name=f"view{at}")
        b.op(
            "ConcatD",
            seen,
            b.op("Relu", x, name=f"q{at}"),
            name=f"join{at}",
            outputs=[_join(b, 0, 1)],
        )
    return b.graph


def steps(graph: Graph, level: str, run: Callable[..., object], patch: pytest.MonkeyPatch) -> int:
    """Edges looked at by all three passes."""
    made: list[Memory] = []

    def counted(*about: object, **named: object) -> Memory:
        made.append(Memory(*about, **named))  # type: ignore[arg-type]  # handed on as they come
        return made[-1]

    patch.setattr(setting, "Memory", counted)
    run(graph, target=Target("generic"), level=level)
    return sum(memory.steps for memory in made)


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("make", [separate, shared, constant, wide, splits, nested, views])
def test_twice_the_graph_is_twice_the_work(
    make: Make, level: str, run: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps double with the graph, once views have reached the depth at which GE gives up."""
    small, large = (steps(make(count), level, run, monkeypatch) for count in (400, 800))
    assert 0 < large <= 2.2 * small
