"""What one op writes overlaps neither itself nor what it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ge_core.ir import Graph, GraphBuilder, TensorDesc, clone
from ge_core.memory import Plan, PlanWorkspace
from ge_core.proof import ProofResult

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]
Planned = Callable[..., Plan]


def test_two_outputs_of_one_op_in_one_buffer_are_found(prove: Prove) -> None:
    """Values and indices of TopK can't lie in one place, even when only one of them is read."""
    build = GraphBuilder()
    desc = TensorDesc.make("float32", (16,))
    top = build.node("TopK", build.data("x"), name="top", outputs=[desc, desc])
    build.net_output(build.op("Relu", top.outputs[1], name="reader"))
    result = prove(build.graph, {"top:0": 64, "top:1": 64})
    assert [(v.check, v.node, v.range) for v in result.violations] == [
        ("one_op", "top", ("HBM", 64, 128))
    ]


def test_an_output_on_its_own_input_is_found(found: Found) -> None:
    """MatMul reads its inputs while it writes: it can't work in place."""
    build = GraphBuilder()
    a, b = build.op("Relu", build.data("x"), name="a"), build.data("b")
    build.net_output(build.op("MatMul", a, b, name="product"))
    assert found(build.graph, {"a:0": 64, "product:0": 64}) == [("one_op", "product")]


@pytest.mark.parametrize("shift", [-16, 4, 48])
def test_in_place_means_exactly_the_same_bytes(found: Found, shift: int) -> None:
    """An op that may write in place may not write beside its input."""
    build = GraphBuilder()
    value = build.op("Relu", build.op("Mul", build.data("x"), name="a"), name="b")
    build.net_output(value)
    assert found(build.graph, {"a:0": 128, "b:0": 128 + shift}) == [("one_op", "b")]
    assert found(build.graph, {"a:0": 128, "b:0": 128}) == []


def test_in_place_needs_an_input_that_no_other_input_uses(found: Found) -> None:
    """An input read twice is not the op's to overwrite."""
    build = GraphBuilder()
    a, b = (build.op("Mul", build.data(f"in_{n}"), name=n) for n in "ab")
    build.net_output(build.op("Add", a, b, name="sum"), build.op("Add", a, a, name="twice"))
    apart = {"a:0": 1024, "b:0": 1088, "sum:0": 1088, "twice:0": 1152}
    assert found(build.graph, apart) == []
    assert found(build.graph, {**apart, "twice:0": 1024}) == [("one_op", "twice")] * 2


def test_an_attribute_may_declare_what_works_in_place(found: Found) -> None:
    """GE marks in-place ability on nodes and on outputs, besides the op's own traits."""
    for on_node in (True, False):
        build = GraphBuilder()
        a = build.op("Mul", build.data("x"), name="a")
        attrs = {} if on_node else {"_inplace_support_input_index": 0}
        node = build.node(
            "MatMul",
            a,
            name="b",
            outputs=[a.desc.replace(attrs=attrs)],
            attrs={"_output_inplace_ability": [[0, 0]]} if on_node else {},
        )
        build.net_output(node.outputs[0])
        assert found(build.graph, {"a:0": 64, "b:0": 64}) == []


def test_a_mark_that_a_pass_set_is_no_ability(prove: Prove, planned: Planned) -> None:
    """That nobody would notice says nothing about what the op can do."""
    build = GraphBuilder()
    a = build.op("Mul", build.data("x"), name="a")
    product = build.op("MatMul", a, name="b")
    build.net_output(product)
    marked = clone(build.graph)
    output = marked.node("b").outputs[0]
    marked.set_desc(output, output.desc.with_attr("_inplace_support_input_index", 0))
    plan = planned(marked, {"a:0": 64, "b:0": 64})
    result = prove(marked, original=build.graph, plan=plan)
    assert [("one_op", "b")] == [(v.check, v.node) for v in result.violations]


def test_scratch_overlaps_nothing_of_its_op(prove: Prove, planned: Planned) -> None:
    """Scratch may lie neither on an input nor on an output of its op."""
    build = GraphBuilder()
    x = build.data("x")
    build.net_output(build.op("Mul", x, name="a", attrs={"workspace_bytes": [16]}))
    graph = build.graph
    for place, expected in ((0, ["one_op", "permission"]), (64, ["one_op"]), (128, [])):
        plan = planned(graph, {"x:0": 0, "a:0": 64})
        area = PlanWorkspace((), "a", 0, "HBM", place, 16)
        pools = {"HBM": replace(plan.pools["HBM"], bytes=192)}
        plan = replace(plan, workspace=[area], pools=pools)
        result = prove(graph, plan=plan)
        assert [v.check for v in result.violations if v.node == "a"] == expected


def test_aliases_are_no_overlaps(found: Found) -> None:
    """A view and an updated input lie where their input lies."""
    build = GraphBuilder()
    variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
    view = build.op("Reshape", variable, name="view", shape=(16,), reuse_input=0)
    value = build.data("x", (16,))
    build.net_output(build.op("Update", view, value, name="update", reuse_input=0))
    assert found(build.graph) == []


def test_an_update_must_not_read_what_it_changes_through_another_input(found: Found) -> None:
    """Two inputs that were apart may not become one memory when the op writes one of them."""

    def graph() -> Graph:
        build = GraphBuilder()
        target, value = (build.op("Mul", build.data(f"in_{n}"), name=n) for n in "ab")
        build.net_output(build.op("Update", target, value, name="update", reuse_input=0))
        return build.graph

    assert found(graph(), {"a:0": 1024, "b:0": 1088}) == []
    assert ("one_op", "update") in found(graph(), {"a:0": 1024, "b:0": 1040})


def test_an_update_that_reads_its_own_target_does_so_in_the_original_too(found: Found) -> None:
    """What the original reads twice from one memory, the compiled graph may."""
    build = GraphBuilder()
    value = build.op("Mul", build.data("x"), name="a")
    build.net_output(build.op("Update", value, value, name="update", reuse_input=0))
    assert found(build.graph) == []


def test_a_store_may_find_its_value_in_place(found: Found) -> None:
    """Assign reads no old value: a value computed into the variable makes it a store of nothing."""
    build = GraphBuilder()
    variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
    value = build.op("Relu", build.data("x"), name="value")
    build.net_output(build.op("Assign", variable, value, name="store", reuse_input=0))
    assert found(build.graph) == []
    assert found(build.graph, {"value:0": ("VAR", 0)}) == []


def test_a_copy_may_not_overlap_what_it_copies(found: Found) -> None:
    """A copy that moves bytes onto its own source is wrong, wholly or in part."""
    for place in (64, 96):
        build = GraphBuilder()
        a = build.op("Mul", build.data("x"), name="a")
        build.net_output(build.op("TensorMove", a, name="copy"))
        assert found(build.graph, {"a:0": 64, "copy:0": place}) == [("one_op", "copy")]


def test_many_outputs_are_compared_with_their_neighbours_only(prove: Prove) -> None:
    """A split with thousands of outputs is checked; one misplaced piece is found."""
    count = 3000
    build = GraphBuilder()
    piece = TensorDesc.make("float32", (16,))
    node = build.node(
        "SplitD",
        build.data("x", (count * 16,)),
        name="split",
        outputs=[piece] * count,
        attrs={"split_dim": 0, "num_split": count},
    )
    build.net_output(node.outputs[0])
    places = {f"split:{at}": 64 * (count + at) for at in range(count)}
    assert prove(build.graph, places).ok
    result = prove(build.graph, {**places, "split:7": places["split:8"]})
    assert [(v.check, v.node) for v in result.violations] == [("one_op", "split")]
