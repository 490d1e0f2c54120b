"""Scratch, pools, weights, cleared outputs, gears, odd sizes: everything that isn't plain."""

from __future__ import annotations

import pytest

from ge_core.errors import GraphError, PlanError
from ge_core.ir import GraphBuilder, TensorDesc
from ge_core.memory import build_problem
from ge_core.ops import OpRegistry
from ge_core.targets import GENERIC, Target


def test_scratch_lives_while_its_node_runs(plan_graph) -> None:
    """It keeps off the node's inputs and outputs and its fellow areas, and is free behind."""
    build = GraphBuilder()
    first = build.op("Gen", name="a", shape=(64,), attrs={"workspace_bytes": [256, 128]})
    build.op("Relu", first, name="b", attrs={"workspace_bytes": [512]})
    planned = plan_graph(build)
    for other in ("a:0", "a:ws1"):
        assert not planned.may("a:ws0", other)
    assert planned.may("a:ws0", "b:ws0") and planned.may("a:ws1", "b:0")
    assert [area.name for area in planned.plan.workspace] == ["a:ws0", "a:ws1", "b:ws0"]


def test_scratch_that_is_kept_shares_with_nobody(plan_graph) -> None:
    """By its reuse flag in the arena; with session scope in a pool of its own."""
    build = GraphBuilder()
    kept = {"workspace_bytes": [128, 128], "workspace_reuse_flag": [True, False]}
    session = {"workspace_bytes": [128, 64], "_workspace_memory_no_reuse_scope": [0, 1]}
    build.op("Relu", build.op("Gen", name="a", shape=(16,), attrs=kept), name="b", attrs=session)
    planned = plan_graph(build)
    assert planned.may("a:ws0", "b:ws0") and not planned.may("a:ws1", "b:ws0")
    assert planned.at("b:ws1").pool == "HBM_SESSION"
    assert planned.plan.pools["HBM_SESSION"].bytes == 64


@pytest.mark.parametrize("size", [-2, "64", None])
def test_scratch_sizes_are_checked(plan_graph, size: object) -> None:
    """-1 and 0 mean none; what is no size is an error that names the node."""
    build = GraphBuilder()
    build.op("Gen", name="fine", attrs={"workspace_bytes": [-1, 0]})
    assert plan_graph(build).plan.workspace == []
    build.op("Gen", name="odd", attrs={"workspace_bytes": [size]})
    with pytest.raises(GraphError, match="'odd'"):
        plan_graph(build)


def test_memory_types_have_pools_of_their_own(plan_graph) -> None:
    """By the producer's description, or a reader's wish by name or by GE's number."""
    build = GraphBuilder()
    far = TensorDesc.make("float32", (64,), mem_type="P2P")
    a = build.node("Gen", name="a", outputs=[far]).outputs[0]
    b, c = build.op("Relu", a, name="b", shape=(64,)), build.op("Gen", name="c", shape=(64,))
    build.op("Add", b, c, name="d", attrs={"_input_memory_type": [None, 17]})
    planned = plan_graph(build)
    pools = {name: planned.at(f"{name}:0").pool for name in "abcd"}
    assert pools == {"a": "P2P", "b": "HBM", "c": "P2P", "d": "HBM"}
    assert planned.plan.pools["P2P"].bytes == 256


def test_weights_lie_outside_the_arena(plan_graph) -> None:
    """Constants and variables have pools; what writes a variable in place is the variable."""
    build = GraphBuilder()
    constant = build.const("k", bytes(40), (10,))
    variable = build.op("Variable", name="v", shape=(16,))
    value = build.op("Foo", constant, name="value", shape=(16,))
    node = build.node("Assign", variable, value, name="set", reuse_input=0)
    build.op("Relu", node.outputs[0], name="r")
    planned = plan_graph(build)
    assert planned.at("k:0").pool == "CONST" and planned.plan.find("k:0").io == "constant"
    assert planned.at("set:0").pool == planned.at("v:0").pool == "VAR"
    assert planned.offset("set:0") == planned.offset("v:0")
    assert planned.plan.pools["CONST"].bytes == 40
    assert planned.plan.pools["HBM"].bytes == 64


def test_an_output_that_names_a_variable_is_that_variable(plan_graph) -> None:
    """GE marks such outputs with the variable's name."""
    build = GraphBuilder()
    build.op("Variable", name="v", shape=(16,))
    desc = TensorDesc.make("float32", (16,), attrs={"ref_var_src_var_name": "v"})
    build.node("Gen", name="g", outputs=[desc])
    planned = plan_graph(build)
    assert (planned.at("g:0").pool, planned.offset("g:0")) == ("VAR", planned.offset("v:0"))


def test_a_cleared_output_is_in_use_from_the_clearing_on(plan_graph) -> None:
    """What lives between the clearing and the producer keeps off it."""
    build = GraphBuilder()
    clear = build.node("MemSet", name="clear", outputs=[])
    a = build.op("Gen", name="a", shape=(64,))
    b = build.op("Relu", a, name="b")
    attrs = {"is_atomic_node": True, "atomic_output_index": [0]}
    build.op("ScatterAdd", b, name="sum", attrs=attrs, control=[clear])
    assert not plan_graph(build).may("sum:0", "a:0")


def test_an_output_is_not_cleared_and_aliased_at_once(plan_graph) -> None:
    """Clearing it beforehand would clear the input."""
    build = GraphBuilder()
    clear = build.node("MemSet", name="clear", outputs=[])
    a = build.op("Gen", name="a", shape=(64,))
    attrs = {"is_atomic_node": True, "atomic_output_index": [-1]}
    build.op("ScatterAdd", a, name="sum", attrs=attrs, control=[clear], reuse_input=0)
    with pytest.raises(PlanError, match="sum:0 can't be cleared beforehand"):
        plan_graph(build)


@pytest.mark.parametrize("streams", [1, 2])
def test_gears_never_run_together(plan_graph, streams: int) -> None:
    """Nodes of two gears may share; a node without a label runs in both."""
    build = GraphBuilder()
    pre = build.op("Gen", name="pre", shape=(64,))
    ends = []
    for gear in ("g0", "g1"):
        attrs = {"_batch_label": gear, "stream_id": streams - 1}
        first = build.op("Relu", pre, name=f"{gear}a", attrs=attrs)
        ends.append(build.op("Relu", first, name=f"{gear}b", attrs=attrs))
    build.op("Merge", *ends, name="merge")
    planned = plan_graph(build)
    assert planned.may("g0a:0", "g1a:0")
    assert planned.offset("g0b:0") == planned.offset("g1b:0")
    assert not planned.may("g0a:0", "g0b:0") and not planned.may("pre:0", "g1a:0")


def test_a_reader_without_a_gear_keeps_both_alive(plan_graph) -> None:
    """It runs in every gear."""
    build = GraphBuilder()
    pre = build.op("Gen", name="pre", shape=(64,))
    parts = [
        build.op("Relu", pre, name=gear, attrs={"_batch_label": gear}) for gear in ("g0", "g1")
    ]
    build.op("Foo", *parts, name="both", shape=(8,))
    assert not plan_graph(build).may("g0:0", "g1:0")


def test_tensors_without_a_size_are_not_planned(plan_graph) -> None:
    """Neither is what shares their memory; the plan lists them, and the compile warns of them."""
    build = GraphBuilder()
    open_end = TensorDesc.make("float32", (-1, 4))
    a = build.node("Foo", build.data("x"), name="a", outputs=[open_end]).outputs[0]
    view = build.op("Reshape", a, name="view", shape=(16,), reuse_input=0)
    text = build.op("Gen", name="text", shape=(2,), dtype="string")
    build.node("Gen", name="nothing", outputs=[TensorDesc.make("undefined", ())])
    build.op("Foo", view, text, name="b", shape=(16,))
    planned = plan_graph(build)
    assert planned.plan.unplanned == ["a:0", "view:0", "text:0"]


def test_a_view_made_at_run_time_reads_its_inputs(plan_graph) -> None:
    """Without a planned place for it something runs there, and the shape it reads must live."""
    build = GraphBuilder()
    shape = build.op("Gen", name="shape", shape=(2,), dtype="int64")
    build.op("Relu", build.op("Gen", name="between", shape=(4,)), name="after")
    source = build.node("Gen", name="g", outputs=[TensorDesc.make("float32", (-1,))]).outputs[0]
    view = build.node("Reshape", source, shape, name="view", shape=(-1, 4), reuse_input=0)
    build.op("Relu", view.outputs[0], name="end", shape=(4,))
    assert not plan_graph(build).may("shape:0", "between:0")


def test_empty_and_narrow_tensors(plan_graph) -> None:
    """No elements take no bytes, a scalar takes its own, 4-bit elements are packed."""
    build = GraphBuilder()
    for name, shape, dtype in (
        ("none", (0, 4), "float32"),
        ("one", (), "float32"),
        ("i4", (3,), "int4"),
    ):
        build.op("Gen", name=name, shape=shape, dtype=dtype)
    planned = plan_graph(build)
    assert [planned.at(f"{name}:0").bytes for name in ("none", "one", "i4")] == [0, 4, 2]
    assert len(planned.problem.clusters) == 2


def test_capacity_is_checked(plan_graph) -> None:
    """A pool that is too small is an error that says how much is missing."""
    build = GraphBuilder()
    build.op("Relu", build.op("Gen", name="a", shape=(64,)), name="b")
    target = Target("small", align_bytes=64, pools={"HBM": 300})
    with pytest.raises(PlanError, match="pool HBM needs 512 bytes and has 300"):
        plan_graph(build, target=target)


def test_a_list_that_is_no_order_is_put_in_one(ops: OpRegistry) -> None:
    """Positions are those of the topological order closest to the listing."""
    build = GraphBuilder()
    late = build.op("Gen", name="late", shape=(16,))
    reader = build.graph.add_node("Relu", "early", [late], [late.desc], before=late.node)
    _, facts = build_problem(build.graph, ops, GENERIC)
    assert [node.name for node in facts.work.nodes] == ["late", reader.name]
