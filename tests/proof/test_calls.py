"""Calls and branches: what arms leave, in forked and joined memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ge_core.errors import LimitExceeded
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc, clone
from ge_core.memory import Plan
from ge_core.proof import ProofResult

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]

BASE = 1 << 12
BOOL = TensorDesc.make("bool", ())


def branching(
    arms: Sequence[Callable[[GraphBuilder, OutputAnchor], OutputAnchor]],
    *,
    op: str = "If",
    shape: tuple[int, ...] = (4, 4),
) -> tuple[GraphBuilder, OutputAnchor]:
    """A branch over `value`, whose arms make their result from it."""
    build = GraphBuilder()
    test = build.op("Less", build.data("x", shape), name="test", outputs=[BOOL])
    value = build.op("Relu", build.data("y", shape), name="value")
    labels = ("then_branch", "else_branch") if op == "If" else ("b0", "b1", "b2")
    subgraphs: dict[str, GraphBuilder] = {}
    for label, make in zip(labels, arms, strict=False):
        arm = build.subgraph(label)
        arm.net_output(make(arm, arm.data(f"{label}/v", shape, index=1)))
        subgraphs[label] = arm
    outputs = [value.desc]
    return build, build.op(op, test, value, name="branch", outputs=outputs, subgraphs=subgraphs)


def compute(op: str, name: str) -> Callable[[GraphBuilder, OutputAnchor], OutputAnchor]:
    """An arm of one node."""
    return lambda arm, value: arm.op(op, value, name=name)


def test_a_branch_whose_arms_write_the_output_in_place_holds(found: Found) -> None:
    """Arms may compute into the output itself, or into bytes that are copied there."""
    build, out = branching([compute("Mul", "t"), compute("Relu", "e")])
    build.net_output(build.op("Mul", out, name="reader"))
    places = {"branch:0": BASE, "branch/t:0": BASE, "branch/e:0": BASE}
    assert found(build.graph, places) == []
    assert found(build.graph, {"branch:0": BASE, "branch/t:0": BASE, "branch/e:0": 2 * BASE}) == []
    assert found(build.graph) == []


def test_an_arm_that_destroys_the_input_of_the_other_is_fine(found: Found) -> None:
    """Only one arm runs: what one does to a value that dies there is nothing to the other."""
    build, out = branching([compute("Relu", "t"), compute("Mul", "e")])
    build.net_output(build.op("Mul", out, name="reader"))
    places = {"value:0": BASE, "branch/t:0": BASE, "branch:0": 2 * BASE}
    assert found(build.graph, places) == []


def test_an_arm_that_destroys_what_is_read_behind_is_found(found: Found) -> None:
    """A value that one arm overwrites is not there any more behind the branch."""
    build, out = branching([compute("Relu", "t"), compute("Mul", "e")])
    build.net_output(build.op("Add", out, build.graph.node("value").outputs[0], name="reader"))
    places = {"value:0": BASE, "branch/t:0": BASE}
    assert found(build.graph, places) == [("reads", "reader")]


def test_a_predicate_overwritten_too_early_is_found(found: Found) -> None:
    """The branch reads its predicate when it starts."""
    build, out = branching([compute("Relu", "t"), compute("Mul", "e")])
    late = build.graph.add_node(
        "Mul",
        "late",
        [build.graph.node("value").outputs[0]],
        [TensorDesc.make("bool", ())],
        before=build.graph.node("branch"),
    )
    build.net_output(build.op("Mul", out, name="reader"))
    assert late.name == "late"
    assert found(build.graph, {"test:0": BASE, "late:0": BASE}) == [("reads", "branch")]


@pytest.mark.parametrize("axis", [0, 1])
def test_slices_of_a_branch_are_the_branch_of_the_slices(found: Found, axis: int) -> None:
    """A pass may cut inside the arms instead of behind the branch; swapped pieces are found."""

    def graph(inside: bool, swapped: bool = False) -> Graph:
        build = GraphBuilder()
        test = build.op("Less", build.data("x", (4, 4)), name="test", outputs=[BOOL])
        value = build.op("Relu", build.data("y", (4, 4)), name="value")
        piece = value.desc.replace(shape=(2, 4) if axis == 0 else (4, 2))
        subgraphs = {}
        for label, op in (("then_branch", "Mul"), ("else_branch", "Relu")):
            arm = build.subgraph(label)
            result = arm.op(op, arm.data(f"{label}/v", (4, 4), index=1), name=f"{label}/r")
            if inside:
                cut = arm.node(
                    "SplitD",
                    result,
                    name=f"{label}/s",
                    outputs=[piece, piece],
                    attrs={"split_dim": axis},
                )
                arm.net_output(*(reversed(cut.outputs) if swapped else cut.outputs))
            else:
                arm.net_output(result)
            subgraphs[label] = arm
        outputs = [piece, piece] if inside else [value.desc]
        branch = build.node("If", test, value, name="branch", outputs=outputs, subgraphs=subgraphs)
        pieces = branch.outputs
        if not inside:
            pieces = build.node(
                "SplitD",
                branch.outputs[0],
                name="cut",
                outputs=[piece, piece],
                attrs={"split_dim": axis},
            ).outputs
        build.net_output(*(build.op("Mul", p, name=f"reader{p.index}") for p in pieces))
        return build.graph

    assert found(graph(inside=True), original=graph(inside=False)) == []
    swapped = found(graph(inside=True, swapped=True), original=graph(inside=False))
    assert swapped == [("reads", "reader0"), ("reads", "reader1")]


def test_a_slice_may_move_into_the_arms(found: Found) -> None:
    """Arms then deliver something else, of another size, and the branch is still the same."""
    window = {"offsets": [0, 0], "size": [2, 4]}
    build, out = branching([compute("Mul", "t"), compute("Relu", "e")])
    cut = build.op("SliceD", out, name="cut", shape=(2, 4), attrs=window)
    build.net_output(build.op("Mul", cut, name="reader"))

    def cutting(op: str, name: str) -> Callable[[GraphBuilder, OutputAnchor], OutputAnchor]:
        return lambda arm, value: arm.op(
            "SliceD", arm.op(op, value, name=name), name=f"{name}/cut", shape=(2, 4), attrs=window
        )

    moved, out = branching([cutting("Mul", "t"), cutting("Relu", "e")])
    moved.graph.set_desc(out, out.desc.replace(shape=(2, 4)))
    moved.net_output(moved.op("Mul", out, name="reader"))
    assert found(moved.graph, original=build.graph) == []


def test_swapped_arms_are_another_branch(found: Found) -> None:
    """Which arm belongs to which label is part of the meaning."""
    build, out = branching([compute("Mul", "t"), compute("Relu", "e")])
    build.net_output(build.op("Mul", out, name="reader"))
    other, out = branching([compute("Relu", "t"), compute("Mul", "e")])
    other.net_output(other.op("Mul", out, name="reader"))
    assert found(other.graph, original=build.graph) == [("reads", "reader")]


def test_equal_arms_make_no_branch(found: Found) -> None:
    """Where both arms compute the same, the branch is that value, whatever the predicate."""
    build, out = branching([compute("Mul", "t"), compute("Mul", "e")])
    build.net_output(build.op("Mul", out, name="reader"))
    original = clone(build.graph)
    graph = build.graph
    value = graph.node("value").outputs[0]
    straight = graph.add_node(
        "Mul", "straight", [value], [value.desc], origin=(), before=graph.node("reader")
    )
    graph.rewire(graph.node("reader").inputs[0], straight.outputs[0])
    graph.remove(graph.node("branch"))
    assert found(graph, original=original) == []


def test_a_case_has_as_many_arms_as_it_lists(found: Found) -> None:
    """Each arm counts by its place in the listing."""
    arms = [compute("Mul", "a"), compute("Relu", "b"), compute("MatMul", "c")]
    build, out = branching(arms, op="Case")
    build.net_output(build.op("Mul", out, name="reader"))
    places = {"branch:0": BASE, "branch/a:0": BASE, "branch/b:0": 2 * BASE, "branch/c:0": BASE}
    assert found(build.graph, places) == []


def test_memory_that_an_arm_updates_is_joined(found: Found) -> None:
    """A variable updated in one arm holds behind the branch what whichever arm left."""

    def graph() -> Graph:
        build = GraphBuilder()
        test = build.op("Less", build.data("x"), name="test", outputs=[BOOL])
        variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
        arms = {}
        for label in ("then_branch", "else_branch"):
            arm = build.subgraph(label)
            inner = arm.data(f"{label}/v", index=1)
            if label == "then_branch":
                inner = arm.op("Update", inner, inner, name="update", reuse_input=0)
            arm.net_output(arm.op("Mul", inner, name=f"{label}/r"))
            arms[label] = arm
        outputs = [variable.desc]
        branch = build.node("If", test, variable, name="branch", outputs=outputs, subgraphs=arms)
        after = build.op("Relu", variable, name="after", control=[branch])
        build.net_output(branch.outputs[0], after)
        return build.graph

    assert found(graph()) == []
    moved = graph()
    moved.remove_control(moved.node("branch"), moved.node("after"))
    order = [node for node in moved.nodes if node.name != "after"]
    moved.reorder([*order[:2], moved.node("v"), moved.node("after"), *order[3:]])
    assert found(moved, original=graph())[0] == ("reads", "after")


def test_a_call_hands_memory_through(found: Found) -> None:
    """A call's inputs and outputs are the memory inside; a copy inside may go."""

    def graph() -> GraphBuilder:
        build = GraphBuilder()
        value = build.op("Relu", build.data("x"), name="value")
        sub = build.subgraph("f")
        copy = sub.op("TensorMove", sub.data("f/x", index=0), name="f/copy")
        sub.net_output(sub.op("Mul", copy, name="f/y"))
        call = build.op("PartitionedCall", value, name="call", subgraphs={"f": sub})
        build.net_output(build.op("Relu", call, name="reader"))
        return build

    build = graph()
    places = {"value:0": BASE, "call/f/copy:0": 2 * BASE, "call/f/y:0": BASE}
    assert found(build.graph, places) == []
    build.graph.subgraphs["f"].bypass(build.graph.node("f/copy"))
    assert found(build.graph, {"value:0": BASE}, original=graph().graph) == []


def test_a_call_output_that_the_plan_puts_elsewhere_is_found(found: Found) -> None:
    """Nothing moves at a call's boundary: its output lies where the inner value lies."""
    build = GraphBuilder()
    sub = build.subgraph("f")
    sub.net_output(sub.op("Mul", sub.data("f/x", index=0), name="f/y"))
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": sub})
    build.net_output(build.op("Relu", call, name="reader"))
    assert found(build.graph, {"call:0": BASE, "call/f/y:0": 2 * BASE}) == [
        ("layout", "call:0"),
        ("reads", "reader"),
    ]


def test_an_input_that_the_plan_puts_elsewhere_inside_is_found(found: Found) -> None:
    """A subgraph's Data is the caller's memory, wherever a plan would have it."""
    build = GraphBuilder()
    value = build.op("Relu", build.data("x"), name="value")
    sub = build.subgraph("f")
    sub.net_output(sub.op("Mul", sub.data("f/x", index=0), name="f/y"))
    call = build.op("PartitionedCall", value, name="call", subgraphs={"f": sub})
    build.net_output(build.op("Relu", call, name="reader"))
    assert found(build.graph, {"call/f/x:0": BASE}) == [
        ("layout", "call/f/x"),
        ("reads", "call/f/y"),
    ]


def shared() -> GraphBuilder:
    """One subgraph called twice, one call on the other's result."""
    build = GraphBuilder()
    sub = build.subgraph("f")
    sub.net_output(sub.op("Mul", sub.data("f/x", index=0), name="f/y"))
    first = build.op("PartitionedCall", build.data("x"), name="one", subgraphs={"f": sub})
    second = build.op("PartitionedCall", first, name="two", subgraphs={"f": sub})
    build.net_output(build.op("Add", first, second, name="sum"))
    return build


def test_each_call_of_a_shared_subgraph_is_an_instance_of_its_own(found: Found) -> None:
    """The two runs have their own places; on one place the second overwrites the first."""
    graph = shared().graph
    assert found(graph, {"one/f/y:0": BASE, "two/f/y:0": 2 * BASE}) == []
    places = {"one/f/y:0": BASE, "two/f/y:0": BASE}
    assert found(graph, places) == [("one_op", "two/f/y"), ("reads", "sum")][::-1]


def test_random_numbers_of_two_calls_differ(found: Found) -> None:
    """A random op in a shared subgraph is another value on each call path."""
    build = GraphBuilder()
    sub = build.subgraph("f")
    sub.net_output(sub.op("RandomNormal", sub.data("f/x", index=0), name="f/y"))
    x = build.data("x")
    one, two = (
        build.op("PartitionedCall", x, name=name, subgraphs={"f": sub}) for name in ("one", "two")
    )
    build.net_output(build.op("Add", one, two, name="sum"))
    original = clone(build.graph)
    graph = build.graph
    assert found(graph, original=original) == []
    graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
    assert found(graph, original=original) == [("reads", "sum")]


def test_an_inlined_call_computes_the_same(found: Found) -> None:
    """Nodes that leave their subgraph still stand for their originals."""
    build = GraphBuilder()
    sub = build.subgraph("f")
    inner = sub.op("Mul", sub.data("f/x", index=0), name="f/y")
    sub.net_output(sub.op("MatMul", inner, inner, name="f/z"))
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": sub})
    build.net_output(build.op("Relu", call, name="reader"))
    original = clone(build.graph)
    graph = build.graph
    reader, x = graph.node("reader"), graph.node("x").outputs[0]
    first = graph.add_node("Mul", "y", [x], [x.desc], origin=("f/y",), before=reader)
    y = first.outputs[0]
    second = graph.add_node("MatMul", "z", [y, y], [x.desc], origin=("f/z",), before=reader)
    graph.rewire(reader.inputs[0], second.outputs[0])
    graph.remove(graph.node("call"))
    graph.remove_subgraph(graph.subgraphs["f"])
    assert found(graph, original=original) == []
    assert (
        found(graph, {"x:0": 0, "z:0": 64, "y:0": 64}, original=original) == [("one_op", "z")] * 2
    )


def test_deep_nesting_needs_no_deep_stack(prove: Prove) -> None:
    """A thousand calls inside each other are no recursion."""
    build = GraphBuilder()
    depth = 1200
    sub = build.subgraph(f"f{depth}")
    sub.net_output(sub.op("Mul", sub.data(f"d{depth}", index=0), name="innermost"))
    for at in range(depth - 1, -1, -1):
        outer = build.subgraph(f"f{at}")
        inner = outer.data(f"d{at}", index=0)
        outer.net_output(outer.op("PartitionedCall", inner, name=f"call{at}", subgraphs={"f": sub}))
        sub = outer
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": sub})
    build.net_output(build.op("Relu", call, name="reader"))
    original = clone(build.graph)
    result = _bare(prove, build.graph, original)
    assert {violation.check for violation in result.violations} == {"layout"}
    assert {violation.found for violation in result.violations} == {"neither"}


def test_nested_calls_are_bounded_by_work(prove: Prove) -> None:
    """A small file whose calls double at every level is refused instead of run for ever."""
    build = GraphBuilder()
    sub = build.subgraph("f0")
    sub.net_output(sub.op("Mul", sub.data("d0", index=0), name="leaf"))
    for at in range(1, 40):
        outer = build.subgraph(f"f{at}")
        value = outer.data(f"d{at}", index=0)
        for twin in range(2):
            value = outer.op("PartitionedCall", value, name=f"c{at}_{twin}", subgraphs={"f": sub})
        outer.net_output(value)
        sub = outer
    call = build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": sub})
    build.net_output(call)
    with pytest.raises(LimitExceeded, match="the proof"):
        _bare(prove, build.graph, clone(build.graph), limit=10_000)


def _bare(prove: Prove, graph: Graph, original: Graph, **facts: Any) -> ProofResult:
    """The proof without places and without tasks: every tensor in memory of its own."""
    return prove(graph, original=original, plan=Plan(), tasks=None, **facts)
