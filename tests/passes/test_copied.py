"""What a node copies: one rule for remarks and for counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.ir import Graph, GraphBuilder, Node
from ge_core.ops import OpRegistry
from ge_core.passes.copied import copied_bytes, copied_sizes
from ge_core.passes.environment import Environment
from ge_core.passes.manager import RunReport
from ge_core.session.copies import Copies, count_copies

WRITES = {"rw": {"inputs": {"0": "write"}}}
Run = Callable[..., tuple[Environment, RunReport]]


def node(op: str, *shapes: tuple[int, ...], **about: Any) -> Node:
    """A node of that op, fed by inputs of these shapes."""
    builder = GraphBuilder()
    feeds = [builder.data(f"x{at}", shape) for at, shape in enumerate(shapes)]
    return builder.node(op, *feeds, name="n", **about)


@pytest.mark.parametrize(
    ("made", "sizes"),
    [
        (node("TensorMove", (4,)), [16]),
        (node("TensorMove", (4,), attrs={"_no_task": True}), []),
        (node("TensorMove", (0,)), []),
        (node("TensorMove", (-1,)), [None]),
        (node("ConcatD", (2,), (3,)), [8, 12]),
        (node("ConcatD", (2,), (-1,)), [8, None]),
        (node("ConcatD", (0,), (3,)), [0, 12]),
        (node("Relu", (4,)), []),
        (node("Assign", (4,), (4,), attrs=WRITES), [16]),
        (node("Assign", (4,), (2,), attrs=WRITES), []),
    ],
)
def test_the_tensors_that_a_node_copies(
    ops: OpRegistry, made: Node, sizes: list[int | None]
) -> None:
    """None without a task, without bytes, and for ops that compute; None for an unknown size."""
    assert sizes == copied_sizes(made, ops)


def test_an_output_in_its_inputs_memory_is_no_copy(ops: OpRegistry) -> None:
    """Its description says so."""
    made = node("Identity", (4,))
    graph = made.graph
    assert graph is not None
    graph.set_desc(made.outputs[0], made.outputs[0].desc.replace(reuse_input=0))
    assert [] == copied_sizes(made, ops)


def test_bytes_of_all_that_is_copied(ops: OpRegistry) -> None:
    """Not known where one part isn't; 0 where nothing is copied."""
    assert 20 == copied_bytes(node("ConcatD", (2,), (3,)), ops)
    assert copied_bytes(node("ConcatD", (2,), (-1,)), ops) is None
    assert 0 == copied_bytes(node("Relu", (4,)), ops)


def both(free: bool) -> Graph:
    """A join of 20 bytes, with a task or without."""
    made = node("ConcatD", (2,), (3,), attrs={"_no_task": free})
    assert made.graph is not None
    return made.graph


@pytest.mark.parametrize(("free", "count", "size"), [(True, 0, 0), (False, 1, 20)])
def test_remarks_and_counts_agree(
    run: Run, ops: OpRegistry, free: bool, count: int, size: int
) -> None:
    """A join without a task costs nothing, whoever is asked."""
    env, _ = run(both(free), {})
    remark = env.remarks.final("n")
    assert remark is not None and size == remark.bytes
    assert Copies(count, size) == count_copies(both(free), ops).total
