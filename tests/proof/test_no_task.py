"""Joins, splits and slices: as ops that copy, and as nodes without a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ge_core.ir import Graph, GraphBuilder, clone
from ge_core.memory import Strided
from ge_core.proof import ProofResult

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]

BASE = 1 << 16
"""An offset that no tensor without a place of its own reaches."""

JOIN_MARKS = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}
SPLIT_MARKS = {
    "_no_task": True,
    "_no_padding_continuous_output": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}


def joined(rows: int, widths: Sequence[int], *, axis: int, marked: bool = True) -> Graph:
    """Relus joined along an axis, and a reader."""
    build = GraphBuilder()
    parts = [
        build.op(
            "Relu",
            build.data(f"x{at}", (rows, width) if axis else (width, rows)),
            name=f"p{at}",
        )
        for at, width in enumerate(widths)
    ]
    shape = (rows, sum(widths)) if axis else (sum(widths), rows)
    attrs = {"concat_dim": axis, **(JOIN_MARKS if marked else {})}
    join = build.op("ConcatD", *parts, name="join", shape=shape, attrs=attrs)
    build.net_output(build.op("Mul", join, name="reader"))
    return build.graph


def split(shape: tuple[int, ...], axis: int, *, marked: bool) -> Graph:
    """A tensor cut in two along an axis, and a reader of each piece."""
    build = GraphBuilder()
    whole = build.op("Mul", build.data("x", shape), name="whole")
    piece = whole.desc.replace(shape=(*shape[:axis], shape[axis] // 2, *shape[axis + 1 :]))
    attrs = {"split_dim": axis, **(SPLIT_MARKS if marked else {})}
    node = build.node("SplitD", whole, name="split", outputs=[piece, piece], attrs=attrs)
    build.net_output(*(build.op("Relu", out, name=f"r{out.index}") for out in node.outputs))
    return build.graph


def test_operands_that_lie_in_the_join_need_no_copy(found: Found) -> None:
    """A task-free join holds when its operands lie where their rows belong."""
    graph = joined(4, (8, 4), axis=0)
    places = {"p0:0": BASE, "p1:0": BASE + 128, "join:0": BASE}
    assert found(graph, places) == []


def test_swapped_pieces_of_a_join_are_found(prove: Prove) -> None:
    """Operands in each other's place are the wrong bytes for the join's reader."""
    graph = joined(4, (8, 8), axis=0)
    result = prove(graph, {"p1:0": BASE, "p0:0": BASE + 128, "join:0": BASE})
    assert [(v.check, v.node, v.expected) for v in result.violations] == [
        ("reads", "reader", "p0:0[0:128] + p1:0[0:128]")
    ]


def test_a_shifted_operand_is_found(found: Found) -> None:
    """An operand beside its place leaves other bytes in the join."""
    graph = joined(4, (8, 4), axis=0)
    assert found(graph, {"p0:0": BASE, "p1:0": BASE + 160, "join:0": BASE})[-1] == (
        "reads",
        "reader",
    )


def test_an_operand_overwritten_before_the_join_is_read_is_found(found: Found) -> None:
    """A join without a task copies nothing: a later write into an operand is a write into it."""
    graph = joined(4, (8, 8), axis=0)
    reader, operand = graph.node("reader"), graph.node("p0").outputs[0]
    late = graph.add_node("Mul", "late", [operand], [operand.desc], before=reader)
    graph.add_control(graph.node("p1"), late)
    places = {"p0:0": BASE, "p1:0": BASE + 128, "join:0": BASE}
    assert found(graph, {**places, "late:0": 1 << 17}) == []
    graph.set_desc(late.outputs[0], operand.desc.replace(shape=(4, 4)))
    assert found(graph, {**places, "late:0": BASE + 128}) == [("reads", "reader")]


def test_an_update_through_an_operand_is_a_write_into_the_join(found: Found) -> None:
    """In the original the join keeps the old bytes; without a task it can't."""
    build = GraphBuilder()
    parts = [build.op("Relu", build.data(f"x{at}", (8, 4)), name=f"p{at}") for at in range(2)]
    attrs = {"concat_dim": 0, **JOIN_MARKS}
    join = build.op("ConcatD", *parts, name="join", shape=(16, 4), attrs=attrs)
    update = build.node(
        "Update", parts[0], build.data("y", (8, 4)), name="update", reuse_input=0, control=[join]
    )
    build.net_output(build.op("Mul", join, name="reader", control=[update]))
    places = {"p0:0": BASE, "p1:0": BASE + 128, "join:0": BASE}
    assert found(build.graph, places) == [("reads", "reader")]


@pytest.mark.parametrize("rows", [4, 5000])
def test_pieces_along_an_inner_axis_lie_with_a_pitch(found: Found, rows: int) -> None:
    """Operands whose rows lie between each other's make up the join; swapped columns do not."""
    graph = joined(rows, (8, 4), axis=1)
    first, second = Strided(32, 48, rows), Strided(16, 48, rows)
    base = 1 << 20
    places = {"p0:0": (base, first), "p1:0": (base + 32, second), "join:0": base}
    assert found(graph, places) == []
    swapped = {"p0:0": (base + 16, first), "p1:0": (base, second), "join:0": base}
    assert found(graph, swapped) == [("reads", "reader")]


def test_a_misplaced_column_is_found(found: Found) -> None:
    """A column one row too low leaves rows of other bytes."""
    graph = joined(4, (8, 4), axis=1)
    places = {"p0:0": (BASE, Strided(32, 48, 4)), "join:0": BASE}
    assert found(graph, {**places, "p1:0": (BASE + 32 + 48, Strided(16, 48, 4))})[0][0] == "reads"


def test_ops_without_a_pitch_write_no_rows_apart(found: Found) -> None:
    """Only an op that says so may write rows that lie apart."""
    build = GraphBuilder()
    parts = [build.op("Mul", build.data(f"x{at}", (4, 8)), name=f"p{at}") for at in range(2)]
    attrs = {"concat_dim": 1, **JOIN_MARKS}
    join = build.op("ConcatD", *parts, name="join", shape=(4, 16), attrs=attrs)
    build.net_output(build.op("Mul", join, name="reader"))
    pitch = Strided(32, 64, 4)
    places = {"p0:0": (BASE, pitch), "p1:0": (BASE + 32, pitch), "join:0": BASE}
    assert found(build.graph, places) == [("layout", "p0"), ("layout", "p1")]


def test_a_cascade_of_joins_is_one_buffer(found: Found) -> None:
    """A join of a join holds when all leaves lie one behind the other."""
    build = GraphBuilder()
    leaves = [build.op("Relu", build.data(f"x{at}", (8, 4)), name=f"p{at}") for at in range(3)]
    attrs = {"concat_dim": 0, **JOIN_MARKS}
    inner = build.op("ConcatD", *leaves[:2], name="inner", shape=(16, 4), attrs=attrs)
    outer = build.op("ConcatD", inner, leaves[2], name="outer", shape=(24, 4), attrs=attrs)
    build.net_output(build.op("Mul", outer, name="reader"))
    places = {f"p{at}:0": BASE + 128 * at for at in range(3)}
    assert found(build.graph, {**places, "inner:0": BASE, "outer:0": BASE}) == []


@pytest.mark.parametrize("axis", [0, 1])
def test_pieces_of_a_split_are_read_where_they_are(found: Found, axis: int) -> None:
    """A task-free split holds when its outputs lie at their place in the input."""
    graph = split((4, 8), axis, marked=True)
    row = Strided(16, 32, 4)
    pieces = [BASE, BASE + 64] if axis == 0 else [(BASE, row), (BASE + 16, row)]
    places = {"whole:0": BASE, "split:0": pieces[0], "split:1": pieces[1]}
    assert found(graph, places) == []
    swapped = {"whole:0": BASE, "split:0": pieces[1], "split:1": pieces[0]}
    assert found(graph, swapped) == [("reads", "r0"), ("reads", "r1")]


@pytest.mark.parametrize("axis", [0, 1])
def test_split_and_join_cancel_out(found: Found, axis: int) -> None:
    """Cutting a tensor up and joining the pieces again gives the tensor: both may go."""
    graph = split((4, 8), axis, marked=False)
    build = GraphBuilder(graph=graph)
    node = graph.node("split")
    join = graph.add_node(
        "ConcatD",
        "join",
        node.outputs,
        [graph.node("whole").outputs[0].desc],
        attrs={"concat_dim": axis},
        before=graph.net_output,
    )
    reader = build.graph.add_node(
        "Mul", "reader", join.outputs, [join.outputs[0].desc], before=graph.net_output
    )
    original = clone(graph)
    graph.rewire(reader.inputs[0], graph.node("whole").outputs[0])
    assert found(graph, original=original) == []


@pytest.mark.parametrize("axis", [0, 1])
def test_a_join_of_pieces_in_another_order_is_another_tensor(found: Found, axis: int) -> None:
    """Swapping operands changes the join, except where they are equal."""
    graph = joined(4, (8, 8), axis=axis, marked=False)
    original = clone(graph)
    join = graph.node("join")
    first, second = (anchor.source for anchor in join.inputs)
    assert first is not None and second is not None
    graph.rewire(join.inputs[0], second)
    graph.rewire(join.inputs[1], first)
    assert found(graph, original=original) == [("reads", "join")] * 2


def test_a_pack_is_a_join_along_a_new_axis(found: Found) -> None:
    """Packing is laying equal tensors one behind the other, or interleaving them."""
    for axis, shape in ((0, (2, 4, 8)), (1, (4, 2, 8)), (-1, (4, 8, 2))):
        build = GraphBuilder()
        parts = [build.op("Relu", build.data(f"x{at}", (4, 8)), name=f"p{at}") for at in range(2)]
        attrs = {"axis": axis, **JOIN_MARKS}
        pack = build.op("Pack", *parts, name="pack", shape=shape, attrs=attrs)
        build.net_output(build.op("Mul", pack, name="reader"))
        row = {0: 128, 1: 32, -1: 4}[axis]
        pitch = Strided(row, 2 * row, 128 // row)
        places = {"p0:0": (BASE, pitch), "p1:0": (BASE + row, pitch), "pack:0": BASE}
        assert found(build.graph, places) == []


def test_a_join_with_a_task_copies(found: Found) -> None:
    """With a task the join has bytes of its own, and operands may die."""
    graph = joined(4, (8, 4), axis=1, marked=False)
    assert (
        found(graph, {"p0:0": BASE, "p1:0": BASE + 1024, "join:0": BASE + 2048, "reader:0": BASE})
        == []
    )


def test_a_slice_is_a_window_of_bytes(found: Found) -> None:
    """Two slices that make up a tensor are that tensor again; others are not."""
    for offset, expected in ((4, []), (3, [("reads", "reader")])):
        build = GraphBuilder()
        x = build.op("Mul", build.data("x", (6, 8)), name="whole")
        left = {"offsets": [0, 0], "size": [6, 4]}
        right = {"offsets": [0, offset], "size": [6, 4]}
        a = build.op("SliceD", x, name="a", shape=(6, 4), attrs=left)
        b = build.op("SliceD", x, name="b", shape=(6, 4), attrs=right)
        join = build.op("ConcatD", a, b, name="join", shape=(6, 8), attrs={"concat_dim": 1})
        build.net_output(build.op("Mul", join, name="reader"))
        original = clone(build.graph)
        graph = build.graph
        graph.rewire(graph.node("reader").inputs[0], graph.node("whole").outputs[0])
        assert found(graph, original=original) == expected


def test_pieces_inside_a_byte_are_refused(found: Found) -> None:
    """Odd numbers of 4-bit elements can't be joined by placing them; even ones can."""
    for width, expected in ((3, [("layout", "join"), ("reads", "reader")]), (4, [])):
        build = GraphBuilder()
        parts = [
            build.op("Mul", build.data(f"x{at}", (width,), "int4"), name=f"p{at}")
            for at in range(2)
        ]
        attrs = {"concat_dim": 0, **JOIN_MARKS}
        join = build.op("ConcatD", *parts, name="join", shape=(2 * width,), attrs=attrs)
        build.net_output(build.op("Mul", join, name="reader"))
        size = width // 2
        places = {"p0:0": BASE, "p1:0": BASE + size, "join:0": BASE}
        assert found(build.graph, places) == expected


def test_blocked_formats_join_along_whole_blocks(found: Found) -> None:
    """Channels in blocks of 16 lie one behind the other when no padding comes between them."""
    for channels, expected in ((32, []), (24, [("layout", "join"), ("reads", "reader")])):
        build = GraphBuilder()
        parts = []
        for at in range(2):
            desc = build.data(f"in{at}").desc.replace(
                shape=(1, -(-channels // 16), 2, 2, 16),
                format="NC1HWC0",
                origin_shape=(1, channels, 2, 2),
                origin_format="NCHW",
            )
            data = build.data(f"x{at}", desc=desc)
            parts.append(build.node("Mul", data, name=f"p{at}", outputs=[desc]).outputs[0])
        whole = parts[0].desc.replace(
            shape=(1, -(-2 * channels // 16), 2, 2, 16), origin_shape=(1, 2 * channels, 2, 2)
        )
        attrs = {"concat_dim": 1, **JOIN_MARKS}
        join = build.node("ConcatD", *parts, name="join", outputs=[whole], attrs=attrs)
        build.net_output(build.op("Mul", join.outputs[0], name="reader"))
        size = parts[0].desc.nbytes or 0
        places = {"p0:0": BASE, "p1:0": BASE + size, "join:0": BASE}
        assert found(build.graph, places) == expected


def test_no_padding_between_operands_is_part_of_a_join(found: Found) -> None:
    """A declared storage size is padding: the next operand begins where the data ends."""
    build = GraphBuilder()
    parts = []
    for at in range(2):
        desc = build.data(f"in{at}").desc.replace(shape=(6,), size=64)
        data = build.data(f"x{at}", desc=desc)
        parts.append(build.node("Mul", data, name=f"p{at}", outputs=[desc]).outputs[0])
    attrs = {"concat_dim": 0, **JOIN_MARKS}
    join = build.op("ConcatD", *parts, name="join", shape=(12,), attrs=attrs)
    build.net_output(build.op("Mul", join, name="reader"))
    assert found(build.graph, {"p0:0": BASE, "p1:0": BASE + 24, "join:0": BASE}) == []
    assert found(build.graph, {"p0:0": BASE, "p1:0": BASE + 64, "join:0": BASE}) == [
        ("reads", "reader")
    ]
