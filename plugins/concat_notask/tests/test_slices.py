"""Slices as windows into their input: which bytes, which may go, what is said, what is computed."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ge_core as ge
from ge_concat_notask.marks import WINDOW, unmark
from ge_concat_notask.slice_window import Box, box_of, piece_of
from ge_core.api import Graph, GraphBuilder, LayoutConflict, Node, OutputAnchor, Piece, TensorDesc
from ge_core.session.execution import execute
from ge_core.session.result import Result
from ge_core.testing.random_graphs import GraphKnobs, random_graph

LARGEST = 2**63 - 1


def numbers(build: GraphBuilder, name: str, *values: int) -> OutputAnchor:
    """A constant of whole numbers."""
    data = b"".join(value.to_bytes(8, "little", signed=True) for value in values)
    return build.const(name, data, (len(values),), "int64")


class Bench:
    """Builds ONNX graphs that slice."""

    def __init__(self, *shape: int, dtype: str = "float32") -> None:
        self.b = GraphBuilder("sliced", source="onnx")
        self.x = self.b.data("x", shape, dtype)

    def op(self, name: str, source: OutputAnchor) -> OutputAnchor:
        """A tensor with a producer."""
        return self.b.op("Neg", source, name=name, outputs=[source.desc])

    def cut(
        self, name: str, source: OutputAnchor, *parts: tuple[int, int, int], step: int = 1
    ) -> OutputAnchor:
        """A Slice: (axis, start, end) for each axis that is cut."""
        shape = list(source.desc.shape or ())
        for axis, start, end in parts:
            dim = shape[axis]
            low = min(max(start + dim if start < 0 else start, 0), dim)
            high = min(max(end + dim if end < 0 else end, low), dim)
            shape[axis] = -(-(high - low) // step)
        axes, starts, ends = zip(*parts, strict=True)
        bounds = [
            numbers(self.b, f"{name}.{what}", *values)
            for what, values in (
                ("starts", starts),
                ("ends", ends),
                ("axes", axes),
                ("steps", (step,) * len(axes)),
            )
        ]
        out = TensorDesc.make(source.desc.dtype, tuple(shape))
        return self.b.op("Slice", source, *bounds, name=name, outputs=[out])

    def end(self, *results: OutputAnchor) -> Graph:
        """Make tensors the graph's results, through readers of their own."""
        self.b.net_output(*(self.op(f"keep{at}", one) for at, one in enumerate(results)))
        return self.b.graph


def compiled(graph: Graph, level: str = "O4") -> Result:
    """Proved, and run in the arena beside the plain run."""
    result = ge.compile(graph, level=level, objective="copies", verify_each=True, audit=True)
    assert result.proof is not None
    assert result.proof.ok, result.proof.violations[:1]
    outcome = execute(result, seed=1, check=True)
    assert [] == [output.name for output in outcome.outputs if not output.bit_exact]
    return result


def code(result: Result, name: str = "it") -> str:
    """Of a node's final remark."""
    final = result.remarks.final(name)
    assert final is not None
    return final.code


# ---- which bytes ---------------------------------------------------------------------------------


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, ...], Box]:
    """A shape, and a box in it that is not empty."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    low = tuple(draw(st.integers(0, dim - 1)) for dim in shape)
    high = tuple(draw(st.integers(start + 1, dim)) for start, dim in zip(low, shape, strict=True))
    return shape, Box(low, high, (1,) * len(shape))


def taken(shape: tuple[int, ...], box: Box) -> list[int]:
    """The numbers of the elements in a box, one by one."""
    found = []
    for number in range(prod(shape)):
        rest, index = number, []
        for dim in reversed(shape):
            index.append(rest % dim)
            rest //= dim
        places = zip(box.low, reversed(index), box.high, strict=True)
        if all(low <= at < high for low, at, high in places):
            found.append(number)
    return found


@given(boxes())
@settings(max_examples=300, deadline=None)
def test_rows_are_the_bytes_of_the_box(case: tuple[tuple[int, ...], Box]) -> None:
    """Two bytes per element; where there are no equal rows, the box has none."""
    shape, box = case
    build = GraphBuilder()
    x = build.data("x", shape, "float16")
    out = tuple(high - low for low, high in zip(box.low, box.high, strict=True))
    node = build.node("SliceD", x, name="it", outputs=[TensorDesc.make("float16", out)])
    wanted = [2 * number + half for number in taken(shape, box) for half in (0, 1)]
    piece = piece_of(node, box)
    if piece is not None:
        rows = range(piece.count)
        starts = [piece.delta + at * piece.pitch for at in rows]
        assert wanted == [start + byte for start in starts for byte in range(piece.row)]
        return
    starts = [at for at in wanted if at - 1 not in wanted]
    runs = [sum(1 for _ in _run(wanted, start)) for start in starts]
    gaps = {second - first for first, second in pairwise(starts)}
    assert len(set(runs)) > 1 or len(gaps) > 1


def _run(places: list[int], start: int) -> list[int]:
    end = start
    while end in places:
        end += 1
    return list(range(start, end))


@pytest.mark.parametrize(
    ("start", "end", "low", "high"),
    [(1, 3, 1, 3), (-2, LARGEST, 2, 4), (0, -1, 0, 3), (-9, 2, 0, 2), (3, 1, 3, 3)],
)
def test_bounds_are_read_as_onnx_reads_them(start: int, end: int, low: int, high: int) -> None:
    """From the end where they are negative, and never outside."""
    bench = Bench(4, 3)
    node = bench.cut("it", bench.x, (0, start, end)).node
    assert Box((low, 0), (high, 3), (1, 1)) == box_of(node)


def test_ges_offsets_and_sizes_are_read_too() -> None:
    """SliceD has them as attributes; -1 is what is left."""
    build = GraphBuilder()
    x = build.data("x", (4, 3))
    attrs = {"offsets": [1, 0], "size": [-1, 3]}
    out = [TensorDesc.make("float32", (3, 3))]
    node = build.node("SliceD", x, name="it", outputs=out, attrs=attrs)
    assert Box((1, 0), (4, 3), (1, 1)) == box_of(node)


# ---- which may go --------------------------------------------------------------------------------


def test_a_slice_is_a_window_into_its_input() -> None:
    """Its tensor lies where the first byte of the box lies, and nothing runs."""
    bench = Bench(4, 8)
    result = compiled(bench.end(bench.cut("it", bench.op("a", bench.x), (0, 1, 3))))
    assert code(result) == "NO_TASK"
    assert result.plan.find("a:0").offset + 32 == result.plan.find("it:0").offset
    assert result.tasks is not None
    assert "it" not in [task.node for task in result.tasks.tasks]


def test_slices_may_overlap_and_be_sliced_again() -> None:
    """They are only read; and parts of parts are joined where they already lie."""
    bench = Bench(8, 4)
    a = bench.op("a", bench.x)
    one, two = bench.cut("one", a, (0, 0, 6)), bench.cut("two", a, (0, 2, LARGEST))
    low, high = bench.cut("low", one, (0, 0, 3)), bench.cut("high", one, (0, 3, 6))
    shape = TensorDesc.make("float32", (6, 4))
    joined = bench.b.op(
        "ConcatD", low, high, name="join", outputs=[shape], attrs={"concat_dim": 0, "N": 2}
    )
    result = compiled(bench.end(two, joined))
    assert {"NO_TASK"} == {code(result, name) for name in ("one", "two", "low", "high", "join")}


def test_a_window_into_a_constant_and_into_an_input() -> None:
    """Nobody writes either, so their parts need no copies."""
    bench = Bench(4, 4)
    weight = bench.b.const("w", bytes(range(64)), (4, 4))
    first, second = bench.cut("first", weight, (0, 1, 3)), bench.cut("second", bench.x, (0, 2, 4))
    result = compiled(bench.end(first, second))
    assert ("NO_TASK", "NO_TASK") == (code(result, "first"), code(result, "second"))
    assert result.plan.find("first:0").pool == result.plan.find("w:0").pool


def test_a_window_into_a_variable_whose_copy_went() -> None:
    """The copy goes after the slice was marked, and the part lies in the variable itself."""
    build = GraphBuilder()
    var = build.node("Variable", name="var", shape=(4, 16), dtype="float32").outputs[0]
    copied = build.op("TensorMove", var, name="move", outputs=[_rows(4)])
    attrs = {"offsets": [1, 0], "size": [2, 16]}
    it = build.op("SliceD", copied, name="it", outputs=[_rows(2)], attrs=attrs)
    kept = build.op("Relu", it, name="keep", outputs=[_rows(2)])
    stored = build.node(
        "Assign", var, build.data("v", (4, 16)), name="store", outputs=[_rows(4)]
    ).outputs[0]
    build.graph.set_desc(stored, stored.desc.replace(reuse_input=0))
    build.net_output(kept, build.op("Relu", stored, name="new", outputs=[_rows(4)]))
    build.graph.add_control(kept.node, stored.node)
    result = compiled(build.graph)
    assert code(result) == "NO_TASK"
    assert "move" not in [node.name for node in result.graph.nodes]
    assert result.plan.find("it:0").pool == result.plan.find("var:0").pool
    assert result.plan.find("it:0").offset == result.plan.find("var:0").offset + 64


def test_a_slice_below_o4_is_none_of_ges_business() -> None:
    """GE has no rule for it."""
    bench = Bench(4, 4)
    result = compiled(bench.end(bench.cut("it", bench.op("a", bench.x), (0, 1, 3))), "O3")
    assert code(result) == "NO_RULE_AT_LEVEL"


def test_bounds_that_are_computed_are_not_known() -> None:
    """They are when the graph runs."""
    bench = Bench(4, 4)
    starts = bench.b.data("starts", (1,), "int64")
    ends = numbers(bench.b, "ends", 4)
    out = TensorDesc.make("float32", (2, 4))
    it = bench.b.op("Slice", bench.op("a", bench.x), starts, ends, name="it", outputs=[out])
    result = ge.compile(bench.end(it), level="O4")
    assert code(result) == "UNKNOWN_BOUNDS"


def test_bounds_that_are_computed_and_known_are_stated() -> None:
    """A frontend says so by the attributes of SliceD."""
    bench = Bench(4, 4)
    one = numbers(bench.b, "one", 1)
    out = [TensorDesc.make("int64", (1,))]
    starts = bench.b.op("Add", one, one, name="starts", outputs=out)
    ends = numbers(bench.b, "ends", 4)
    part = [TensorDesc.make("float32", (2, 4))]
    a = bench.op("a", bench.x)
    it = bench.b.op("Slice", a, starts, ends, name="it", outputs=part)
    bench.b.graph.set_attr(it.node, "offsets", [2, 0])
    bench.b.graph.set_attr(it.node, "size", [2, 4])
    result = compiled(bench.end(it))
    assert code(result) == "NO_TASK"
    assert result.plan.find("a:0").offset + 32 == result.plan.find("it:0").offset


def test_a_step_leaves_gaps() -> None:
    """Every second row is no run of bytes."""
    bench = Bench(6, 4)
    result = compiled(bench.end(bench.cut("it", bench.op("a", bench.x), (0, 0, 6), step=2)))
    assert code(result) == "STEPS_OVER"


def test_a_cut_of_an_inner_axis_has_rows() -> None:
    """Rows that are apart are no buffer that every op could read."""
    bench = Bench(4, 4)
    result = compiled(bench.end(bench.cut("it", bench.op("a", bench.x), (1, 1, 3))))
    assert code(result) == "NOT_OUTERMOST"


def test_an_inner_cut_of_one_row_is_one_run() -> None:
    """What stands outside has one element."""
    bench = Bench(4, 8)
    it = bench.cut("it", bench.op("a", bench.x), (0, 2, 3), (1, 4, 8))
    result = compiled(bench.end(it))
    assert code(result) == "NO_TASK"
    assert 2 * 32 + 16 == result.graph.node("it").attrs[WINDOW][0]


def test_nothing_is_no_part() -> None:
    """A slice of no elements."""
    bench = Bench(4, 4)
    result = compiled(bench.end(bench.cut("it", bench.op("a", bench.x), (0, 3, 1))))
    assert code(result) == "EMPTY_PIECE"


def test_a_box_of_a_private_format_is_no_box_of_bytes() -> None:
    """Blocks of channels stand in another order."""
    build = GraphBuilder()
    whole = TensorDesc.make(
        "float16", (4, 1, 2, 2, 16), "NC1HWC0", origin_shape=(4, 16, 2, 2), origin_format="NCHW"
    )
    part = whole.replace(shape=(2, 1, 2, 2, 16), origin_shape=(2, 16, 2, 2))
    a = build.op("Relu", build.data("x", (4, 16, 2, 2), "float16"), name="a", outputs=[whole])
    attrs = {"offsets": [0, 0, 0, 0], "size": [2, 16, 2, 2]}
    it = build.op("SliceD", a, name="it", outputs=[part], attrs=attrs)
    build.net_output(build.op("Relu", it, name="keep", outputs=[part]))
    assert code(ge.compile(build.graph, level="O4")) == "SLICED_FORMAT"


def test_a_part_may_not_begin_within_a_byte() -> None:
    """Three 4-bit elements to a row."""
    bench = Bench(4, 3, dtype="int4")
    a = bench.b.op("Relu", bench.x, name="a", outputs=[bench.x.desc])
    result = ge.compile(bench.end(bench.cut("it", a, (0, 1, 2))), level="O4")
    assert code(result) == "OFF_BYTE_PIECE"


def test_a_part_that_somebody_changes_is_a_copy() -> None:
    """The input would change with it."""
    build = GraphBuilder()
    a = build.op("Relu", build.data("x", (4, 16)), name="a", outputs=[_rows(4)])
    it = build.op(
        "SliceD", a, name="it", outputs=[_rows(2)], attrs={"offsets": [1, 0], "size": [2, 16]}
    )
    value = build.data("v", (2, 16))
    stored = build.op("Assign", it, value, name="store", outputs=[_rows(2).replace(reuse_input=0)])
    build.net_output(
        build.op("Relu", stored, name="k", outputs=[_rows(2)]),
        build.op("Relu", a, name="l", outputs=[_rows(4)]),
    )
    assert code(compiled(build.graph)) == "PIECE_OVERWRITTEN"


def _rows(count: int) -> TensorDesc:
    return TensorDesc.make("float32", (count, 16))


# ---- marks ---------------------------------------------------------------------------------------


def test_marks_are_taken_back_whole() -> None:
    """An unmarked slice is the node that it was."""
    bench = Bench(4, 8)
    graph = bench.end(bench.cut("it", bench.op("a", bench.x), (0, 1, 3)))
    before = dict(graph.node("it").attrs)
    result = compiled(graph)
    node: Node = result.graph.node("it")
    unmark(result.graph, node)
    assert before == {k: v for k, v in node.attrs.items() if k not in ("_source_op",)}


@pytest.mark.parametrize("window", [[0, 64, 64, 3], [96, 64, 64, 1], [0, 16, 16, 1]])
def test_a_window_that_fits_neither_side_is_an_error(window: list[int]) -> None:
    """A file may say anything: other bytes than the result has, or bytes outside."""
    build = GraphBuilder()
    a = build.op("Relu", build.data("x", (2, 16)), name="a", outputs=[_rows(2)])
    marks = {
        "_no_task": True,
        "_no_padding_continuous_output": True,
        "_output_reuse_input": True,
        WINDOW: window,
        "offsets": [1, 0],
        "size": [1, 16],
    }
    it = build.op("SliceD", a, name="it", outputs=[_rows(1)], attrs=marks)
    build.net_output(build.op("Relu", it, name="keep", outputs=[_rows(1)]))
    with pytest.raises(LayoutConflict, match="it"):
        ge.compile(build.graph, level="O3")


def test_a_window_at_the_wrong_place_is_not_proved() -> None:
    """The proof works out itself where the box lies."""
    build = GraphBuilder()
    a = build.op("Relu", build.data("x", (2, 16)), name="a", outputs=[_rows(2)])
    marks = {
        "_no_task": True,
        "_no_padding_continuous_output": True,
        "_output_reuse_input": True,
        WINDOW: [0, 64, 64, 1],
        "offsets": [1, 0],
        "size": [1, 16],
    }
    it = build.op("SliceD", a, name="it", outputs=[_rows(1)], attrs=marks)
    build.net_output(build.op("Relu", it, name="keep", outputs=[_rows(1)]))
    proof = ge.compile(build.graph, level="O3").proof
    assert proof is not None
    assert not proof.ok


# ---- random graphs -------------------------------------------------------------------------------


@st.composite
def sliced(draw: st.DrawFn) -> Graph:
    """Slices of slices, of inputs and of results, some of them joined again."""
    dtype = draw(st.sampled_from(["float32", "float16", "int8", "int64"]))
    bench = Bench(draw(st.integers(2, 5)), draw(st.integers(1, 3)), 2, dtype=dtype)
    tensors = [bench.x, bench.op("a", bench.x)]
    for at in range(draw(st.integers(1, 5))):
        one = draw(st.sampled_from(tensors))
        shape = one.desc.shape or ()
        axis = draw(st.sampled_from([0, 0, 0, 1, 2]))
        start, end = draw(st.integers(-4, 4)), draw(st.sampled_from([1, 2, 3, -1, LARGEST]))
        low = min(max(start + shape[axis] if start < 0 else start, 0), shape[axis])
        high = min(max(end + shape[axis] if end < 0 else end, low), shape[axis])
        if low < high:
            tensors.append(bench.cut(f"cut{at}", one, (axis, start, end)))
        else:
            tensors.append(bench.op(f"op{at}", one))
    parts = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3))
    inner = (parts[0].desc.shape or ())[1:]
    parts = [part for part in parts if (part.desc.shape or ())[1:] == inner]
    rows = sum((part.desc.shape or (0,))[0] for part in parts)
    out = TensorDesc.make(dtype, (rows, *inner))
    attrs = {"concat_dim": 0, "N": len(parts)}
    joined = bench.b.op("ConcatD", *parts, name="join", outputs=[out], attrs=attrs)
    bench.b.net_output(joined, *(one for one in tensors[1:] if not one.readers))
    return bench.b.graph


@given(sliced())
@settings(max_examples=120, deadline=None)
def test_slices_compute_the_same(graph: Graph) -> None:
    """Proof and poisoned execution agree, and no more is copied than before."""
    result = compiled(graph)
    assert result.after.total.bytes <= result.before.total.bytes


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_slices_among_everything_else_are_proved_and_run(first: int) -> None:
    """Among stores, calls, branches and loops, on one or two streams."""
    for seed in range(first, first + 10):
        knobs = GraphKnobs(
            nodes=6 + seed % 14, streams=1 + seed % 2, slices=True, control_flow=seed % 5 < 3
        )
        compiled(random_graph(seed, knobs))


def test_what_a_slice_with_a_task_reads_is_not_written_over() -> None:
    """It has no say in where tensors lie, but reads one for as long as it takes."""
    compiled(random_graph(5039, GraphKnobs(19, 2, slices=True, control_flow=False)))


def test_a_piece_is_what_the_kernel_reads_from_the_mark() -> None:
    """The numbers of the mark are a `Piece`, in its order."""
    bench = Bench(4, 8)
    result = compiled(bench.end(bench.cut("it", bench.op("a", bench.x), (0, 1, 3))))
    assert Piece(32, 64, 64, 1) == Piece(*result.graph.node("it").attrs[WINDOW])
