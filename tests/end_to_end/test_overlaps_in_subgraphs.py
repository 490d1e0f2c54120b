"""A piece's bytes used again inside calls, arms and loops: question, planner, proof and runs agree.

Each scene cuts `x` (inside or outside a subgraph), makes `y` from the second piece by two ops, and
joins it to the first one on the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.errors import LayoutConflict
from ge_core.ir import GraphBuilder, OutputAnchor, clone
from ge_core.memory import Bytes, ReuseRule
from ge_core.memory.overlaps import Overlaps
from ge_core.proof import verify_compile
from ge_core.tasks import generate_tasks
from tests.end_to_end.overlap_graphs import JOIN, PIECE, SPLIT
from tests.end_to_end.test_overlapping_owners import OPS, differs, planned

HALF = 64
WHOLE = (32,)
Scene = Callable[[], tuple[GraphBuilder, bool]]
SCENES: list[Scene] = []


def scene(make: Scene) -> Scene:
    """A scene, and whether it is right."""
    SCENES.append(make)
    return make


def made(b: GraphBuilder) -> OutputAnchor:
    """What is cut, made by an op."""
    return b.op("Exp", b.data("in", WHOLE), name="x")


def cut(b: GraphBuilder, whole: OutputAnchor, name: str = "split") -> list[OutputAnchor]:
    """Two pieces."""
    return list(b.node("SplitD", whole, name=name, outputs=[PIECE] * 2, attrs=SPLIT).outputs)


def joined(b: GraphBuilder, first: OutputAnchor, second: OutputAnchor) -> OutputAnchor:
    """The first piece, and what two ops make of the second one."""
    y = b.op("Exp", b.op("Exp", second, name="mid"), name="y")
    return b.op("ConcatD", first, y, name="join", shape=WHOLE, attrs=JOIN)


def block(b: GraphBuilder, whole: OutputAnchor) -> OutputAnchor:
    """Cut and joined."""
    return b.op("Abs", joined(b, *cut(b, whole)), name="end")


def called(b: GraphBuilder, source: OutputAnchor, name: str = "call") -> GraphBuilder:
    """A call over one value; its body, to be filled."""
    body = b.subgraph(f"{name}_body")
    b.node("PartitionedCall", source, name=name, outputs=[source.desc], subgraphs={"f": body})
    return body


def arms(b: GraphBuilder, source: OutputAnchor) -> tuple[GraphBuilder, GraphBuilder]:
    """An If over one value; its arms, to be filled."""
    predicate = b.op("Foo", b.data("p", (1,)), name="predicate", shape=(1,), dtype="bool")
    yes, no = b.subgraph("yes"), b.subgraph("no")
    subgraphs = {"then_branch": yes, "else_branch": no}
    b.node("If", predicate, source, name="if0", outputs=[source.desc], subgraphs=subgraphs)
    return yes, no


def loop(b: GraphBuilder, *sources: OutputAnchor) -> GraphBuilder:
    """A While over some values; its body, to be filled."""
    cond, body = b.subgraph("cond"), b.subgraph("body")
    subgraphs = {"cond": cond, "body": body}
    outputs = [source.desc for source in sources]
    b.node("While", *sources, name="loop", outputs=outputs, subgraphs=subgraphs)
    seen = cond.data("seen", desc=sources[0].desc, index=0)
    cond.net_output(cond.op("Foo", seen, name="less", shape=(1,), dtype="bool"))
    return body


def out(b: GraphBuilder, name: str, at: int = 0) -> OutputAnchor:
    """An output of a node."""
    return b.graph.node(name).outputs[at]


@scene
def inside_a_call() -> tuple[GraphBuilder, bool]:
    """A call runs where its caller does."""
    b = GraphBuilder()
    body = called(b, made(b))
    body.net_output(block(body, body.data("inner", WHOLE)))
    b.net_output(b.op("Abs", out(b, "call")))
    return b, True


@scene
def inside_a_call_and_read_behind_it() -> tuple[GraphBuilder, bool]:
    """What is cut in the call is read after it."""
    b = GraphBuilder()
    x = made(b)
    body = called(b, x)
    body.net_output(block(body, body.data("inner", WHOLE)))
    b.net_output(b.op("Abs", out(b, "call")), b.op("Abs", x, control=[out(b, "call")]))
    return b, False


@scene
def a_piece_read_in_a_call_before() -> tuple[GraphBuilder, bool]:
    """The call has ended when the last op writes."""
    b = GraphBuilder()
    first, second = cut(b, made(b))
    body = called(b, second)
    body.net_output(body.op("Exp", body.data("inner", (16,)), name="seen"))
    end = b.op("Abs", joined(b, first, out(b, "call")))
    b.net_output(end)
    return b, True


@scene
def a_piece_read_in_a_call_behind() -> tuple[GraphBuilder, bool]:
    """The call begins after the last op has written."""
    b = GraphBuilder()
    first, second = cut(b, made(b))
    join = joined(b, first, second)
    body = called(b, second)
    b.graph.add_control(join.node, b.graph.node("call"))
    body.net_output(body.op("Exp", body.data("inner", (16,)), name="seen"))
    b.net_output(b.op("Abs", join), out(b, "call"))
    return b, False


@scene
def inside_an_arm() -> tuple[GraphBuilder, bool]:
    """What is cut is handed into both arms, and the other one only reads it."""
    b = GraphBuilder()
    yes, no = arms(b, made(b))
    yes.net_output(block(yes, yes.data("y_in", WHOLE, index=1)))
    no.net_output(no.op("Exp", no.data("n_in", WHOLE, index=1), name="no_end"))
    b.net_output(b.op("Abs", out(b, "if0")))
    return b, True


@scene
def inside_an_arm_and_read_behind() -> tuple[GraphBuilder, bool]:
    """What an arm has used up is read after the If."""
    b = GraphBuilder()
    x = made(b)
    yes, no = arms(b, x)
    yes.net_output(block(yes, yes.data("y_in", WHOLE, index=1)))
    no.net_output(no.op("Exp", no.data("n_in", WHOLE, index=1), name="no_end"))
    b.net_output(b.op("Abs", out(b, "if0")), b.op("Abs", x, control=[out(b, "if0")]))
    return b, False


@scene
def a_piece_read_by_an_arm_behind() -> tuple[GraphBuilder, bool]:
    """The arm may not run, but it may."""
    b = GraphBuilder()
    first, second = cut(b, made(b))
    join = joined(b, first, second)
    yes, no = arms(b, second)
    b.graph.add_control(join.node, b.graph.node("if0"))
    yes.net_output(yes.op("Exp", yes.data("y_in", (16,), index=1), name="yes_end"))
    no.net_output(no.op("Exp", no.op("Foo", name="no_x", shape=(16,)), name="no_end"))
    b.net_output(b.op("Abs", join), out(b, "if0"))
    return b, False


@scene
def made_and_used_in_one_turn() -> tuple[GraphBuilder, bool]:
    """The next turn makes what is cut anew."""
    b = GraphBuilder()
    body = loop(b, made(b))
    body.net_output(block(body, body.op("Exp", body.data("slot", WHOLE), name="turn_x")))
    b.net_output(b.op("Abs", out(b, "loop")))
    return b, True


@scene
def made_before_the_loop() -> tuple[GraphBuilder, bool]:
    """The next turn reads what this one has overwritten."""
    b = GraphBuilder()
    x = made(b)
    body = loop(b, b.op("Exp", b.data("in2", WHOLE), name="start"), x)
    body.data("slot", WHOLE, index=0)
    held = body.data("held", WHOLE, index=1)
    body.net_output(block(body, held), held)
    b.net_output(b.op("Abs", out(b, "loop")))
    return b, False


@scene
def cut_before_and_read_in_the_loop_behind() -> tuple[GraphBuilder, bool]:
    """All of it has happened when the loop begins, which reads the join."""
    b = GraphBuilder()
    join = joined(b, *cut(b, made(b)))
    body = loop(b, join)
    body.net_output(body.op("Exp", body.data("slot", WHOLE), name="turn"))
    b.net_output(b.op("Abs", out(b, "loop")))
    return b, True


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_everybody_agrees(make: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong is refused, and where it is put down nevertheless it is not proved."""
    build, right = make()
    graph = build.graph
    try:
        plan = planned(graph)
    except LayoutConflict:
        assert not right
        monkeypatch.setattr(Overlaps, "check", lambda *_: None)
        plan = planned(graph)
    else:
        assert right
    tasks = generate_tasks(graph, OPS, plan)
    proof = verify_compile(clone(graph), graph, plan, tasks, ops=OPS)
    assert proof.ok == right, [str(violation) for violation in proof.violations]
    assert any(differs(graph, plan, tasks, seed) for seed in range(6)) != right


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_the_question_tells_it_before_anything_is_marked(make: Scene) -> None:
    """Asked of the graph without marks."""
    build, right = make()
    found = {node.name: node for node in build.graph.all_nodes()}
    split, join = found["split"], found["join"]
    for node in (split, join):
        assert node.graph is not None
        for mark in {**SPLIT, **JOIN}:
            node.graph.del_attr(node, mark)
    whole = split.inputs[0].source
    assert whole is not None
    rule = ReuseRule(build.graph, OPS)
    old = [Bytes(whole, HALF, 2 * HALF), Bytes(split.outputs[1])]
    new = [Bytes(found["y"].outputs[0]), Bytes(join.outputs[0], HALF, 2 * HALF)]
    nodes = [split, join]
    assert rule.may_reuse(old, new, without=nodes) is right
    assert (rule.against(old, new, without=nodes) == []) is right
