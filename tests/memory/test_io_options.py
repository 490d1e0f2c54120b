"""Graph inputs and outputs, what callers offer, and the options that forbid sharing."""

from __future__ import annotations

import pytest

from ge_core.ir import GraphBuilder
from ge_core.memory import PlanOptions, build_problem
from ge_core.ops import OpRegistry
from ge_core.targets import GENERIC


def chain(length: int = 4, width: int = 64) -> GraphBuilder:
    """x -> i1 -> ... -> output."""
    build = GraphBuilder()
    value = build.data("x", (width,))
    for at in range(1, length + 1):
        value = build.op("Relu", value, name=f"i{at}")
    build.net_output(value)
    return build


def test_inputs_and_outputs_share_with_nobody(plan_graph) -> None:
    """They are the caller's from the start of the run to its end."""
    planned = plan_graph(chain())
    for name in ("i1:0", "i2:0", "i3:0", "i4:0"):
        assert not planned.may("x:0", name)
    assert not planned.may("i4:0", "i1:0")
    assert planned.may("i1:0", "i3:0")
    assert [planned.plan.find(name).io for name in ("x:0", "i2:0", "i4:0")] == [
        "input",
        None,
        "output",
    ]


def test_an_offered_input_is_free_after_its_last_reader(plan_graph) -> None:
    """Its content is there from the start, so that it takes nobody's place itself."""
    planned = plan_graph(chain(), {"ge.exec.inputReuseMemIndexes": "0"})
    assert planned.may("x:0", "i2:0") and not planned.may("x:0", "i1:0")


def test_an_offered_input_that_the_graph_updates_is_kept(plan_graph) -> None:
    """What an op writes into it in place is for the caller to find there."""
    build = GraphBuilder()
    x = build.data("x", (64,))
    value = build.op("Gen", name="value", shape=(64,))
    updated = build.op("Assign", x, value, name="set", reuse_input=0)
    build.op("Relu", build.op("Relu", updated, name="i1"), name="i2")
    planned = plan_graph(build, {"ge.exec.inputReuseMemIndexes": "0"})
    assert not planned.may("x:0", "i2:0")


def test_an_offered_output_is_free_before_it_is_written(plan_graph) -> None:
    """Behind that it stays until the end."""
    planned = plan_graph(chain(), {"ge.exec.outputReuseMemIndexes": "0"})
    assert planned.may("i4:0", "i1:0") and not planned.may("i4:0", "i3:0")


def test_two_of_the_callers_buffers_stay_apart(plan_graph) -> None:
    """Both offered, and their lives apart: but the caller gives two addresses."""
    planned = plan_graph(
        chain(),
        {"ge.exec.inputReuseMemIndexes": "0", "ge.exec.outputReuseMemIndexes": "0"},
    )
    assert not planned.may("x:0", "i4:0")
    assert planned.share("x:0", "i2:0") or planned.share("i4:0", "i1:0")


def test_what_borrows_memory_of_the_callers_lies_inside_it(plan_graph) -> None:
    """A temporary larger than the offered input keeps off it altogether."""
    build = GraphBuilder()
    small = build.op("Relu", build.data("x", (16,)), name="small")
    wide = build.op("Foo", small, name="wide", shape=(64,))
    build.op("Foo", wide, name="end", shape=(8,))
    planned = plan_graph(build, {"ge.exec.inputReuseMemIndexes": "0"})
    assert planned.may("x:0", "wide:0") and not planned.share("x:0", "wide:0")


def test_a_pair_at_one_address_lies_at_one_place(plan_graph) -> None:
    """The caller passes one address for input 0 and output 0."""
    planned = plan_graph(chain(), {"ge.exec.outputReuseInputMemIndexes": "0,0"})
    assert planned.offset("x:0") == planned.offset("i4:0")


def test_a_pair_that_would_destroy_its_input_stays_apart(plan_graph) -> None:
    """The output is written by the reader of the input: both are needed at once."""
    planned = plan_graph(chain(1), {"ge.exec.outputReuseInputMemIndexes": "0,0"})
    assert not planned.share("x:0", "i1:0")


@pytest.mark.parametrize("how", ["reference input", "updated input", "two results"])
def test_a_pair_costs_nobody_else_his_result(plan_graph, how: str) -> None:
    """An input that holds a result itself, and an output that is another one too, stay apart."""
    build = GraphBuilder()
    if how == "reference input":
        x = build.node("RefData", name="x", shape=(64,), attrs={"index": 0}).outputs[0]
    else:
        x = build.data("x", (64,))
    if how == "updated input":
        build.op("Assign", x, build.data("y", (64,)), name="kept", reuse_input=0)
    made = build.op("Relu", build.op("Relu", build.data("z", (64,)), name="i1"), name="i2")
    build.net_output(*[made] * (2 if how == "two results" else 1))
    planned = plan_graph(build, {"ge.exec.outputReuseInputMemIndexes": "0,0"})
    assert planned.offset("x:0") != planned.offset("i2:0")
    both = plan_graph(build, {"ge.exec.outputReuseInputMemIndexes": "0,0|0,1"})
    assert (both.offset("x:0") == both.offset("i2:0")) == (how == "two results")


def test_views_of_inputs_and_outputs_are_the_callers_too(plan_graph) -> None:
    """A view has the address and the protection of what it views."""
    build = GraphBuilder()
    first = build.op("Reshape", build.data("x", (64,)), name="v", shape=(8, 8), reuse_input=0)
    made = build.op("Relu", build.op("Relu", first, name="i1"), name="i2")
    build.net_output(build.op("Reshape", made, name="w", shape=(64,), reuse_input=0))
    planned = plan_graph(build)
    assert planned.offset("v:0") == planned.offset("x:0")
    assert planned.offset("w:0") == planned.offset("i2:0")
    assert not planned.may("v:0", "i2:0") and not planned.may("i2:0", "i1:0")


def test_without_reuse_only_aliases_share(plan_graph) -> None:
    """Every buffer has bytes of its own; a view is still its buffer."""
    build = chain()
    build.op("Reshape", build.graph.node("i2").outputs[0], name="v", reuse_input=0)
    planned = plan_graph(build, {"ge.exec.disableReuseMemory": "1"})
    assert planned.plan.pools["HBM"].bytes == 5 * 256
    assert planned.offset("v:0") == planned.offset("i2:0")


@pytest.mark.parametrize(("value", "apart"), [("i2", True), ("Relu", True), ("Add,nobody", False)])
def test_named_ops_share_with_nobody(plan_graph, value: str, apart: bool) -> None:
    """OP_NO_REUSE_MEM takes names of nodes and op types."""
    planned = plan_graph(chain(6), {"OP_NO_REUSE_MEM": value})
    assert planned.may("i2:0", "i4:0") == (not apart)


def test_an_op_may_ask_to_share_with_nobody(plan_graph) -> None:
    """The attribute says it for one node."""
    build = chain(6)
    build.graph.set_attr(build.graph.node("i2"), "no_reuse_mem_flag", True)
    planned = plan_graph(build)
    assert not planned.may("i2:0", "i4:0") and planned.may("i3:0", "i5:0")


def test_indexes_that_nothing_has_are_warnings(ops: OpRegistry) -> None:
    """The defaults stay, and the compile says what it left out."""
    options = {"ge.exec.inputReuseMemIndexes": "7,x", "ge.exec.outputReuseMemIndexes": "3"}
    _, facts = build_problem(chain().graph, ops, GENERIC, options)
    assert facts.warnings == [
        "option ge.exec.inputReuseMemIndexes: 'x' is no index: it and what follows it are left out",
        "option ge.exec.inputReuseMemIndexes: there is no graph input 7",
        "option ge.exec.outputReuseMemIndexes: there is no graph output 3",
    ]


def test_a_list_of_ops_that_is_too_long_is_left_out() -> None:
    """GE drops more than ten names; so do we, and say so."""
    warnings: list[str] = []
    options = PlanOptions.read({"OP_NO_REUSE_MEM": ",".join("abcdefghijk")}, warnings)
    assert options.no_reuse == frozenset()
    assert len(warnings) == 1 and "longer than 10 names" in warnings[0]


def test_version_suffixes_of_op_types_do_not_count() -> None:
    """MatMulV2 is MatMul to the option, and the other way round."""
    assert PlanOptions.read({"OP_NO_REUSE_MEM": "MatMul"}).keeps_apart("n", "MatMulV2")
    assert PlanOptions.read({"OP_NO_REUSE_MEM": "MatMulV3"}).keeps_apart("n", "MatMul")
    assert not PlanOptions.read({"OP_NO_REUSE_MEM": "MatMul"}).keeps_apart("n", "MatMulV9")


@pytest.mark.parametrize("streams", [1, 2])
def test_an_offered_input_without_readers_keeps_off_other_inputs(plan_graph, streams: int) -> None:
    """All inputs are filled when the run starts, however many streams there are."""
    build = GraphBuilder()
    build.data("unused", (64,))
    value = build.data("x", (64,))
    for at in range(4):
        value = build.op("Relu", value, name=f"i{at}", attrs={"stream_id": at % streams})
    build.net_output(value)
    planned = plan_graph(build, {"ge.exec.inputReuseMemIndexes": "0"})
    assert not planned.may("unused:0", "x:0")
    assert planned.may("unused:0", "i1:0")
