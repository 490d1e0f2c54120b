"""Task-free joins and splits, padded runs, and layouts that contradict themselves."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import GraphError, LayoutConflict, PlanError
from ge_core.ir import GraphBuilder, OutputAnchor, TensorDesc

JOIN: dict[str, Any] = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}
SPLIT: dict[str, Any] = {
    "_no_task": True,
    "_no_padding_continuous_output": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}


def gen(build: GraphBuilder, name: str, *shape: int, **facts: Any) -> OutputAnchor:
    """A tensor from nowhere."""
    return build.op("Gen", name=name, shape=shape, **facts)


def split(build: GraphBuilder, source: OutputAnchor, name: str, *sizes: int) -> list[OutputAnchor]:
    """A task-free split along axis 0."""
    outputs = [TensorDesc.make("float32", (size,)) for size in sizes]
    return list(build.node("SplitD", source, name=name, outputs=outputs, attrs=SPLIT).outputs)


def test_operands_of_a_join_follow_at_exact_bytes(plan_graph) -> None:
    """No rounding inside: the second begins 60 floats behind the first, the result with it."""
    build = GraphBuilder()
    a, b = gen(build, "a", 60), gen(build, "b", 60)
    join = build.op("ConcatD", a, b, name="cat", shape=(120,), attrs=JOIN)
    build.op("Relu", join, name="reader")
    planned = plan_graph(build)
    assert planned.offset("b:0") - planned.offset("a:0") == 240
    assert planned.offset("cat:0") == planned.offset("a:0")
    runs = [planned.plan.find(name).run for name in ("a:0", "b:0", "cat:0")]
    assert [(run.id, run.delta) for run in runs] == [("a:0", 0), ("a:0", 240), ("a:0", 0)]


def test_pieces_of_nested_splits_are_windows_of_the_whole(plan_graph) -> None:
    """A window of a window lies at the sum of the distances."""
    build = GraphBuilder()
    first, second = split(build, gen(build, "whole", 96), "outer", 32, 64)
    for piece in (first, *split(build, second, "inner", 16, 48)):
        build.op("Relu", piece, name=f"r_{piece.node.name}{piece.index}", shape=(8,))
    planned = plan_graph(build)
    base = planned.offset("whole:0")
    names = ("outer:0", "outer:1", "inner:0", "inner:1")
    assert [planned.offset(name) - base for name in names] == [0, 128, 128, 192]
    # Each window is free when its own reader is done.
    assert planned.may("outer:0", "r_inner0:0") and not planned.may("inner:1", "r_inner0:0")


def test_each_slot_of_a_join_lives_for_itself(plan_graph) -> None:
    """Bytes that are written late may hold something else before."""
    build = GraphBuilder()
    old = gen(build, "old", 32)
    early = build.op("Foo", old, name="early", shape=(32,))
    late = build.op("Relu", build.op("Foo", old, name="mid", shape=(4,)), name="late", shape=(32,))
    join = build.op("ConcatD", late, early, name="cat", shape=(64,), attrs=JOIN)
    build.op("Relu", join, name="reader", shape=(4,))
    planned = plan_graph(build)
    assert planned.may("old:0", "late:0") and not planned.may("old:0", "early:0")


def test_rows_of_an_inner_axis_interleave(plan_graph) -> None:
    """A join on axis 1 puts the pieces' rows side by side: each has row, pitch and count."""
    build = GraphBuilder()
    a, b = gen(build, "a", 4, 16), gen(build, "b", 4, 8)
    attrs = {**JOIN, "_reuse_input_on_dim_index": 1}
    join = build.op("ConcatD", a, b, name="cat", shape=(4, 24), attrs=attrs)
    build.op("Relu", join, name="reader")
    planned = plan_graph(build)
    strided = {name: planned.plan.find(name).strided for name in ("a:0", "b:0", "cat:0")}
    assert (strided["a:0"].row, strided["a:0"].pitch, strided["a:0"].count) == (64, 96, 4)
    assert (strided["b:0"].row, strided["b:0"].pitch, strided["b:0"].count) == (32, 96, 4)
    assert strided["cat:0"] is None
    assert planned.offset("b:0") - planned.offset("a:0") == 64


def test_only_ones_outside_the_axis_make_no_rows(plan_graph) -> None:
    """An axis behind dimensions of one is as good as axis 0."""
    build = GraphBuilder()
    a, b = gen(build, "a", 1, 16), gen(build, "b", 1, 8)
    attrs = {**JOIN, "_reuse_input_on_dim_index": 1}
    build.op("ConcatD", a, b, name="cat", shape=(1, 24), attrs=attrs)
    planned = plan_graph(build)
    assert planned.plan.find("b:0").strided is None
    assert planned.offset("b:0") - planned.offset("a:0") == 64


@pytest.mark.parametrize("which", ["input", "output"])
def test_padded_runs_follow_at_aligned_distances(plan_graph, which: str) -> None:
    """Collectives want each tensor at the next multiple of the alignment."""
    build = GraphBuilder()
    shapes = [(25,), (17,), (16,)]
    if which == "input":
        parts = [gen(build, f"p{at}", *shape) for at, shape in enumerate(shapes)]
        build.op("HcomAllGather", *parts, name="h", shape=(64,), attrs={"continuous_input": True})
        names = ["p0:0", "p1:0", "p2:0"]
    else:
        outputs = [TensorDesc.make("float32", shape) for shape in shapes]
        build.node("HcomScatter", name="h", outputs=outputs, attrs={"continuous_output": True})
        names = ["h:0", "h:1", "h:2"]
    planned = plan_graph(build)
    base = planned.offset(names[0])
    assert [planned.offset(name) - base for name in names] == [0, 128, 256]


def test_padding_inside_an_exact_run_may_be_covered(plan_graph) -> None:
    """A noted size larger than the data moves nothing; the last piece's sticks out."""
    build = GraphBuilder()
    desc = TensorDesc.make("float32", (60,), size=288)
    a, b = (build.node("Gen", name=name, outputs=[desc]).outputs[0] for name in "ab")
    build.op("ConcatD", a, b, name="cat", shape=(120,), attrs=JOIN)
    planned = plan_graph(build)
    assert planned.offset("b:0") - planned.offset("a:0") == 240
    (cluster,) = planned.problem.clusters
    assert cluster.size == 240 + 288


def test_two_followers_of_one_tensor_are_a_conflict(plan_graph) -> None:
    """Both would lie at one place while both are needed; the message names them and the joins."""
    build = GraphBuilder()
    a, x, y = gen(build, "a", 32), gen(build, "x", 32), gen(build, "y", 32)
    for name, other in (("k1", x), ("k2", y)):
        join = build.op("ConcatD", a, other, name=name, shape=(64,), attrs=JOIN)
        build.op("Relu", join, name=f"r{name}")
    with pytest.raises(LayoutConflict, match=r"x:0 and y:0 are needed .* byte 128 .*k1.*k2"):
        plan_graph(build)


def test_two_followers_one_after_the_other_are_none(plan_graph) -> None:
    """The second is written when nobody needs the first any more."""
    build = GraphBuilder()
    a = gen(build, "a", 32)
    for name in ("x", "y"):
        part = gen(build, name, 32)
        join = build.op("ConcatD", a, part, name=f"k{name}", shape=(64,), attrs=JOIN)
        build.op("Relu", join, name=f"r{name}")
    planned = plan_graph(build)
    assert planned.offset("x:0") == planned.offset("y:0") == planned.offset("a:0") + 128


def test_joins_that_begin_with_the_same_operands_share_them(plan_graph) -> None:
    """(a, b) and (a, b, c) lie on one another."""
    build = GraphBuilder()
    a, b, c = (gen(build, name, 32) for name in "abc")
    short = build.op("ConcatD", a, b, name="short", shape=(64,), attrs=JOIN)
    long = build.op("ConcatD", a, b, c, name="long", shape=(96,), attrs=JOIN)
    build.net_output(short, long)
    planned = plan_graph(build)
    assert planned.offset("short:0") == planned.offset("long:0") == planned.offset("a:0")


def test_a_tensor_cannot_lie_behind_itself(plan_graph) -> None:
    """A join of a tensor with itself contradicts itself."""
    build = GraphBuilder()
    a = gen(build, "a", 32)
    build.op("ConcatD", a, a, name="cat", shape=(64,), attrs=JOIN)
    with pytest.raises(LayoutConflict, match="operand of the join cat"):
        plan_graph(build)


def test_a_graph_output_may_be_a_join(plan_graph) -> None:
    """That the output is kept from the start does not count as somebody writing its pieces."""
    build = GraphBuilder()
    a, b = gen(build, "a", 32), gen(build, "b", 32)
    join = build.op("ConcatD", a, b, name="cat", shape=(64,), attrs=JOIN)
    build.net_output(build.op("Reshape", join, name="view", reuse_input=0))
    planned = plan_graph(build)
    assert planned.offset("view:0") == planned.offset("a:0")


def test_weights_cannot_be_pieces(plan_graph) -> None:
    """A constant has a place of its own, which no run may ask it to leave."""
    build = GraphBuilder()
    weight = build.const("weight", bytes(128), (32,))
    build.op("ConcatD", gen(build, "a", 32), weight, name="cat", shape=(64,), attrs=JOIN)
    with pytest.raises(PlanError, match="places of their own"):
        plan_graph(build)


def test_pieces_of_two_memory_types_are_refused(plan_graph) -> None:
    """One run lies in one pool."""
    build = GraphBuilder()
    far = TensorDesc.make("float32", (32,), mem_type="P2P")
    a, b = gen(build, "a", 32), build.node("Gen", name="b", outputs=[far]).outputs[0]
    build.op("ConcatD", a, b, name="cat", shape=(64,), attrs=JOIN)
    with pytest.raises(PlanError, match="a:0 lies in HBM and b:0 in P2P"):
        plan_graph(build)


def test_an_axis_that_no_shape_has_is_refused(plan_graph) -> None:
    """The mark is checked before it is used."""
    build = GraphBuilder()
    attrs = {**JOIN, "_reuse_input_on_dim_index": 5}
    build.op("ConcatD", gen(build, "a", 8), gen(build, "b", 8), shape=(16,), attrs=attrs)
    with pytest.raises(GraphError, match="axis 5"):
        plan_graph(build)


def test_pieces_that_end_inside_a_byte_are_refused(plan_graph) -> None:
    """Three 4-bit elements do not end on a byte."""
    build = GraphBuilder()
    parts = [gen(build, name, 3, dtype="int4") for name in "ab"]
    build.op("ConcatD", *parts, name="cat", shape=(6,), attrs=JOIN)
    with pytest.raises(LayoutConflict, match="no byte boundaries"):
        plan_graph(build)


def test_a_run_with_some_aliased_outputs_is_refused(plan_graph) -> None:
    """All outputs of a continuous run are new, or all are inputs."""
    build = GraphBuilder()
    plain = TensorDesc.make("float32", (16,))
    build.node(
        "Odd",
        gen(build, "a", 16),
        name="odd",
        outputs=[plain.replace(reuse_input=0), plain],
        attrs={"continuous_output": True},
    )
    with pytest.raises(GraphError, match="others are not"):
        plan_graph(build)


def test_many_nested_joins_stay_cheap(plan_graph) -> None:
    """Each of 300 joins covers all before it; the slots still live for themselves."""
    build = GraphBuilder()
    whole = gen(build, "p0", 16)
    for at in range(1, 300):
        part = build.op("Foo", whole, name=f"p{at}", shape=(16,))
        whole = build.op("ConcatD", whole, part, name=f"k{at}", shape=(16 * (at + 1),), attrs=JOIN)
    build.op("Relu", whole, name="reader", shape=(16,))
    planned = plan_graph(build)
    run = max(planned.problem.clusters, key=lambda cluster: cluster.size)
    assert run.size == 300 * 64
    assert [buffer.first for _, buffer in run.pieces] == [1, *range(2, 600, 2)]
