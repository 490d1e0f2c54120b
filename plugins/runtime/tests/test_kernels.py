"""The runtime's kernels: real semantics where shapes fit, a sensitive stand-in elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import GraphBuilder, OpTraits, TensorDesc
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.dtypes import numpy_dtype
from ge_runtime.machine import Machine
from ge_runtime.reference import run_reference
from ge_runtime.sources import make_feeds

OPS = default_ops()


def _outputs(
    op: str,
    *values: Any,
    outputs: list[TensorDesc],
    attrs: dict[str, Any] | None = None,
    name: str = "node",
) -> list[Any]:
    build = GraphBuilder()
    inputs = [
        build.data(f"x{at}", value.shape, str(value.dtype)) for at, value in enumerate(values)
    ]
    node = build.node(op, *inputs, name=name, outputs=outputs, attrs=attrs)
    build.net_output(*node.outputs)
    feeds = {f"x{at}": value for at, value in enumerate(values)}
    return list(run_reference(build.graph, feeds, ops=OPS).outputs.values())


def _f32(*shape: int) -> TensorDesc:
    return TensorDesc.make("float32", shape)


A = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
B = np.arange(6, dtype=np.float32).reshape(2, 3) * 3


@pytest.mark.parametrize(
    ("op", "values", "out", "attrs", "expected"),
    [
        ("Relu", [A], _f32(2, 3), {}, np.maximum(A, 0)),
        ("Add", [A, B], _f32(2, 3), {}, A + B),
        ("Sub", [A, B], _f32(2, 3), {}, A - B),
        ("Mul", [A, B], _f32(2, 3), {}, A * B),
        ("RealDiv", [A, B + 1], _f32(2, 3), {}, A / (B + 1)),
        ("Maximum", [A, B], _f32(2, 3), {}, np.maximum(A, B)),
        ("Minimum", [A, B], _f32(2, 3), {}, np.minimum(A, B)),
        ("Abs", [A], _f32(2, 3), {}, np.abs(A)),
        ("Exp", [A], _f32(2, 3), {}, np.exp(A)),
        ("Neg", [A], _f32(2, 3), {}, -A),
        ("Sigmoid", [A], _f32(2, 3), {}, 1 / (1 + np.exp(-A))),
        ("Sqrt", [B], _f32(2, 3), {}, np.sqrt(B)),
        ("Square", [A], _f32(2, 3), {}, A * A),
        ("Tanh", [A], _f32(2, 3), {}, np.tanh(A)),
        ("AddN", [A, B, A], _f32(2, 3), {}, A + B + A),
        ("Less", [A, B], TensorDesc.make("bool", (2, 3)), {}, A < B),
        ("MatMul", [A, B.T.copy()], _f32(2, 2), {}, A @ B.T),
        ("MatMul", [A, B], _f32(2, 2), {"transpose_x2": True}, A @ B.T),
        ("Cast", [A], TensorDesc.make("int8", (2, 3)), {}, A.astype(np.int8)),
        ("ConcatD", [A, B], _f32(2, 6), {"concat_dim": 1}, np.concatenate([A, B], 1)),
        ("ConcatD", [A, B], _f32(2, 6), {"concat_dim": -1}, np.concatenate([A, B], 1)),
        ("ConcatD", [A, B], _f32(4, 3), {}, np.concatenate([A, B])),
        ("Pack", [A, B], _f32(2, 2, 3), {"axis": 1}, np.stack([A, B], 1)),
        ("SliceD", [A], _f32(1, 2), {"offsets": [1, 0], "size": [-1, 2]}, A[1:, :2]),
    ],
)
def test_real_semantics(
    op: str, values: list[Any], out: TensorDesc, attrs: dict[str, Any], expected: Any
) -> None:
    """Ops whose arithmetic is simple compute what they are called."""
    (found,) = _outputs(op, *values, outputs=[out], attrs=attrs)
    assert (expected.dtype, expected.tolist()) == (found.dtype, found.tolist())


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_relu_of_four_bits_is_real(dtype: str) -> None:
    """So that a second one changes nothing, as a pass may take it to do."""
    values = np.arange(-8, 8).astype(numpy_dtype(dtype))
    (found,) = _outputs("Relu", values, outputs=[TensorDesc.make(dtype, (16,))])
    expected = [max(0, int(value)) for value in values]
    assert (values.dtype, expected) == (found.dtype, [int(value) for value in found])


def test_splits_take_their_sizes_from_the_outputs() -> None:
    """Pieces of unequal size along the named axis, or along the one that fits."""
    pieces = [_f32(2, 1), _f32(2, 2)]
    for attrs in ({"split_dim": 1}, {"split_dim": 0}, {}):
        found = _outputs("SplitVD", A, outputs=pieces, attrs=attrs)
        assert [A[:, :1].tolist(), A[:, 1:].tolist()] == [piece.tolist() for piece in found]


def test_an_axis_may_come_as_an_input() -> None:
    """Concat's axis is its first input, ConcatV2's the last, Split's the first."""
    axis = np.array(1, np.int32)
    joined = np.concatenate([A, B], 1)
    (first,) = _outputs("Concat", axis, A, B, outputs=[_f32(2, 6)])
    (last,) = _outputs("ConcatV2", A, B, axis, outputs=[_f32(2, 6)])
    pieces = _outputs("Split", axis, joined, outputs=[_f32(2, 3), _f32(2, 3)])
    assert joined.tolist() == first.tolist() == last.tolist()
    assert [A.tolist(), B.tolist()] == [piece.tolist() for piece in pieces]


def test_joins_and_splits_that_do_not_fit_move_bytes() -> None:
    """Described shapes that no axis explains: bytes behind one another, as long as they last."""
    (joined,) = _outputs("PhonyConcat", A, B, outputs=[_f32(4)])
    assert [*A.reshape(-1).tolist()[:4]] == joined.tolist()
    first, second = _outputs("PhonySplit", A, outputs=[_f32(4), _f32(4)])
    assert A.reshape(-1).tolist()[:4] == first.tolist()
    assert [*A.reshape(-1).tolist()[4:], 0, 0] == second.tolist()


def test_top_k_is_real_where_k_is_given() -> None:
    """Values and places of the largest, the first of equals first."""
    outs = [_f32(2, 2), TensorDesc.make("int32", (2, 2))]
    value = np.array([[1, 3, 3], [9, 0, 5]], np.float32)
    values, places = _outputs("TopK", value, np.array(2, np.int32), outputs=outs)
    assert [[3, 3], [9, 5]] == values.tolist()
    assert [[1, 2], [0, 2]] == places.tolist()


@given(st.integers(0, 2), st.integers(0, 23), st.integers(0, 7))
def test_one_bit_of_any_input_changes_every_output(which: int, byte: int, bit: int) -> None:
    """The stand-in depends on every byte that it reads."""
    values = [A, B, A + 1]
    outs = [_f32(2, 3), TensorDesc.make("int32", (4,))]
    before = _outputs("Conv2D", *values, outputs=outs)
    changed = values[which].copy()
    changed.reshape(-1).view(np.uint8)[byte] ^= 1 << bit
    after = _outputs(
        "Conv2D", *[changed if at == which else v for at, v in enumerate(values)], outputs=outs
    )
    for one, other in zip(before, after, strict=True):
        assert one.tolist() != other.tolist()


def test_the_stand_in_depends_on_what_the_op_is_not_on_where_it_runs() -> None:
    """Op and semantic attributes count; names, streams and layout marks do not."""

    def value(op: str = "Foo", name: str = "node", **attrs: Any) -> list[float]:
        found: list[float] = _outputs(op, A, outputs=[_f32(3)], attrs=attrs, name=name)[0].tolist()
        return found

    assert value() == value(name="other") == value(stream_id=3, _no_task=True)
    others = [value("Bar"), value(group=1), value(group=2), value(group=True)]
    assert 5 == len({tuple(found) for found in (value(), *others)})


def test_collectives_and_random_ops_depend_on_their_origin() -> None:
    """Two of them are never equal, but a rewritten one stays what its original was."""
    build = GraphBuilder()
    x = build.data("x", (4,))
    one = build.op("HcomAllReduce", x, name="one")
    two = build.op("HcomAllReduce", x, name="two")
    renamed = build.graph.add_node(
        "HcomAllReduce", "renamed", [x], [x.desc], origin=("one",)
    ).outputs[0]
    build.net_output(one, two, renamed)
    found = list(run_reference(build.graph, make_feeds(build.graph, OPS)).outputs.values())
    assert found[0].tolist() != found[1].tolist()
    assert found[0].tolist() == found[2].tolist()


def test_random_ops_draw_anew_in_every_turn() -> None:
    """A non-deterministic op in a loop gives other numbers each turn, the same in every run."""
    ops = default_ops()
    ops.add(OpTraits("Dice", nondeterministic=True))
    kernels = default_kernels()
    kernels.add("Dice", "ge_runtime.kernels.standin:compute", source="onnx")
    build = GraphBuilder(source="onnx")
    body = build.subgraph("b")
    seen = body.data("b/x", (4,), index=2)
    drawn = body.op("Dice", name="dice", outputs=[seen.desc])
    body.net_output(body.const("b/go", b"\1", (), "bool"), seen, drawn)
    trips = build.const("M", (3).to_bytes(8, "little"), (), "int64")
    outs = [_f32(4), TensorDesc.make("float32", (3, 4))]
    loop = build.node(
        "Loop", trips, None, build.data("x", (4,)), outputs=outs, subgraphs={"b": body}
    )
    build.net_output(loop.outputs[1])
    feeds = make_feeds(build.graph, ops)
    runs = [run_reference(build.graph, feeds, kernels, ops).outputs["output_0"] for _ in range(2)]
    assert runs[0].tolist() == runs[1].tolist()
    assert 3 == len({tuple(row) for row in runs[0].tolist()})


@pytest.mark.parametrize(
    ("op", "attrs", "expected"),
    [("Assign", {}, B), ("AssignAdd", {}, A + B), ("AssignSub", {}, A - B)],
)
def test_stores_update_input_0(op: str, attrs: dict[str, Any], expected: Any) -> None:
    """The variable holds the new value at the end, and so does the output that is its memory."""
    build = GraphBuilder()
    target, value = build.data("t", (2, 3)), build.data("v", (2, 3))
    own = build.op("TensorMove", target)
    store = build.op(op, own, value, reuse_input=0, attrs=attrs)
    build.net_output(store, own, target)
    found = list(run_reference(build.graph, {"t": A, "v": B}).outputs.values())
    assert [expected.tolist()] * 2 == [value.tolist() for value in found[:2]]
    assert A.tolist() == found[2].tolist()


def test_who_writes_a_constant_or_destroys_its_input_has_a_copy() -> None:
    """In the reference run neither a store into a constant nor a scribbler is seen by others."""
    build = GraphBuilder()
    weight = build.const("w", A.tobytes(), (2, 3))
    x = build.data("x", (2, 3))
    store = build.op("Assign", weight, x, reuse_input=0)
    build.op("HcomAllReduce", x, attrs={"_input_mutable": True})
    build.net_output(store, weight, x)
    found = list(run_reference(build.graph, {"x": B}).outputs.values())
    assert [B.tolist(), A.tolist(), B.tolist()] == [value.tolist() for value in found]


def test_dynamic_outputs_take_open_dimensions_from_an_input() -> None:
    """The stand-in's shape follows the first input of that rank."""
    out = TensorDesc.make("float32", (-1, 3))
    (found,) = _outputs("Foo", A, outputs=[out])
    assert (2, 3) == found.shape


@pytest.mark.parametrize(
    ("op", "out", "attrs", "expected"),
    [
        ("Transpose", _f32(3, 2), {"perm": [1, 0]}, A.T),
        ("TransposeD", _f32(3, 2), {"perm": [1, 0]}, A.T),
        ("ExpandDims", _f32(1, 2, 3), {}, A.reshape(1, 2, 3)),
        ("Flatten", _f32(6), {}, A.reshape(6)),
        ("Squeeze", _f32(-1, 3), {}, A),
    ],
)
def test_layout_ops_move_what_they_say(
    op: str, out: TensorDesc, attrs: dict[str, Any], expected: Any
) -> None:
    """Transposes by their attribute, and the elements in the declared shape."""
    (found,) = _outputs(op, A, outputs=[out], attrs=attrs)
    assert expected.tolist() == found.tolist()


def test_a_transpose_may_get_its_axes_as_an_input() -> None:
    """As GE's Transpose does; TransposeD has the attribute."""
    (found,) = _outputs("Transpose", A, np.array([1, 0], np.int32), outputs=[_f32(3, 2)])
    assert A.T.tolist() == found.tolist()


@pytest.mark.parametrize(
    ("op", "values", "out", "expected"),
    [
        ("Log", [B + 1], _f32(2, 3), np.log(B + 1)),
        ("Pow", [B + 1, A], _f32(2, 3), (B + 1) ** A),
        ("Reciprocal", [B + 1], _f32(2, 3), 1 / (B + 1)),
        ("Rsqrt", [B + 1], _f32(2, 3), 1 / np.sqrt(B + 1)),
        ("LessEqual", [A, -A], TensorDesc.make("bool", (2, 3)), A <= -A),
        ("Greater", [A, -A], TensorDesc.make("bool", (2, 3)), A > -A),
        ("GreaterEqual", [A, -A], TensorDesc.make("bool", (2, 3)), A >= -A),
        ("Equal", [A, -A], TensorDesc.make("bool", (2, 3)), A == -A),
        ("NotEqual", [A, -A], TensorDesc.make("bool", (2, 3)), A != -A),
    ],
)
def test_more_arithmetic(op: str, values: list[Any], out: TensorDesc, expected: Any) -> None:
    """Single functions of numpy's."""
    (found,) = _outputs(op, *values, outputs=[out])
    assert (expected.dtype, repr(expected)) == (found.dtype, repr(found))


def _stand_ins(op: str, attrs: dict[str, Any], *, constant: bool = False) -> dict[str, int]:
    build = GraphBuilder()
    feed = build.op("Const", outputs=[_f32(2, 3)]) if constant else build.data("x", (2, 3))
    first = build.op(op, feed, attrs=attrs, outputs=[_f32(3, 2)])
    second = build.op(op, feed, attrs=attrs, outputs=[_f32(3, 2)])
    build.net_output(first, build.op("Add", first, second, outputs=[_f32(3, 2)]))
    feeds = make_feeds(build.graph, OPS)
    return run_reference(build.graph, feeds, ops=OPS).stand_ins


def test_a_run_names_what_it_made_up() -> None:
    """Ops without a kernel, and real ones whose attributes say nothing that can be done."""
    assert {"SomeOp": 2} == _stand_ins("SomeOp", {})
    assert {"Transpose": 2} == _stand_ins("Transpose", {})
    assert {"Transpose": 2} == _stand_ins("Transpose", {"perm": [0, 0]})
    assert {} == _stand_ins("Transpose", {"perm": [1, 0]})


def test_constants_without_a_value_are_made_up() -> None:
    """Their contents follow from their name."""
    assert {"Const": 1} == _stand_ins("Transpose", {"perm": [1, 0]}, constant=True)


def test_a_second_run_names_only_its_own() -> None:
    """An executor that is used again starts anew."""
    build = GraphBuilder()
    build.net_output(build.op("SomeOp", build.data("x", (2, 3))))
    machine = Machine(build.graph, OPS, default_kernels())
    for _ in range(2):
        machine.run(make_feeds(build.graph, OPS))
        assert {"SomeOp": 1} == machine.stand_ins()
    machine.start(make_feeds(build.graph, OPS))
    assert {} == machine.stand_ins()


@pytest.mark.parametrize("op", ["TensorScatterUpdate", "Unheard", "Sub", "Tanh"])
def test_an_op_makes_the_same_in_place_and_beside(op: str) -> None:
    """What is updated and answered holds the answer that the op gives in memory of its own."""
    here = {"reference": True}, TensorDesc.make("float32", (2, 3), reuse_input=0)
    beside: tuple[dict[str, Any], TensorDesc] = {}, _f32(2, 3)
    values = (A,) if op == "Tanh" else (A, B)
    found = [
        _outputs(op, *values, outputs=[desc], attrs=attrs, name="one")
        for attrs, desc in (here, beside)
    ]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert not np.array_equal(found[0][0], A)


def test_a_copy_of_several_tensors_copies_each() -> None:
    """Input k to output k, as GE's Identity around the body of a loop does."""
    found = _outputs("Identity", A, B[:1], outputs=[_f32(2, 3), _f32(1, 3)])
    assert [A.tolist(), B[:1].tolist()] == [value.tolist() for value in found]
