"""SetInputOutputOffsetPass: what GE writes onto the ends of a graph for zero copy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, Node, PassContext, Plan, PlanTensor, Target, TensorDesc
from ge_core.session.result import Result
from ge_memassign.io_offsets import (
    BASIC,
    FFTS_PLUS,
    FUSION_OFFSET,
    RELATIVE,
    TO_DATA,
    TO_RESULT,
    SetInputOutputOffsetPass,
)

ROW = TensorDesc.make("float32", (1, 16))
CONFLICTS = "MemLayoutConflictOptimizer"
"""Would put a copy in front of the output, behind which nothing is connected any more."""
TWO = TensorDesc.make("float32", (2, 16))
PLACED = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "concat_dim": 0,
    "N": 2,
}


def joined(
    marks: dict[str, object], *, fused: tuple[bool, bool] = (True, True), used: bool = False
) -> Result:
    """A join without a task whose result goes out, at O0: everything stays as it is given."""
    build = GraphBuilder()
    x = build.data("x", (1, 16))
    parts = [
        build.op("Relu", x, name=name, outputs=[ROW], attrs={FUSION_OFFSET: [0]} if on else {})
        for name, on in zip("ab", fused, strict=True)
    ]
    attrs = {**PLACED, TO_RESULT: [0], **marks}
    two = TensorDesc.make("float32", (2, 16))
    whole = build.op("ConcatD", *parts, name="cat", outputs=[two], attrs=attrs)
    build.net_output(build.op("Relu", whole, name="use", outputs=[two]) if used else whole)
    return ge.compile(build.graph, level="O0")


def lists(node: Node) -> tuple[object, object]:
    """Both lists of a node."""
    return node.attrs.get(BASIC), node.attrs.get(RELATIVE)


def test_operands_of_a_fused_join_are_told_to_the_output() -> None:
    """One entry for each: where the join is, and how far behind the operand lies."""
    result = joined({})
    at = result.plan.find("cat:0").offset
    assert ([at, at], [0, 64]) == lists(result.graph.node("NetOutput"))


def test_without_a_netoutput_the_first_reader_stands_for_it() -> None:
    """Some op between the join and the graph's end."""
    result = joined({}, used=True)
    at = result.plan.find("cat:0").offset
    assert ([at, at], [0, 64]) == lists(result.graph.node("use"))


@pytest.mark.parametrize("fused", [(True, False), (False, False)])
def test_a_plain_join_is_left_to_the_loader(fused: tuple[bool, bool]) -> None:
    """ConcatNotaskPass sets no `continuous_input`: GE writes nothing then."""
    assert (None, None) == lists(joined({}, fused=fused).graph.node("NetOutput"))


@pytest.mark.parametrize("marks", [{TO_RESULT: []}, {"_no_task": False}])
def test_other_nodes_are_left_alone(marks: dict[str, object]) -> None:
    """Not connected to the end, or a node with a task."""
    if marks.get("_no_task") is False:
        marks = {**marks, "_no_padding_continuous_input": False, "_output_reuse_input": False}
    assert (None, None) == lists(joined(marks).graph.node("NetOutput"))


def test_what_ffts_plus_runs_is_left_alone() -> None:
    """It addresses memory itself."""
    build = GraphBuilder()
    inner = build.subgraph("inner")
    x = inner.data("x_in", (1, 16), index=0)
    parts = [
        inner.op("Relu", x, name=name, outputs=[ROW], attrs={FUSION_OFFSET: [0]}) for name in "ab"
    ]
    two = TensorDesc.make("float32", (2, 16))
    attrs = {**PLACED, TO_RESULT: [0]}
    inner.net_output(inner.op("ConcatD", *parts, name="cat", outputs=[two], attrs=attrs))
    call = build.node(
        "PartitionedCall",
        build.data("x", (1, 16)),
        name="call",
        outputs=[two],
        subgraphs={"f": inner.graph},
    )
    build.net_output(call.outputs[0])
    assert [[0, 64]] == _told(ge.compile(build.graph, level="O0"))
    build.graph.set_attr(call, FFTS_PLUS, True)
    assert [] == _told(ge.compile(build.graph, level="O0"))


def _told(result: Result) -> list[object]:
    return [node.attrs[RELATIVE] for node in result.graph.all_nodes() if RELATIVE in node.attrs]


def test_the_other_outputs_of_a_run_move_with_the_one_that_goes_out() -> None:
    """Relative to the connected output, one entry for every reader."""
    build = GraphBuilder()
    node = build.node(
        "HcomAllGather",
        build.data("x", (1, 16)),
        name="run",
        outputs=[ROW, ROW],
        attrs={"continuous_output": True, TO_RESULT: [1]},
    )
    ends = zip(node.outputs, ("use", "end"), strict=True)
    build.net_output(*(build.op("Relu", one, name=name, outputs=[ROW]) for one, name in ends))
    result = ge.compile(build.graph, level="O0", target="ascend")
    at = result.plan.find("run:1").offset
    before = result.plan.find("run:0").offset - at
    assert ([at, at], [before, 0]) == lists(result.graph.node("end"))


def test_an_input_that_is_part_of_a_run_in_its_place_needs_no_entry() -> None:
    """The planner puts inputs of a run where the run wants them."""
    build = GraphBuilder()
    parts = [build.data(name, (1, 16)) for name in "xy"]
    whole = build.op(
        "HcomAllReduce",
        *parts,
        name="run",
        outputs=[ROW],
        attrs={"continuous_input": True, TO_DATA: [0, 1]},
    )
    build.net_output(build.op("Relu", whole, name="use", outputs=[ROW]))
    result = ge.compile(build.graph, level="O0")
    x, y = (result.plan.find(f"{name}:0").offset for name in "xy")
    expected = None if y == x + 64 else [x + 64 - y]
    assert expected == result.graph.node("y").attrs.get(RELATIVE)


def test_the_attribute_is_spelled_as_graphs_spell_it() -> None:
    """Ascend's fusion writes `_output_offset_for_buffer_fusion`."""
    assert FUSION_OFFSET == "_output_offset_for_buffer_fusion"


def test_lists_of_another_plan_are_dropped() -> None:
    """A graph that comes from an earlier compilation has them."""
    build = GraphBuilder()
    use = build.op("Relu", build.data("x", (1, 16)), name="use", outputs=[ROW])
    build.graph.set_attr(use.node, BASIC, [4096])
    build.graph.set_attr(use.node, RELATIVE, [64])
    build.net_output(use)
    result = ge.compile(build.graph, level="O0")
    assert (None, None) == lists(result.graph.node("use"))


def fused_body(build: GraphBuilder, label: str) -> Graph:
    """A subgraph whose result is a fused join without a task."""
    body = build.subgraph(label)
    x = body.data(f"{label}/x", (1, 16), index=1)
    parts = [
        body.op("Relu", x, name=f"{label}/{at}", outputs=[ROW], attrs={FUSION_OFFSET: [0]})
        for at in "ab"
    ]
    attrs = {**PLACED, TO_RESULT: [0]}
    body.net_output(body.op("ConcatD", *parts, name=f"{label}/cat", outputs=[TWO], attrs=attrs))
    return body.graph


def test_graphs_that_end_at_one_output_all_tell_it() -> None:
    """What one has said stays when the next is looked at."""
    build = GraphBuilder()
    x = build.data("x", (1, 16))
    spare = build.data("spare", (1, 16))
    labels = ("one", "two")
    calls = [
        build.node(
            "PartitionedCall",
            spare,
            x,
            name=f"call_{label}",
            outputs=[TWO],
            subgraphs={"f": fused_body(build, label)},
        )
        for label in labels
    ]
    build.net_output(*(call.outputs[0] for call in calls))
    result = ge.compile(build.graph, level="O0", disable=[CONFLICTS])
    basic, relative = [], []
    for label in labels:
        at = result.plan.find(f"call_{label}/{label}/cat:0").offset
        basic.extend([at, at])
        relative.extend([0, 64])
    assert basic[0] != basic[2]
    assert (basic, relative) == lists(result.graph.node("NetOutput"))


def test_results_of_a_run_beside_the_connected_one_are_left_out() -> None:
    """They are results of their own, with addresses of their own; other readers are told."""
    build = GraphBuilder()
    node = build.node(
        "Foo",
        build.data("x", (1, 16)),
        name="run",
        outputs=[ROW] * 3,
        attrs={"continuous_output": True, TO_RESULT: [1]},
    )
    use = build.op("Relu", node.outputs[2], name="use", outputs=[ROW])
    build.net_output(node.outputs[0], node.outputs[1], use)
    result = ge.compile(build.graph, level="O0", target="ascend", disable=[CONFLICTS])
    at = [result.plan.find(f"run:{index}").offset for index in range(3)]
    assert at[2] > at[1]
    assert ([at[1]] * 2, [0, at[2] - at[1]]) == lists(result.graph.node("NetOutput"))


def test_what_lies_deeper_in_ffts_plus_is_left_alone_too() -> None:
    """A graph that is called from one that FFTS+ runs."""
    build = GraphBuilder()
    inner = fused_body(build, "inner")
    middle = build.subgraph("middle")
    given = [middle.data(f"middle/{at}", (1, 16), index=at) for at in range(2)]
    deep = middle.node(
        "PartitionedCall", *given, name="deep", outputs=[TWO], subgraphs={"f": inner}
    )
    middle.net_output(deep.outputs[0])
    call = build.node(
        "PartitionedCall",
        *(build.data(name, (1, 16)) for name in "yx"),
        name="call",
        outputs=[TWO],
        subgraphs={"f": middle.graph},
    )
    build.net_output(call.outputs[0])
    assert [[0, 64]] == _told(ge.compile(build.graph, level="O0"))
    build.graph.set_attr(call, FFTS_PLUS, "ffts_plus")
    assert [] == _told(ge.compile(build.graph, level="O0"))


def test_an_input_that_is_read_elsewhere_gets_the_distance() -> None:
    """Where the Data lies, and how far from there its piece of the run; none where it fits."""
    build = GraphBuilder()
    parts = [build.data(name, (1, 16)) for name in "xyz"]
    whole = build.op(
        "HcomAllReduce",
        *parts,
        name="run",
        outputs=[ROW],
        attrs={"continuous_input": True, TO_DATA: [0, 1]},
    )
    build.net_output(whole)
    graph = build.graph
    at = {"x": 512, "y": 4096, "z": 8192}
    places = [PlanTensor((), name, 0, "HBM", offset, 64) for name, offset in at.items()]
    about = SimpleNamespace(
        environment=SimpleNamespace(extras={"plan": Plan(tensors=places)}),
        target=Target("wide", align_bytes=512),
    )
    for _ in range(2):
        SetInputOutputOffsetPass().run(graph, cast(PassContext, about))
        assert (None, None) == lists(graph.node("x"))
        assert ([4096], [512 + 512 - 4096]) == lists(graph.node("y"))
        assert (None, None) == lists(graph.node("z"))
