"""Joins, splits and slices along inner axes as rows with gaps, where target and ops do so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.session.execution import execute
from ge_core.session.result import Result

Shape = tuple[int, ...]


class Bench:
    """Builds graphs of small tensors; ops called Tan know rows with gaps, Foo does not."""

    def __init__(self, dtype: str = "int16") -> None:
        self.b = GraphBuilder("rows")
        self.dtype = dtype
        self.x = self.b.data("x", (3,), dtype)

    def op(
        self, name: str, *sources: OutputAnchor, shape: Shape, op: str = "Tan", stream: int = 0
    ) -> OutputAnchor:
        """What an op makes of others, by default of the graph's input."""
        desc = TensorDesc.make(self.dtype, shape)
        attrs = {"stream_id": stream}
        return self.b.op(op, *(sources or (self.x,)), name=name, outputs=[desc], attrs=attrs)

    def join(self, name: str, axis: int, *parts: OutputAnchor) -> OutputAnchor:
        """A Concat."""
        whole = list(parts[0].desc.shape or ())
        whole[axis] = sum((part.desc.shape or ())[axis] for part in parts)
        desc = TensorDesc.make(self.dtype, tuple(whole))
        attrs = {"concat_dim": axis, "N": len(parts)}
        return self.b.op("ConcatD", *parts, name=name, outputs=[desc], attrs=attrs)

    def cut(self, name: str, axis: int, whole: OutputAnchor, *sizes: int) -> list[OutputAnchor]:
        """A Split."""
        shape = whole.desc.shape or ()
        descs = [
            TensorDesc.make(self.dtype, (*shape[:axis], size, *shape[axis + 1 :])) for size in sizes
        ]
        attrs = {"split_dim": axis, "num_split": len(sizes), "size_splits": list(sizes)}
        return self.b.node("SplitVD", whole, name=name, outputs=descs, attrs=attrs).outputs

    def end(self, *results: OutputAnchor, op: str = "Tan") -> Graph:
        """Make the graph's results of these."""
        ends = [self.op(f"end{at}", one, shape=(5,), op=op) for at, one in enumerate(results)]
        self.b.net_output(*ends)
        return self.b.graph


def compiled(graph: Graph, **about: Any) -> Result:
    """At O4 for the numpy executor, proved and run in the arena beside the plain run."""
    about = {"level": "O4", "target": "numpy", "objective": "copies", **about}
    result = ge.compile(graph, verify_each=True, audit=True, **about)
    assert result.proof is not None
    assert result.proof.ok, result.proof.violations[:1]
    outcome = execute(result, seed=1, check=True)
    assert [] == [output.name for output in outcome.outputs if not output.bit_exact]
    return result


def said(result: Result) -> dict[str, str]:
    """By node, the code of its final remark."""
    return {remark.node: remark.code for remark in result.remarks.finals()}


def rows(result: Result, name: str) -> Shape | None:
    """Row, pitch and count of a tensor; None without gaps."""
    found = result.plan.find(name).strided
    return None if found is None else (found.row, found.pitch, found.count)


def pair(bench: Bench, op: str = "Tan") -> list[OutputAnchor]:
    """Two operands; the first one is made by this op."""
    return [bench.op("a", shape=(4, 2), op=op), bench.op("b", shape=(4, 3))]


# ---- what goes -----------------------------------------------------------------------------------


def test_operands_of_an_inner_join_are_written_as_rows_of_the_result() -> None:
    """No copy is left, and each operand has the result's pitch."""
    bench = Bench()
    result = compiled(bench.end(bench.join("it", 1, *pair(bench))))
    assert said(result)["it"] == "NO_TASK"
    assert (0, (4, 10, 4), (6, 10, 4)) == (
        result.after.total.bytes,
        rows(result, "a:0"),
        rows(result, "b:0"),
    )


@pytest.mark.parametrize("about", [{"target": "generic"}, {"level": "O3"}])
def test_below_o4_and_on_other_targets_nothing_changes(about: dict[str, str]) -> None:
    """GE's rule holds: the axis must be the outermost one."""
    bench = Bench()
    result = compiled(bench.end(bench.join("it", 1, *pair(bench))), **about)
    assert said(result)["it"] == "NOT_OUTERMOST"


def test_joins_in_joins_along_one_axis_all_go() -> None:
    """The inner one's operands are rows of the outer result."""
    bench = Bench()
    outer = bench.join(
        "outer", 1, bench.join("inner", 1, *pair(bench)), bench.op("c", shape=(4, 1))
    )
    result = compiled(bench.end(outer))
    assert {"inner": "NO_TASK", "outer": "NO_TASK"}.items() <= said(result).items()
    assert ((4, 12, 4), (10, 12, 4)) == (rows(result, "a:0"), rows(result, "inner:0"))


def test_a_split_along_an_inner_axis_gives_rows() -> None:
    """Its outputs are read where the input lies."""
    bench = Bench()
    graph = bench.end(*bench.cut("it", 1, bench.op("a", shape=(4, 5)), 2, 3))
    result = compiled(graph)
    assert said(result)["it"] == "NO_TASK"
    assert ((4, 10, 4), (6, 10, 4)) == (rows(result, "it:0"), rows(result, "it:1"))


def test_a_piece_is_split_again_along_the_same_axis() -> None:
    """Pieces of pieces keep the first one's pitch."""
    bench = Bench()
    first, second = bench.cut("one", 1, bench.op("a", shape=(4, 6)), 4, 2)
    result = compiled(bench.end(*bench.cut("two", 1, first, 1, 3), second))
    assert {"one": "NO_TASK", "two": "NO_TASK"}.items() <= said(result).items()
    assert (6, 12, 4) == rows(result, "two:1")


def test_a_slice_of_columns_is_a_window_in_rows() -> None:
    """A box that takes more than one run of bytes is read in rows."""
    bench = Bench()
    attrs = {"offsets": [0, 1], "size": [4, 2]}
    desc = TensorDesc.make("int16", (4, 2))
    whole = bench.op("a", shape=(4, 5))
    result = compiled(
        bench.end(bench.b.op("SliceD", whole, name="it", outputs=[desc], attrs=attrs))
    )
    assert said(result)["it"] == "NO_TASK"
    assert (4, 10, 4) == rows(result, "it:0")


def test_a_pack_between_axes_puts_operands_in_rows() -> None:
    """A new axis behind the first one."""
    bench = Bench()
    parts = [bench.op(name, shape=(4, 3)) for name in "ab"]
    desc = TensorDesc.make("int16", (4, 2, 3))
    pack = bench.b.op("Pack", *parts, name="it", outputs=[desc], attrs={"axis": 1, "N": 2})
    result = compiled(bench.end(pack))
    assert said(result)["it"] == "NO_TASK"
    assert (6, 12, 4) == rows(result, "b:0")


# ---- what stays ----------------------------------------------------------------------------------


def test_an_op_that_writes_no_rows_keeps_the_join() -> None:
    """Its result would have to be copied into the rows."""
    bench = Bench()
    result = compiled(bench.end(bench.join("it", 1, *pair(bench, "Foo"))))
    assert said(result)["it"] == "WRITER_NOT_STRIDED"


def test_an_op_that_reads_no_rows_keeps_join_and_split() -> None:
    """Whoever else reads an operand, or reads a piece, must know rows."""
    bench = Bench()
    parts = pair(bench)
    pieces = bench.cut("cut", 1, bench.op("w", shape=(4, 5)), 2, 3)
    other = [bench.op("f", parts[0], shape=(3,), op="Foo"), bench.join("it", 1, *parts)]
    result = compiled(bench.end(*other, bench.op("g", pieces[0], shape=(2,), op="Foo"), pieces[1]))
    found = said(result)
    assert (found["it"], found["cut"]) == ("READER_NOT_STRIDED", "READER_NOT_STRIDED")


def test_rows_of_rows_at_two_distances_keep_one_join() -> None:
    """Columns inside of columns along another axis would need two pitches."""
    bench = Bench()
    inner = bench.join("inner", 2, *(bench.op(name, shape=(2, 4, 3)) for name in "ab"))
    result = compiled(bench.end(bench.join("outer", 1, inner, bench.op("c", shape=(2, 4, 6)))))
    assert {"inner": "NO_TASK", "outer": "ROWS_IN_ROWS"}.items() <= said(result).items()


def test_columns_of_a_piece_in_rows_keep_the_second_split() -> None:
    """Its outputs would lie in rows of rows at two distances."""
    bench = Bench()
    first, second = bench.cut("one", 1, bench.op("a", shape=(2, 4, 6)), 2, 2)
    found = said(compiled(bench.end(*bench.cut("two", 2, first, 3, 3), second)))
    assert (found["one"], found["two"]) == ("NO_TASK", "ROWS_IN_ROWS")


def test_a_tensor_in_rows_is_no_operand_elsewhere() -> None:
    """It lies at one pitch only."""
    bench = Bench()
    a, b = pair(bench)
    joins = [bench.join("one", 1, a, b), bench.join("two", 1, a, bench.op("c", shape=(4, 7)))]
    found = said(compiled(bench.end(*joins)))
    assert (found["one"], found["two"]) == ("NO_TASK", "PLACES_CLASH")


@pytest.mark.parametrize(("shape", "code"), [((2, 4), "READER_NOT_STRIDED"), ((4, 2, 1), "")])
def test_a_view_must_keep_whole_rows(shape: Shape, code: str) -> None:
    """A reader that sees rows cut elsewhere can't follow the pitch."""
    bench = Bench()
    a, b = pair(bench)
    view = bench.b.op("Reshape", a, name="view", outputs=[TensorDesc.make("int16", shape)])
    found = said(compiled(bench.end(bench.join("it", 1, a, b), view)))
    assert found["it"] == (code or "NO_TASK")


def test_rows_that_end_inside_a_byte_are_refused() -> None:
    """Four-bit elements, an odd number in a row."""
    bench = Bench("int4")
    parts = [bench.op(name, shape=(4, 3)) for name in "ab"]
    assert said(compiled(bench.end(bench.join("it", 1, *parts))))["it"] == "OFF_BYTE_PIECE"


def test_a_block_format_joins_along_a_whole_stored_axis_only() -> None:
    """NC1HWC0 stores height whole, and channels in blocks of two dimensions."""
    found = {}
    for axis in (1, 2):
        bench = Bench("float16")
        sizes = [[2, 16, 4, 3], [2, 16, 4, 3]]
        whole = list(sizes[0])
        whole[axis] *= 2
        parts = [
            bench.b.op("Tan", bench.x, name=name, outputs=[_blocked(size)])
            for name, size in zip("ab", sizes, strict=True)
        ]
        attrs = {"concat_dim": axis, "N": 2}
        join = bench.b.op("ConcatD", *parts, name="it", outputs=[_blocked(whole)], attrs=attrs)
        found[axis] = said(compiled(bench.end(join)))["it"]
    assert {1: "NOT_OUTERMOST", 2: "NO_TASK"} == found


def _blocked(shape: list[int]) -> TensorDesc:
    n, c, h, w = shape
    return TensorDesc.make(
        "float16",
        (n, c // 16, h, w, 16),
        format="NC1HWC0",
        origin_format="NCHW",
        origin_shape=tuple(shape),
    )


# ---- random graphs -------------------------------------------------------------------------------


@st.composite
def tangles(draw: st.DrawFn) -> Graph:
    """Joins and splits over few tensors along any axis, on one stream or several."""
    bench = Bench(draw(st.sampled_from(["int16", "bool", "int64", "float32"])))
    streams = draw(st.integers(1, 2))
    shapes = st.lists(st.integers(1, 3), min_size=2, max_size=3).map(tuple)
    tensors = [bench.op("a", shape=draw(shapes)), bench.op("b", shape=draw(shapes))]
    for at in range(draw(st.integers(2, 7))):
        one = draw(st.sampled_from(tensors))
        shape = one.desc.shape or ()
        axis = draw(st.integers(0, len(shape) - 1))
        kind = draw(st.sampled_from(["join", "join", "cut", "op", "view"]))
        fits = [t for t in tensors if _joins(t.desc.shape or (), shape, axis)]
        if kind == "join" and shape[axis] < 12:
            other = draw(st.sampled_from(fits))
            if other is one:
                other = bench.op(f"more{at}", shape=shape, stream=at % streams)
            tensors.append(bench.join(f"join{at}", axis, one, other))
        elif kind == "cut" and shape[axis] > 1:
            first = draw(st.integers(1, shape[axis] - 1))
            tensors += bench.cut(f"cut{at}", axis, one, first, shape[axis] - first)
        elif kind == "view":
            desc = TensorDesc.make(bench.dtype, (*shape, 1))
            tensors.append(bench.b.op("Reshape", one, name=f"view{at}", outputs=[desc]))
        else:
            op = draw(st.sampled_from(["Tan", "Tan", "Foo"]))
            tensors.append(bench.op(f"op{at}", one, shape=shape, op=op, stream=at % streams))
    return bench.end(*(one for one in tensors if not one.readers))


def _joins(one: Shape, other: Shape, axis: int) -> bool:
    return len(one) == len(other) and all(
        a == b for at, (a, b) in enumerate(zip(one, other, strict=True)) if at != axis
    )


@given(tangles())
@settings(max_examples=100, deadline=None)
def test_what_is_placed_in_rows_computes_the_same(graph: Graph) -> None:
    """Proof and poisoned execution agree; no more is copied than where nothing lies in rows."""
    plain = compiled(graph, target="generic")
    assert not [tensor for tensor in plain.plan.tensors if tensor.strided]
    assert compiled(graph).after.total.bytes <= plain.before.total.bytes
