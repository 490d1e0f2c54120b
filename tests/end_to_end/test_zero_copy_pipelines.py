"""Whole scenes from collectives and splits to joins: planned, without tasks, proved and run."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.session.execution import execute
from ge_core.session.result import Result
from ge_core.testing import GraphKnobs, random_graph

NEEDED = "_no_task_and_dump_needed"
ROWS = {count: TensorDesc.make("float16", (count, 64)) for count in (1, 2, 4)}


def gathered(body: GraphBuilder, x: OutputAnchor, stream: int = 0) -> OutputAnchor:
    """Two collectives whose results are joined."""
    attrs, name = {"stream_id": stream}, body.graph.name
    parts = [
        body.op("HcomAllGather", x, name=f"{name}/gather{at}", outputs=[ROWS[2]], attrs=attrs)
        for at in range(2)
    ]
    return body.op(
        "ConcatD",
        *parts,
        name=f"{name}/cat",
        outputs=[ROWS[4]],
        attrs={"concat_dim": 0, "N": 2},
    )


def cut_and_joined(body: GraphBuilder, x: OutputAnchor, stream: int = 0) -> OutputAnchor:
    """A split, an op on each part, a join."""
    name = body.graph.name
    made = body.op("Relu", x, name=f"{name}/made", outputs=[ROWS[1]])
    wide = body.op("Tile", made, name=f"{name}/wide", outputs=[ROWS[4]])
    split = body.node(
        "SplitD",
        wide,
        name=f"{name}/split",
        outputs=[ROWS[2]] * 2,
        attrs={"split_dim": 0, "num_split": 2},
    )
    done = [
        body.op(
            "Relu",
            part,
            name=f"{name}/done{at}",
            outputs=[ROWS[2]],
            attrs={"stream_id": stream * at},
        )
        for at, part in enumerate(split.outputs)
    ]
    return body.op(
        "ConcatD", *done, name=f"{name}/cat", outputs=[ROWS[4]], attrs={"concat_dim": 0, "N": 2}
    )


SCENES = {"gather": gathered, "split": cut_and_joined}


def in_place(scene: str, around: str) -> Graph:
    """A scene in the root, on two streams, in both arms of an If, or in the body of a While."""
    build = GraphBuilder()
    x = build.data("x", desc=ROWS[1])
    make = SCENES[scene]
    if around == "if":
        arms = {}
        for label in ("then_branch", "else_branch"):
            arm = build.subgraph(f"{label}_graph")
            made = make(arm, arm.data(f"{label}_x", desc=ROWS[1], index=1))
            arm.net_output(arm.op("Relu", made, name=f"{label}_end", outputs=[ROWS[4]]))
            arms[label] = arm.graph
        which = build.data("which", (), "bool")
        node = build.node("If", which, x, name="if", outputs=[ROWS[4]], subgraphs=arms)
        whole = node.outputs[0]
    elif around == "while":
        cond, body = build.subgraph("cond"), build.subgraph("body")
        seen = cond.data("seen", desc=ROWS[1], index=0)
        cond.net_output(cond.op("Less", seen, name="less", shape=(1,), dtype="bool"))
        made = make(body, body.data("body_x", desc=ROWS[1], index=0))
        body.net_output(body.op("ReduceMaxD", made, name="body_end", outputs=[ROWS[1]]))
        start = build.op("Relu", x, name="start", outputs=[ROWS[1]])
        graphs = {"cond": cond.graph, "body": body.graph}
        node = build.node("While", start, name="loop", outputs=[ROWS[1]], subgraphs=graphs)
        whole = node.outputs[0]
    else:
        whole = make(build, x, 1 if around == "streams" else 0)
    build.net_output(build.op("Relu", whole, name="use", outputs=[whole.desc]))
    return build.graph


def without_copies(result: Result, around: int = 0) -> None:
    """Nothing is copied but what is around, the join has no task, and all is proved."""
    assert result.proof is not None
    assert () == result.proof.violations
    assert result.after.total.bytes == around
    assert result.tasks is not None
    ran = {task.node for task in result.tasks.tasks if not task.is_event}
    joins = [node for node in result.graph.all_nodes() if node.op == "ConcatD"]
    assert joins
    assert ran.isdisjoint(node.name for node in joins)
    marked = [
        node for node in joins if "is_first_node" in node.attrs or "is_last_node" in node.attrs
    ]
    assert [] == marked


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("around", ["root", "streams", "if", "while"])
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_copied(scene: str, around: str, level: str) -> None:
    """On a device that wants pieces at 32 bytes, through plan, tasks and proof."""
    result = ge.compile(in_place(scene, around), level=level, target="ascend")
    # GE copies what a loop carries out of its body and back into place; the join it leaves alone.
    carried = 2 * 128 if (around, level) == ("while", "O3") else 0
    without_copies(result, carried)
    for node in result.graph.all_nodes():
        if node.op != "ConcatD":
            continue
        call = {"if": "if/", "while": "loop/"}.get(around, "")
        whole = result.plan.find(f"{call}{node.name}:0")
        parts = [
            result.plan.find(f"{call}{anchor.source.node.name}:{anchor.source.index}")
            for anchor in node.inputs
            if anchor.source is not None
        ]
        assert [whole.offset, whole.offset + 256] == [part.offset for part in parts]


def test_the_split_scene_computes_the_same() -> None:
    """In the arena, poisoned, beside the plain run; collectives are run by no executor here."""
    result = ge.compile(in_place("split", "streams"), level="O3", target="ascend")
    outcome = execute(result, seed=1, check=True)
    assert all(output.bit_exact for output in outcome.outputs)


def test_what_has_no_kernel_is_never_asked_for_one() -> None:
    """A join that GE has no kernel for runs, as nothing does: no handle is made for it (RT1)."""
    build = GraphBuilder()
    x = build.data("x", desc=ROWS[1])
    parts = [build.op("Relu", x, name=name, outputs=[ROWS[1]]) for name in "ab"]
    whole = build.op(
        "PhonyConcat", *parts, name="cat", outputs=[ROWS[2]], attrs={"concat_dim": 0, "N": 2}
    )
    build.net_output(build.op("Relu", whole, name="use", outputs=[ROWS[2]]))
    result = ge.compile(build.graph, level="O3")
    assert "_no_task" in result.graph.node("cat").attrs
    assert execute(result, seed=1).outputs


@pytest.mark.parametrize("on", [False, True])
def test_a_dump_finds_tensors_of_nodes_without_a_task(on: bool) -> None:
    """Their descriptors have addresses, and say that they are asked for where dumps are on.

    Output addresses are input addresses, as GE's runtime makes them (RT2), piece by piece.
    """
    options = {"ge.exec.enableDump": "1"} if on else {}
    result = ge.compile(in_place("split", "root"), level="O3", target="ascend", options=options)
    assert result.tasks is not None
    found = {one.node: one for one in result.tasks.dump_only if one.op in ("ConcatD", "SplitD")}
    assert {"root/split", "root/cat"} == set(found)
    assert {on} == {one.needed for one in found.values()}
    split, cat = found["root/split"], found["root/cat"]
    (whole,), pieces = split.inputs, split.outputs
    assert whole is not None
    assert [whole.offset, whole.offset + 256] == [p.offset for p in pieces if p is not None]
    (joined,), operands = cat.outputs, cat.inputs
    assert joined is not None
    assert [joined.offset, joined.offset + 256] == [p.offset for p in operands if p is not None]


@pytest.mark.parametrize("seed", [10, 121, 148, 200])
def test_only_nodes_without_a_task_ask_to_be_dumped(seed: int) -> None:
    """One that loses its task and gets it back, as joins are placed together, asks no more."""
    result = ge.compile(
        random_graph(seed, GraphKnobs(nodes=14)),
        level="O4",
        options={"ge.exec.enableDump": "1"},
    )
    asking = {node.name for node in result.graph.all_nodes() if NEEDED in node.attrs}
    without = {node.name for node in result.graph.all_nodes() if node.attrs.get("_no_task")}
    assert asking == without
