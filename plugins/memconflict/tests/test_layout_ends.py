"""Branches and loops: what they hand out without a copy; and questions of other passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.api import (
    AliasClasses,
    Graph,
    GraphBuilder,
    LayoutChecks,
    OutputAnchor,
    Scheme,
    structural_hash,
)
from ge_core.passes.remarks import Remarks
from ge_core.session.kernel import default_kernel
from ge_memconflict.layout.queries import (
    any_downwards,
    any_upwards,
    exists_conflict,
    final_join,
)

from .layout_graphs import DESC, JOIN, PACKED, optimized

KERNEL = default_kernel()
Body = Callable[[GraphBuilder, list[OutputAnchor]], list[OutputAnchor]]


def loop(body: Body, slots: int = 1) -> tuple[Graph, Graph]:
    """A loop with a body; the graph, and the body."""
    b = GraphBuilder()
    given = [b.op("Cast", b.data(f"x{at}"), name=f"cast{at}") for at in range(slots)]
    cond, inner = b.subgraph("cond"), b.subgraph("body")
    test = [cond.data(f"c/x{at}", index=at) for at in range(slots)]
    cond.net_output(cond.op("Less", test[0], test[0], name="c/less"))
    inner.net_output(*body(inner, [inner.data(f"b/x{at}", index=at) for at in range(slots)]))
    outputs = [DESC] * slots
    made = b.node("While", *given, outputs=outputs, subgraphs={"cond": cond, "body": inner})
    b.net_output(*(b.op("Exp", output) for output in made.outputs))
    return b.graph, inner.graph


def copies(graph: Graph) -> list[str]:
    """The reason code of each copy, in order."""
    remarks = Remarks()
    optimized(graph, remarks)
    return [r.code for r in remarks if r.pass_name == "MemLayoutConflictOptimizer"]


def act(b: GraphBuilder, *sources: OutputAnchor, op: str = "Add") -> OutputAnchor:
    """Computes something."""
    return b.op(op, *sources)


BODIES: dict[str, tuple[Body, list[str]]] = {
    "nothing": (lambda b, x: x, []),
    "one step": (lambda b, x: [act(b, x[0])], ["LOOP_WRITES_WHAT_IT_READS"]),
    "two steps": (lambda b, x: [act(b, act(b, x[0]))], []),
    "in place": (lambda b, x: [b.op("Foo", x[0], reuse_input=0)], []),
    # GE takes this one for safe: another node stands between input and result.
    "last step reads the input too": (
        lambda b, x: [act(b, act(b, x[0]), x[0])],
        ["LOOP_WRITES_WHAT_IT_READS"],
    ),
    "packed": (
        lambda b, x: _packed(b, act(b, act(b, x[0]))),
        ["LOOP_RETURNS_PACKED"],
    ),
}


def _packed(b: GraphBuilder, value: OutputAnchor) -> list[OutputAnchor]:
    b.op("Foo", value, act(b, value), attrs=PACKED)
    return [value]


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_body_s_result_is_copied_where_it_comes_too_early(name: str) -> None:
    """Before everybody is done with the input whose place it takes."""
    body, expected = BODIES[name]
    graph, _ = loop(body)
    assert expected == copies(graph)


def test_an_unordered_reader_of_the_input_is_too_late() -> None:
    """Nothing says that it has read when the result is written."""

    def body(b: GraphBuilder, x: list[OutputAnchor]) -> list[OutputAnchor]:
        b.op("Exp", x[0], name="aside")
        return [act(b, act(b, x[0]))]

    assert ["LOOP_WRITES_WHAT_IT_READS"] == copies(loop(body)[0])


def test_exchanged_slots_are_copied_out_before_they_are_copied_in() -> None:
    """Two copies in a row with a port per slot; a second run adds none."""
    graph, body = loop(lambda b, x: [x[1], x[0]], slots=2)
    assert ["LOOP_SLOTS_EXCHANGED"] * 2 == copies(graph)
    end = body.net_output
    assert end is not None
    outer = {port.source.node for port in end.inputs if port.source is not None}
    (second,) = outer
    inner = {port.source.node for port in second.inputs if port.source is not None}
    (first,) = inner
    assert ["b/x1:0", "b/x0:0"] == [str(port.source) for port in first.inputs]
    once = structural_hash(graph)
    assert [] == copies(graph)
    assert once == structural_hash(graph)


def test_arms_get_one_copy_for_all_they_can_t_hand_out() -> None:
    """What came in, what is fixed, and what is handed out already."""
    b = GraphBuilder()
    x, choice = b.data("x"), b.data("c", (), dtype="bool")
    arm, other = b.subgraph("then_branch"), b.subgraph("else_branch")
    given = arm.data("a/x", index=1)
    made = arm.op("Relu", given, name="a/r")
    arm.net_output(given, made, made, arm.op("Const", name="a/k"))
    inside = other.data("o/x", index=1)
    other.net_output(*(other.op("Relu", inside, name=f"o/r{at}") for at in range(4)))
    arms = {"then_branch": arm, "else_branch": other}
    node = b.node("If", choice, x, outputs=[DESC] * 4, subgraphs=arms)
    b.net_output(*node.outputs)
    assert ["ARM_RETURNS_ITS_INPUT"] == copies(b.graph)
    end = arm.graph.net_output
    assert end is not None
    feeds = [port.source.node.op for port in end.inputs if port.source is not None]
    assert ["Identity", "Relu", "Identity", "Identity"] == feeds


# ---- questions ----------------------------------------------------------------------------------


def test_a_hypothetical_table_is_asked_and_put_back() -> None:
    """Two groups that a copy keeps apart clash once their memories are joined."""
    b = GraphBuilder()
    value = b.op("Relu", b.data("x"), name="a")
    copy = b.op("TensorMove", value, name="mv")
    for name, source in (("one", value), ("two", copy)):
        b.op("Foo", source, b.op("Relu", b.data(f"x_{name}")), name=name, attrs=PACKED)
    classes = AliasClasses(b.graph, KERNEL.ops, Scheme.SYMBOLS, KERNEL.registries.anchor_types.of)
    checks = LayoutChecks(KERNEL.registries.checkers, b.graph, KERNEL.ops, lambda name: None)
    assert exists_conflict(classes, checks) is None
    with b.graph.transaction() as trial:
        classes.join(copy.node.inputs[0], copy)
        found = exists_conflict(classes, checks, [copy])
        assert found is not None
        assert "IN_TWO_PACKED_GROUPS" == found.code
        trial.rollback()
    assert exists_conflict(classes, checks) is None


def test_chains_go_through_what_hands_memory_on() -> None:
    """Upwards to who made it, downwards to all who read it."""
    b = GraphBuilder()
    made = b.op("Relu", b.data("x"), name="made")
    view = b.op("Reshape", made, name="view", reuse_input=0)
    use = b.op("Exp", view, name="use")
    far = b.op("Exp", use, name="far")
    ops = KERNEL.ops
    assert any_upwards(use.node.inputs[0], ops, lambda output: output is made)
    assert not any_upwards(far.node.inputs[0], ops, lambda output: output is made)
    assert any_downwards(made, ops, lambda reader: reader.node is use.node)
    assert not any_downwards(made, ops, lambda reader: reader.node is far.node)


def test_a_first_operand_goes_on_to_the_join_of_the_join() -> None:
    """The result is its memory; a later operand ends in the join that reads it."""
    b = GraphBuilder()
    parts = [b.op("Relu", b.data(f"x{at}")) for at in range(5)]
    inner = b.op("ConcatD", *parts[:2], name="inner", attrs=JOIN)
    view = b.op("Reshape", inner, reuse_input=0)
    outer = b.op("ConcatD", parts[2], view, name="outer", attrs=JOIN)
    later = b.op("ConcatD", outer, parts[3], name="later", attrs=JOIN)
    use = b.op("Exp", later)
    ops = KERNEL.ops
    assert outer.node is final_join(inner.node.inputs[0], ops)
    assert inner.node is final_join(inner.node.inputs[1], ops)
    assert later.node is final_join(outer.node.inputs[0], ops)
    assert later.node is final_join(later.node.inputs[1], ops)
    assert final_join(use.node.inputs[0], ops) is None
