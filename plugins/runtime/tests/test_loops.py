"""While, Loop and Scan: turns, slots, collected outputs, and the corner cases of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ge_core.api import (
    GraphBuilder,
    Kernels,
    LimitExceeded,
    OpRegistry,
    OutputAnchor,
    TensorDesc,
    generate_tasks,
)
from ge_core.testing import disjoint_plan
from ge_runtime.errors import ExecutionError
from ge_runtime.executor import NumpyExecutor
from ge_runtime.reference import run_reference

F32 = TensorDesc.make("float32", (2,))
X = np.array([1, 2], np.float32)
Y = np.array([10, 20], np.float32)


def _scalar(build: GraphBuilder, name: str, value: int, dtype: str = "int64") -> OutputAnchor:
    return build.const(name, np.array(value, dtype).tobytes(), (), dtype)


# ---- While -----------------------------------------------------------------------------------


def _counting_while(limit: int) -> GraphBuilder:
    """While i < limit: i, x, y = i + 1, y, x + y."""
    build = GraphBuilder()
    i, x, y = build.data("i", (), "int64"), build.data("x", (2,)), build.data("y", (2,))
    cond = build.subgraph("c")
    seen = cond.data("c/i", (), "int64", index=0)
    less = cond.op("Less", seen, _scalar(cond, "c/n", limit), dtype="bool", shape=())
    cond.net_output(less)
    body = build.subgraph("b")
    j = body.data("b/i", (), "int64", index=0)
    a, b = body.data("b/x", (2,), index=1), body.data("b/y", (2,), index=2)
    body.net_output(body.op("Add", j, _scalar(body, "b/1", 1)), b, body.op("Add", a, b))
    moves = [build.op("TensorMove", value) for value in (i, x, y)]
    loop = build.node(
        "While",
        *moves,
        name="while",
        outputs=[TensorDesc.make("int64", ()), F32, F32],
        subgraphs={"cond": cond, "body": body},
    )
    build.net_output(*loop.outputs, x)
    return build


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(0, [[1, 2], [10, 20]]), (1, [[10, 20], [11, 22]]), (3, [[21, 42], [32, 64]])],
)
def test_while_moves_all_slots_at_once(check: Any, limit: int, expected: list[list[int]]) -> None:
    """Swapped values do not overwrite one another; no turn leaves the initial values."""
    found = check(_counting_while(limit).graph, {"i": np.int64(0), "x": X, "y": Y})
    assert limit == found.outputs["output_0"]
    assert expected == [found.outputs[f"output_{at}"].tolist() for at in (1, 2)]
    assert X.tolist() == found.outputs["output_3"].tolist()


def test_while_in_place_copies_nothing_in(ops: OpRegistry, kernels: Kernels) -> None:
    """Slots where the inputs lie: only the turns' results move, those in their place excepted."""
    graph = _counting_while(2).graph
    feeds = {"i": np.int64(0), "x": X, "y": Y}
    apart = disjoint_plan(graph, ops)
    inside = disjoint_plan(graph, ops, while_in_place=True)
    counts = []
    for plan in (apart, inside):
        tasks = generate_tasks(graph, ops, plan)
        found = NumpyExecutor(ops, kernels).run(graph, plan, tasks, feeds)
        assert [11, 22] == found.outputs["output_1"].tolist()
        counts.append(found.boundary_copies)
    assert [3 + 2 * 3, 2 * 3] == counts


def test_a_while_of_ge_ends(check: Any) -> None:
    """A condition that is a stand-in may stay true for ever; the loop ends all the same."""
    build = GraphBuilder()
    cond, body = build.subgraph("c"), build.subgraph("b")
    cond.data("c/x", (2,), index=0)
    cond.net_output(_scalar(cond, "c/true", 1, "bool"))
    value = body.data("b/x", (2,), index=0)
    body.net_output(body.op("Add", value, value))
    own = build.op("TensorMove", build.data("x", (2,)))
    loop = build.op("While", own, subgraphs={"cond": cond, "body": body})
    build.net_output(loop)
    found = check(build.graph, {"x": X})
    assert (X * 2**16).tolist() == found.outputs["output_0"].tolist()


# ---- Loop ------------------------------------------------------------------------------------


def _loop(
    *,
    trips: bool = True,
    cond: bool = True,
    until: int = 100,
    open_shapes: bool = True,
) -> GraphBuilder:
    """Loop: x += w, collecting x before the turn, the turn, and the turn as a [1] tensor.

    The body asks to go on while its turn is less than `until`.
    """
    build = GraphBuilder(source="onnx")
    m = build.data("M", (), "int64") if trips else None
    go = build.data("go", (), "bool") if cond else None
    x, w = build.data("x", (2,)), build.data("w", (2,))
    body = build.subgraph("b")
    turn = body.data("b/i", (), "int64", index=0)
    body.data("b/go", (), "bool", index=1)
    value, outer = body.data("b/x", (2,), index=2), body.data("b/w", (2,), index=3)
    again = body.op("Less", turn, _scalar(body, "b/n", until), dtype="bool", shape=())
    body.net_output(
        again,
        body.op("Add", value, outer),
        body.op("TensorMove", value),
        body.op("TensorMove", turn),
    )
    count = -1 if open_shapes else 3
    loop = build.node(
        "Loop",
        m,
        go,
        x,
        w,
        name="loop",
        outputs=[F32, TensorDesc.make("float32", (count, 2)), TensorDesc.make("int64", (count,))],
        attrs={"captured": 1},
        subgraphs={"body": body},
    )
    build.net_output(*loop.outputs)
    return build


def _fed(**more: Any) -> dict[str, Any]:
    return {"x": X, "w": Y, **more}


@pytest.mark.parametrize("open_shapes", [True, False])
def test_loop_carries_and_collects(check: Any, open_shapes: bool) -> None:
    """Values go from turn to turn, scalars and vectors are collected along a new first axis."""
    graph = _loop(open_shapes=open_shapes).graph
    found = check(graph, _fed(M=np.int64(3), go=np.bool_(True)))
    assert [31, 62] == found.outputs["output_0"].tolist()
    assert [[1, 2], [11, 22], [21, 42]] == found.outputs["output_1"].tolist()
    assert [0, 1, 2] == found.outputs["output_2"].tolist()


@pytest.mark.parametrize(
    ("trips", "cond", "fed", "turns"),
    [
        (True, True, {"M": np.int64(5), "go": np.bool_(True)}, 3),
        (True, False, {"M": np.int64(2)}, 2),
        (True, False, {"M": np.int64(5)}, 3),
        (False, True, {"go": np.bool_(True)}, 3),
        (False, False, {}, 3),
        (False, True, {"go": np.bool_(False)}, 0),
        (True, True, {"M": np.int64(0), "go": np.bool_(True)}, 0),
        (True, True, {"M": np.int64(-4), "go": np.bool_(True)}, 0),
    ],
)
def test_loop_ends_by_trip_count_and_condition(
    check: Any, trips: bool, cond: bool, fed: dict[str, Any], turns: int
) -> None:
    """Either may be left out; the body's own condition ends the loop after its third turn."""
    found = check(_loop(trips=trips, cond=cond, until=2).graph, _fed(**fed))
    assert (X + turns * Y).tolist() == found.outputs["output_0"].tolist()
    assert list(range(turns)) == found.outputs["output_2"].tolist()


def test_no_turn_collects_empty_tensors_of_the_right_type(check: Any) -> None:
    """The collected outputs have no elements, but the rank, dimensions and dtype of the body's."""
    found = check(_loop().graph, _fed(M=np.int64(0), go=np.bool_(True)))
    collected = [found.outputs[f"output_{at}"] for at in (1, 2)]
    assert [("float32", (0, 2)), ("int64", (0,))] == [(str(c.dtype), c.shape) for c in collected]


def test_a_trip_count_may_have_one_dimension(check: Any) -> None:
    """Models write M and the condition as scalars or with one element."""
    build = _loop(until=100)
    for name in ("M", "go"):
        anchor = build.graph.node(name).outputs[0]
        build.graph.set_desc(anchor, anchor.desc.replace(shape=(1,)))
    inner = build.graph.node("b/go").outputs[0]
    build.graph.set_desc(inner, inner.desc.replace(shape=(1,)))
    found = check(build.graph, _fed(M=np.array([2]), go=np.array([True])))
    assert [0, 1] == found.outputs["output_2"].tolist()


def test_loop_swaps_and_hands_through(check: Any) -> None:
    """Carried values that change places, and one that the body only hands on."""
    build = GraphBuilder(source="onnx")
    x, y = build.data("x", (2,)), build.data("y", (2,))
    body = build.subgraph("b")
    a, b, c = (body.data(f"b/{at}", (2,), index=2 + at) for at in range(3))
    body.net_output(_scalar(body, "b/go", 1, "bool"), b, a, c)
    loop = build.node(
        "Loop",
        _scalar(build, "M", 3),
        None,
        x,
        y,
        x,
        outputs=[F32] * 3,
        subgraphs={"body": body},
    )
    build.net_output(*loop.outputs)
    found = check(build.graph, {"x": X, "y": Y})
    assert [Y.tolist(), X.tolist(), X.tolist()] == [v.tolist() for v in found.outputs.values()]


def test_loops_nest_and_capture_through_both(check: Any) -> None:
    """An inner loop starts anew in each turn of the outer one and reads what lies outside both."""
    build = GraphBuilder(source="onnx")
    x, w = build.data("x", (2,)), build.data("w", (2,))
    inner = build.subgraph("inner")
    value, step = inner.data("in/x", (2,), index=2), inner.data("in/w", (2,), index=3)
    inner.net_output(_scalar(inner, "in/go", 1, "bool"), inner.op("Add", value, step))
    outer = build.subgraph("outer")
    start, captured = outer.data("out/x", (2,), index=2), outer.data("out/w", (2,), index=3)
    turned = outer.op(
        "Loop",
        _scalar(outer, "out/M", 2),
        None,
        start,
        captured,
        outputs=[F32],
        attrs={"captured": 1},
        subgraphs={"body": inner},
    )
    outer.net_output(_scalar(outer, "out/go", 1, "bool"), outer.op("Add", turned, start))
    loop = build.op(
        "Loop",
        _scalar(build, "M", 2),
        None,
        x,
        w,
        outputs=[F32],
        attrs={"captured": 1},
        subgraphs={"body": outer},
    )
    build.net_output(loop, w)
    found = check(build.graph, {"x": X, "w": Y})
    assert (4 * X + 6 * Y).tolist() == found.outputs["output_0"].tolist()
    assert Y.tolist() == found.outputs["output_1"].tolist()


def test_slots_without_a_place_are_buffers(check: Any) -> None:
    """A loop whose values the plan leaves out runs the same, in buffers of its own."""
    found = check(_loop().graph, _fed(M=np.int64(3), go=np.bool_(True)), unplanned=("loop", "x"))
    assert [31, 62] == found.outputs["output_0"].tolist()


def test_an_endless_loop_is_an_error(ops: OpRegistry, kernels: Kernels) -> None:
    """A loop without a limit and a condition that stays true is stopped by name."""
    graph = _loop(trips=False, cond=False, until=10**9).graph
    with pytest.raises(LimitExceeded, match="loop 'loop' has not ended after 50 turns"):
        run_reference(graph, _fed(), kernels, ops, loop_limit=50)


def test_a_loop_that_collects_more_than_was_planned_is_an_error(
    ops: OpRegistry, kernels: Kernels
) -> None:
    """A static collected output must get exactly as many turns as it has rows."""
    graph = _loop(open_shapes=False).graph
    plan = disjoint_plan(graph, ops)
    tasks = generate_tasks(graph, ops, plan)
    with pytest.raises(ExecutionError, match="does not fit"):
        NumpyExecutor(ops, kernels).run(graph, plan, tasks, _fed(M=np.int64(4), go=np.bool_(True)))


# ---- Scan ------------------------------------------------------------------------------------


def _scan(shape: tuple[int, ...], **attrs: list[int]) -> GraphBuilder:
    """Scan: a running sum of the scanned elements, each collected; starts from x."""
    axis = attrs.get("scan_input_axes", [0])[0]
    build = GraphBuilder(source="onnx")
    x, rows = build.data("x", (2,)), build.data("rows", shape)
    body = build.subgraph("b")
    total, row = body.data("b/x", (2,), index=0), body.data("b/row", (2,), index=1)
    sum_ = body.op("Add", total, row)
    body.net_output(sum_, body.op("TensorMove", sum_))
    out_axis = attrs.get("scan_output_axes", [0])[0]
    length = shape[axis]
    out = (length, 2) if out_axis in (0, -2) else (2, length)
    scan = build.node(
        "Scan",
        x,
        rows,
        outputs=[F32, TensorDesc.make("float32", out)],
        attrs={"onnx.num_scan_inputs": 1, **{f"onnx.{k}": v for k, v in attrs.items()}},
        subgraphs={"body": body},
    )
    build.net_output(*scan.outputs)
    return build


ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def test_scan_forward(check: Any) -> None:
    """States go from element to element, outputs are stacked along the first axis."""
    found = check(_scan((3, 2)).graph, {"x": X, "rows": ROWS})
    assert [10, 14] == found.outputs["output_0"].tolist()
    assert [[2, 4], [5, 8], [10, 14]] == found.outputs["output_1"].tolist()


def test_scan_backwards(check: Any) -> None:
    """An input read from its end; an output that grows at its front."""
    found = check(_scan((3, 2), scan_input_directions=[1]).graph, {"x": X, "rows": ROWS})
    assert [[6, 8], [9, 12], [10, 14]] == found.outputs["output_1"].tolist()
    found = check(_scan((3, 2), scan_output_directions=[1]).graph, {"x": X, "rows": ROWS})
    assert [[10, 14], [5, 8], [2, 4]] == found.outputs["output_1"].tolist()


@pytest.mark.parametrize(("into", "out"), [(1, 1), (-1, -1), (1, 0)])
def test_scan_along_other_axes(check: Any, into: int, out: int) -> None:
    """Elements are taken and put along the axes that are named, from the end if negative."""
    graph = _scan((2, 3), scan_input_axes=[into], scan_output_axes=[out]).graph
    found = check(graph, {"x": X, "rows": ROWS.T.copy()})
    expected = np.array([[2, 4], [5, 8], [10, 14]])
    assert (expected.T if out else expected).tolist() == found.outputs["output_1"].tolist()


def test_scan_of_nothing(check: Any) -> None:
    """No element: the states are the initial ones and the outputs are empty."""
    found = check(_scan((0, 2)).graph, {"x": X, "rows": ROWS[:0]})
    assert X.tolist() == found.outputs["output_0"].tolist()
    assert (0, 2) == found.outputs["output_1"].shape


def test_scan_inputs_must_agree_in_length(ops: OpRegistry, kernels: Kernels) -> None:
    """Two scanned inputs with different numbers of elements are an error that names the node."""
    build = GraphBuilder(source="onnx")
    a, b = build.data("a", (3, 2)), build.data("b", (2, 2))
    body = build.subgraph("g")
    body.net_output(body.op("Add", body.data("g/a", (2,)), body.data("g/b", (2,))))
    scan = build.op(
        "Scan",
        a,
        b,
        name="scan",
        shape=(3, 2),
        attrs={"onnx.num_scan_inputs": 2},
        subgraphs={"body": body},
    )
    build.net_output(scan)
    with pytest.raises(ExecutionError, match=r"node 'scan'.*its inputs have \[2, 3\] elements"):
        run_reference(build.graph, {"a": ROWS, "b": ROWS[:2]}, kernels, ops)
