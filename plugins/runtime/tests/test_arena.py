"""Runs inside planned arenas: equal to the reference for right plans, and not for wrong ones."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.api import (
    Graph,
    GraphBuilder,
    KernelContext,
    Kernels,
    Node,
    OpRegistry,
    OpTraits,
    Plan,
    PlanTensor,
    TensorDesc,
    generate_tasks,
)
from ge_core.memory import PoolTotals, plan_from
from ge_core.memory.build import build_problem
from ge_core.targets import GENERIC
from ge_core.testing import DrawnChoices, GraphKnobs, disjoint_plan, random_graph
from ge_runtime.compare import compare, differing_reads
from ge_runtime.defaults import default_kernels, default_ops
from ge_runtime.errors import ExecutionError
from ge_runtime.executor import NumpyExecutor
from ge_runtime.linear import execute_linearisation, random_linearisations
from ge_runtime.reference import run_reference
from ge_runtime.result import RunResult
from ge_runtime.sources import make_feeds

OPS, KERNELS = default_ops(), default_kernels()


def _agree(one: RunResult, other: RunResult) -> bool:
    """Whether two runs have equal outputs, variables and reads."""
    pairs = (*compare(one.outputs, other.outputs), *compare(one.variables, other.variables))
    assert one.reads is not None and other.reads is not None
    return all(c.bit_exact for c in pairs) and not differing_reads(one.reads, other.reads)


def _tight_plan(graph: Graph, ops: OpRegistry = OPS) -> Plan:
    """First fit, by size: everything shares what it may."""
    problem, facts = build_problem(graph, ops, GENERIC)
    for cluster in sorted(problem.clusters, key=lambda c: (-c.size, c.name)):
        problem.place(cluster, problem.lowest_free(cluster))
    return plan_from(problem, problem.placement(), facts)


@settings(max_examples=40)
@given(data=st.data(), streams=st.integers(1, 3), hostile=st.booleans())
def test_any_graph_runs_in_a_tight_arena(data: Any, streams: int, hostile: bool) -> None:
    """Lives, poison and reuse change nothing; neither do other orders of several streams."""
    knobs = GraphKnobs(nodes=8, streams=streams)
    graph = random_graph(DrawnChoices(data.draw), knobs)
    feeds = make_feeds(graph, OPS)
    expected = run_reference(graph, feeds, record_reads=True)
    plan = _tight_plan(graph)
    tasks = generate_tasks(graph, OPS, plan)
    executor = NumpyExecutor(OPS, KERNELS, hostile=hostile, record_reads=True)
    assert _agree(expected, executor.run(graph, plan, tasks, feeds))
    for order in random_linearisations(tasks, random.Random(0), 2):
        found = execute_linearisation(
            graph, plan, tasks, order, feeds, hostile=hostile, record_reads=True
        )
        assert _agree(expected, found)


@settings(max_examples=40)
@given(data=st.data(), skew=st.booleans(), in_place=st.booleans())
def test_any_graph_runs_where_nothing_is_shared(data: Any, skew: bool, in_place: bool) -> None:
    """Disjoint plans, aligned or a byte off, with loops in place or on slots of their own."""
    graph = random_graph(DrawnChoices(data.draw), GraphKnobs(nodes=8))
    feeds = make_feeds(graph, OPS)
    expected = run_reference(graph, feeds, record_reads=True)
    plan = disjoint_plan(graph, OPS, skew=skew, while_in_place=in_place)
    tasks = generate_tasks(graph, OPS, plan)
    found = NumpyExecutor(OPS, record_reads=True).run(graph, plan, tasks, feeds)
    assert _agree(expected, found)


# ---- wrong plans ---------------------------------------------------------------------------------


def _diamond(op: str = "Foo") -> Graph:
    """x -> a, b; c of both. Listed in this order."""
    build = GraphBuilder()
    x = build.data("x")
    a = build.op("Relu", x, name="a")
    b = build.op("Bar", x, name="b")
    build.net_output(build.op(op, a, b, name="c", attrs={"workspace_bytes": [64]}))
    return build.graph


def _moved(plan: Plan, **offsets: int) -> Plan:
    """The plan with some nodes' outputs elsewhere."""
    tensors = [replace(t, offset=offsets.get(t.node, t.offset)) for t in plan.tensors]
    return Plan(pools=plan.pools, tensors=tensors, workspace=plan.workspace)


def _runs_right(graph: Graph, plan: Plan, ops: OpRegistry = OPS, **options: bool) -> bool:
    feeds = make_feeds(graph, ops)
    tasks = generate_tasks(graph, ops, plan)
    executor = NumpyExecutor(ops, KERNELS, record_reads=True, **options)
    found = executor.run(graph, plan, tasks, feeds)
    return _agree(run_reference(graph, feeds, ops=ops, record_reads=True), found)


def test_two_tensors_in_use_on_one_place_are_found_out() -> None:
    """The second producer poisons and overwrites the first, and their reader reads that."""
    plan = disjoint_plan(_diamond(), OPS)
    a = plan.at((), "a", 0)
    assert a is not None
    assert _runs_right(_diamond(), plan)
    assert not _runs_right(_diamond(), _moved(plan, b=a.offset))
    assert not _runs_right(_diamond(), _moved(plan, b=a.offset + 60))


def test_scratch_over_an_output_or_a_live_tensor_is_found_out() -> None:
    """Scratch is filled before the node runs, so whatever else lies there is lost."""
    graph = _diamond()
    plan = disjoint_plan(graph, OPS)
    x, other = plan.at((), "x", 0), plan.at((), "a", 0)
    assert x is not None and other is not None
    build = GraphBuilder()
    first = build.data("x")
    busy = build.op("Relu", first, name="busy", attrs={"workspace_bytes": [64]})
    build.net_output(build.op("Add", busy, first))
    plan = disjoint_plan(build.graph, OPS)
    assert _runs_right(build.graph, plan)
    late = build.op("Relu", busy, name="late", attrs={"workspace_bytes": [64]})
    build.graph.rewire(build.graph.node("NetOutput").inputs[0], late)
    plan = disjoint_plan(build.graph, OPS)
    plan.workspace = [replace(w, offset=0) for w in plan.workspace]
    assert "x" == plan.tensors[0].node and 0 == plan.tensors[0].offset
    outcome = build.op("Foo", late, first, name="outcome")
    build.graph.rewire(build.graph.node("NetOutput").inputs[0], outcome)
    again = disjoint_plan(build.graph, OPS)
    again.workspace = plan.workspace
    assert not _runs_right(build.graph, again)


@pytest.mark.parametrize(
    ("inplace", "right"), [(((0, 0),), True), ((), False), (((0, 0), (0, 1)), True)]
)
def test_an_output_on_its_own_input(inplace: tuple[tuple[int, int], ...], right: bool) -> None:
    """A hostile run tells ops that may work in place from those that may not."""
    ops = OpRegistry()
    for _, traits in OPS:
        if ops.of(traits.op, "ge").known is False:
            ops.add(traits, "*")
    ops.add(OpTraits("Foo", inplace=inplace), "ge")
    graph = _diamond()
    plan = disjoint_plan(graph, ops)
    a = plan.at((), "a", 0)
    assert a is not None
    assert right == _runs_right(graph, _moved(plan, c=a.offset), ops, hostile=True)
    assert _runs_right(graph, _moved(plan, c=a.offset), ops, hostile=False)


def test_an_output_half_on_its_own_input_is_spared_only_there() -> None:
    """Bytes of an input are not poisoned before the kernel runs, those beside it are."""
    graph = _diamond()
    plan = disjoint_plan(graph, OPS)
    a = plan.at((), "a", 0)
    assert a is not None
    tasks = generate_tasks(graph, OPS, _moved(plan, c=a.offset + 32))
    from ge_runtime.layout import Layout

    layout = Layout(graph, OPS, plan, tasks)
    task = tasks.tasks[-1]
    views = layout.poison_before(task, graph.node("c"), {})
    b = plan.at((), "b", 0)
    assert b is not None and b.offset == a.offset + 64
    # c covers the second half of a and the first half of b, both inputs; its scratch is left.
    assert [64] == [view.size for view in views]


def test_a_life_that_is_too_short_is_found_out() -> None:
    """Bytes are filled after the last access that the plan names: a later one reads that."""
    graph = _diamond()
    plan = disjoint_plan(graph, OPS)
    position = 2  # of node a
    plan.tensors = [replace(t, life=(0, position)) if t.node == "x" else t for t in plan.tensors]
    assert not _runs_right(graph, plan)
    assert _runs_right(graph, plan, fill_dead=False)


def test_what_is_older_than_a_loop_dies_with_it() -> None:
    """A value that every turn reads is not filled after the first, wherever its life ends."""
    build = GraphBuilder(source="onnx")
    x, w = build.data("x"), build.data("w")
    body = build.subgraph("b")
    value, outer = body.data("b/x", index=2), body.data("b/w", index=3)
    go = body.const("b/go", b"\1", (), "bool")
    body.net_output(go, body.op("ConcatD", value, outer, name="both", shape=(1, 16)))
    trips = build.const("M", (3).to_bytes(8, "little"), (), "int64")
    loop = build.op(
        "Loop",
        trips,
        None,
        x,
        build.op("TensorMove", w, name="copy"),
        attrs={"captured": 1},
        subgraphs={"body": body},
        name="loop",
        outputs=[x.desc],
    )
    build.net_output(loop)
    plan = disjoint_plan(build.graph, OPS)
    ends = {"copy": 9, "b/w": 9}  # the body's join
    plan.tensors = [
        replace(t, life=(0, ends[t.node])) if t.node in ends else t for t in plan.tensors
    ]
    assert _runs_right(build.graph, plan)


# ---- what else a run says ------------------------------------------------------------------------


def test_copies_are_counted_by_op() -> None:
    """Moves, joins, splits and whole-buffer stores, with the bytes each really moved."""
    build = GraphBuilder()
    x, y = build.data("x", (2, 8)), build.data("y", (2, 8))
    variable = build.node("Variable", name="v", shape=(2, 8)).outputs[0]
    move = build.op("TensorMove", x, attrs={"_source_op": "Identity"})
    join = build.op("ConcatD", move, y, shape=(4, 8), attrs={"concat_dim": 0})
    pieces = [TensorDesc.make("float32", (2, 8))] * 2
    split = build.node("SplitD", join, outputs=pieces, attrs={"split_dim": 0})
    store = build.op("Assign", variable, split.outputs[1], reuse_input=0)
    build.net_output(split.outputs[0], store)
    plan = disjoint_plan(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    found = NumpyExecutor(OPS).run(build.graph, plan, tasks, make_feeds(build.graph, OPS))
    expected = {"Assign": (1, 64), "ConcatD": (1, 128), "Identity": (1, 64), "SplitD": (1, 128)}
    assert expected == {op: (t.count, t.bytes) for op, t in found.copies_by_op.items()}
    assert (4, 384, 0) == (found.executed_copies, found.executed_copy_bytes, found.boundary_copies)


def test_operands_and_pieces_in_their_place_move_nothing() -> None:
    """A join that runs copies only what is not where it belongs; a move onto itself is none."""
    build = GraphBuilder()
    x, y = build.data("x", (1, 8)), build.data("y", (1, 8))
    join = build.op("ConcatD", x, y, name="join", shape=(1, 16), attrs={"concat_dim": 1})
    build.net_output(build.op("TensorMove", join, name="move"))
    plan = Plan(
        pools={"HBM": PoolTotals(160, 0, 160, False)},
        tensors=[
            PlanTensor((), "x", 0, "HBM", 64, 32, life=(0, 9)),
            PlanTensor((), "y", 0, "HBM", 0, 32, life=(0, 9)),
            PlanTensor((), "join", 0, "HBM", 64, 64, life=(0, 9)),
            PlanTensor((), "move", 0, "HBM", 64, 64, life=(0, 9)),
        ],
    )
    feeds = make_feeds(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    found = NumpyExecutor(OPS).run(build.graph, plan, tasks, feeds)
    assert {"ConcatD": (1, 32)} == {o: (t.count, t.bytes) for o, t in found.copies_by_op.items()}
    expected = np.concatenate([feeds["x"], feeds["y"]], axis=1)
    assert expected.tobytes() == found.outputs["output_0"].tobytes()


def test_tensors_without_a_place_are_reported_apart() -> None:
    """They get buffers of their own, named with their bytes; the arena is as planned."""
    build = GraphBuilder()
    x = build.data("x", (-1, 4))
    text = build.data("text", (2,), "string")
    build.net_output(build.op("Relu", x, name="open"), build.op("Relu", x), text)
    plan = disjoint_plan(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    feeds = {"x": np.ones((3, 4), np.float32), "text": np.array(["a", "b"], object)}
    found = NumpyExecutor(OPS).run(build.graph, plan, tasks, feeds)
    assert {"x:0": 48, "open:0": 48, "Relu:0": 48, "text:0": 0} == found.unplanned
    assert 144 == found.unplanned_bytes
    assert 0 == found.arena_bytes
    assert ["a", "b"] == found.outputs["output_2"].tolist()


def test_outputs_are_arrays_of_their_own() -> None:
    """Two outputs of one tensor, and an output that is an input, share memory with nothing."""
    build = GraphBuilder()
    x = build.data("x")
    build.net_output(x, x)
    plan = disjoint_plan(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    feeds = make_feeds(build.graph, OPS)
    executor = NumpyExecutor(OPS)
    found = list(executor.run(build.graph, plan, tasks, feeds).outputs.values())
    again = list(executor.run(build.graph, plan, tasks, feeds).outputs.values())
    arrays = [*found, *again, feeds["x"]]
    for at, one in enumerate(arrays):
        for other in arrays[at + 1 :]:
            assert not np.shares_memory(one, other)


def test_a_failing_kernel_is_named(kernels: Kernels) -> None:
    """The error says which node, on which call path, and who brought the kernel."""
    build = GraphBuilder(source="onnx")
    body = build.subgraph("g")
    body.net_output(body.op("Gelu", body.data("g/x"), name="g/gelu"))
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": body})
    build.net_output(call)
    feeds = make_feeds(build.graph, OPS)
    with pytest.raises(ExecutionError, match=r"'call/g/gelu' of op 'Gelu'.*no installed plugin"):
        run_reference(build.graph, feeds, kernels)


def too_long(node: Node, inputs: list[Any], ctx: KernelContext) -> list[Any]:
    """A kernel that answers one element too many."""
    return [np.zeros(17, np.float32)]


def test_a_result_that_does_not_fit_is_named(kernels: Kernels) -> None:
    """A kernel that answers another size than the node declares is an error, not an overflow."""
    build = GraphBuilder()
    build.net_output(build.op("Bad", build.data("x", (16,)), name="bad"))
    kernels.add("Bad", f"{__name__}:too_long")
    plan = disjoint_plan(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    executor = NumpyExecutor(OPS, kernels)
    with pytest.raises(ExecutionError, match=r"node 'bad' .* float32\[17\] does not fit"):
        executor.run(build.graph, plan, tasks, make_feeds(build.graph, OPS))


def test_sequences_and_missing_optionals_travel_as_objects() -> None:
    """Through moves, arms and outputs; their arrays are nobody else's at the end."""
    build = GraphBuilder()
    kind = TensorDesc.make("undefined", None)
    cond, items = build.data("cond", (), "bool"), build.data("items", desc=kind)
    nothing = build.data("nothing", desc=kind)
    arms = {}
    for label in ("then_branch", "else_branch"):
        arm = build.subgraph(label)
        inner = arm.data(f"{label}/items", index=1, desc=kind)
        moved = arm.op("TensorMove", inner, name=f"{label}/move", outputs=[kind])
        arm.net_output(moved if label == "then_branch" else inner)
        arms[label] = arm
    choice = build.op("If", cond, items, name="if", subgraphs=arms, outputs=[kind])
    build.net_output(choice, nothing)
    plan = disjoint_plan(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    for value in (True, False):
        fed = [np.ones(2, np.float32), np.zeros((1, 3), np.int64)]
        feeds = {"cond": np.bool_(value), "items": fed, "nothing": None}
        expected = run_reference(build.graph, feeds).outputs
        found = NumpyExecutor(OPS).run(build.graph, plan, tasks, feeds).outputs
        assert all(c.bit_exact for c in compare(expected, found))
        assert [[1, 1], [[0, 0, 0]]] == [item.tolist() for item in found["output_0"]]
        assert None is found["output_1"]
        assert not any(np.shares_memory(a, b) for a, b in zip(fed, found["output_0"], strict=True))


@pytest.mark.parametrize("elements", [1 << 44, 1 << 61])
def test_memory_that_cannot_be_had_is_an_error(elements: int) -> None:
    """An arena or an input too large for the machine, or for any, is named with its size."""
    build = GraphBuilder()
    build.net_output(build.op("Relu", build.data("x", (elements,)), name="act"))
    plan = disjoint_plan(build.graph, OPS)
    tasks = generate_tasks(build.graph, OPS, plan)
    with pytest.raises(ExecutionError, match=rf"input 'x' is float32\[{elements}\], more than"):
        make_feeds(build.graph, OPS)
    with pytest.raises(ExecutionError, match=r"pool HBM needs \d+ bytes, more than can be had"):
        NumpyExecutor(OPS).run(build.graph, plan, tasks, {})
