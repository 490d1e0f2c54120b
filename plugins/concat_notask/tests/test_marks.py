"""What a task-free node carries, what is said about it, and how the marks are taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_concat_notask import early_bytes, is_marked, unmark
from ge_concat_notask.peak import Listing
from ge_core.api import (
    Graph,
    GraphBuilder,
    OutputAnchor,
    RemarkKind,
    Target,
    TensorDesc,
    write_graph,
)
from ge_core.passes.remarks import Remarks

Run = Callable[..., Remarks]

HALF = TensorDesc.make("float16", (32, 16))
BYTES = 32 * 16 * 2
JOIN_MARKS = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}
SPLIT_MARKS = {
    "_no_task": True,
    "_no_padding_continuous_output": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}
CONCAT_CLAIM = {"can_reused_for_concat_optimize": False}
PACK_CLAIM = {"can_reused_for_pack_optimize": False}


def computed(b: GraphBuilder, name: str, **facts: Any) -> OutputAnchor:
    """An ordinary tensor."""
    return b.op("Relu", b.data(f"{name}_in", (8, 8)), name=name, outputs=[HALF], **facts)


def concat(b: GraphBuilder, *operands: OutputAnchor, name: str = "join") -> OutputAnchor:
    """A Concat along the first axis."""
    out = TensorDesc.make("float16", (sum((o.desc.shape or (0,))[0] for o in operands), 16))
    return b.op("ConcatD", *operands, name=name, outputs=[out], attrs={"concat_dim": 0})


def viewed() -> Graph:
    """join(view(p), q)."""
    b = GraphBuilder()
    view = b.op("Reshape", computed(b, "p"), name="view")
    b.net_output(concat(b, view, computed(b, "q")))
    return b.graph


def three() -> Graph:
    """A Concat, a Pack and a Split that all lose their tasks."""
    b = GraphBuilder()
    packed = b.op(
        "Pack",
        computed(b, "r"),
        computed(b, "s"),
        name="pack",
        outputs=[TensorDesc.make("float16", (2, 32, 16))],
        attrs={"axis": 0},
    )
    cut = b.node(
        "SplitD",
        b.data("x", desc=HALF),
        name="cut",
        attrs={"split_dim": 0},
        outputs=[TensorDesc.make("float16", (8, 16)), TensorDesc.make("float16", (24, 16))],
    )
    ends = [b.op("Relu", o, name=f"end{o.index}") for o in cut.outputs]
    b.net_output(concat(b, computed(b, "p"), computed(b, "q")), packed, *ends)
    return b.graph


def test_marks_and_claims(run: Run) -> None:
    """Joins and splits carry GE's marks; operands are claimed under the name of the join's kind."""
    graph = three()
    run(graph)
    assert dict(graph.node("join").attrs) == {"concat_dim": 0, **JOIN_MARKS}
    assert dict(graph.node("pack").attrs) == {"axis": 0, **JOIN_MARKS}
    assert dict(graph.node("cut").attrs) == {"split_dim": 0, **SPLIT_MARKS}
    claims = {name: dict(graph.node(name).outputs[0].desc.attrs) for name in ("p", "r", "x")}
    assert claims == {"p": CONCAT_CLAIM, "r": PACK_CLAIM, "x": {}}


def test_the_owner_behind_a_view_is_claimed_too(run: Run) -> None:
    """GE claims the direct producer only, so that a view hides the claim; we claim both."""
    graph = viewed()
    run(graph)
    for name in ("p", "view", "q"):
        assert dict(graph.node(name).outputs[0].desc.attrs) == CONCAT_CLAIM


def test_said_once_with_the_bytes_saved(run: Run) -> None:
    """Each task-free node ends with one applied remark that counts what it no longer copies."""
    remarks = run(three())
    finals = {r.node: (r.kind, r.code, r.bytes) for r in remarks.finals()}
    assert finals == {
        "cut": (RemarkKind.APPLIED, "NO_TASK", BYTES),
        "join": (RemarkKind.APPLIED, "NO_TASK", 2 * BYTES),
        "pack": (RemarkKind.APPLIED, "NO_TASK", 2 * BYTES),
    }


@pytest.mark.parametrize("make", [viewed, three])
def test_unmark_restores_the_graph(make: Callable[[], Graph], run: Run) -> None:
    """Taking back every mark gives the graph as it was, and taking back nothing changes nothing."""
    graph, untouched = make(), write_graph(make())
    run(graph)
    assert write_graph(graph) != untouched
    for node in list(graph.nodes):
        unmark(graph, node)
    assert write_graph(graph) == untouched
    version = graph.version
    unmark(graph, graph.node("join"))
    assert graph.version == version


def test_unmark_rolls_back(run: Run) -> None:
    """A planner may try a graph without a mark inside a transaction."""
    graph = viewed()
    run(graph)
    marked = write_graph(graph)
    with graph.transaction() as trial:
        unmark(graph, graph.node("join"))
        assert not is_marked(graph.node("join"))
        trial.rollback()
    assert write_graph(graph) == marked


def test_running_again_changes_nothing(run: Run) -> None:
    """Marked nodes are recognised, and their claims do not refuse them."""
    graph = three()
    run(graph)
    first = write_graph(graph)
    codes = {r.code for r in run(graph).finals()}
    assert (codes, write_graph(graph)) == ({"MARKED_BEFORE"}, first)


def test_every_placement_can_be_taken_back(environment_of: Callable[..., Any]) -> None:
    """The session is offered each mark with what it saves; undoing one leaves the others."""
    graph = three()
    offered = environment_of(graph).retractions
    assert [(item.node.name, item.bytes) for item in offered] == [
        ("cut", BYTES),
        ("join", 2 * BYTES),
        ("pack", 2 * BYTES),
    ]
    assert {item.remark.code for item in offered} == {"RAISES_PEAK"}
    offered[1].undo()
    assert [is_marked(graph.node(name)) for name in ("cut", "join", "pack")] == [True, False, True]


def test_a_single_copy_is_hinted_at(run: Run) -> None:
    """Where copying one operand would free the join, the remark names that edge, and no other."""
    b = GraphBuilder()
    b.net_output(concat(b, b.data("x", desc=HALF), computed(b, "q")))
    hint = run(b.graph).final("join").hint  # type: ignore[union-attr]  # it is there
    assert hint is not None and (hint.kind, hint.value) == ("edge", "x:0 -> join@0")
    b = GraphBuilder()
    b.net_output(concat(b, b.data("x", desc=HALF), b.data("y", desc=HALF)))
    assert run(b.graph).final("join").hint is None  # type: ignore[union-attr]  # it is there


def test_a_refusal_blames_both_nodes(run: Run) -> None:
    """A claimed operand is blamed together with the join that has it."""
    b = GraphBuilder()
    shared = computed(b, "p")
    first = concat(b, shared, computed(b, "q"), name="first")
    b.net_output(first, concat(b, shared, computed(b, "r")))
    final = run(b.graph).final("join")
    assert final is not None
    assert [(blame.node, blame.anchor) for blame in final.blame] == [("p", "p:0"), ("first", None)]


def test_bytes_reserved_early_are_counted(run: Run) -> None:
    """A join whose producers stand apart says how much of its buffer waits to be written."""
    b = GraphBuilder()
    p = computed(b, "p")
    big = b.op("Relu", p, name="big", outputs=[TensorDesc.make("float16", (512, 16))])
    q = b.op("Relu", big, name="q", outputs=[HALF])
    b.net_output(concat(b, p, q))
    said = [r for r in run(b.graph).of("join") if r.kind is RemarkKind.ANALYSIS]
    assert [(r.code, r.bytes) for r in said] == [("RESERVES_EARLY", BYTES)]
    assert early_bytes([p], Listing(b.graph)) == 0


def test_bytes_held_longer_are_counted(run: Run) -> None:
    """A split whose pieces are done at different times says how much is kept for nothing."""
    b = GraphBuilder()
    piece = TensorDesc.make("float16", (16, 16))
    cut = b.node("SplitD", computed(b, "x"), name="cut", outputs=[piece, piece])
    early = b.op("Relu", cut.outputs[0], name="early")
    b.net_output(early, b.op("Relu", cut.outputs[1], name="late"))
    said = [r for r in run(b.graph).of("cut") if r.kind is RemarkKind.ANALYSIS]
    assert [(r.code, r.bytes) for r in said] == [("HOLDS_LONGER", BYTES // 2)]


@pytest.mark.parametrize(("rows", "free"), [((3, 5), True), ((0, 5), False)])
def test_a_target_without_alignment_takes_any_whole_elements(
    rows: tuple[int, int], free: bool, run: Run, generic: Target, ascend: Target
) -> None:
    """30-byte pieces are free where pieces need no alignment; empty ones are nowhere."""

    def build() -> Graph:
        b = GraphBuilder()
        desc = TensorDesc.make("float16", rows)
        operands = [b.op("Relu", b.data(f"x{i}"), name=f"p{i}", outputs=[desc]) for i in (0, 1)]
        out = TensorDesc.make("float16", (2 * rows[0], rows[1]))
        b.net_output(b.op("ConcatD", *operands, name="join", outputs=[out]))
        return b.graph

    found = []
    for target in (generic, ascend):
        graph = build()
        run(graph, target=target)
        found.append(is_marked(graph.node("join")))
    assert found == [free, False]


def test_pieces_start_at_whole_elements_of_every_view(run: Run, generic: Target) -> None:
    """Bytes that a view calls float32 elsewhere start at a multiple of four."""

    def build(rows: int) -> Graph:
        b = GraphBuilder()
        wide = b.op("Relu", b.data("x"), name="wide", outputs=[TensorDesc.make("float32", (4,))])
        seen = b.op(
            "Bitcast", wide, name="seen", outputs=[TensorDesc.make("int8", (16,), reuse_input=0)]
        )
        narrow = b.op("Relu", b.data("y"), name="n", outputs=[TensorDesc.make("int8", (rows,))])
        later = b.op("Relu", b.data("z"), name="m", outputs=[TensorDesc.make("int8", (8,))])
        out = TensorDesc.make("int8", (rows + 24,))
        b.net_output(b.op("ConcatD", narrow, seen, later, name="join", outputs=[out]))
        return b.graph

    codes = []
    for rows in (8, 6):
        final = run(build(rows), target=generic).final("join")
        assert final is not None
        codes.append(final.code)
    assert codes == ["NO_TASK", "UNALIGNED_PIECE"]


def phony(op: str, fed: OutputAnchor, b: GraphBuilder) -> None:
    """A join or split without a kernel, between collectives and with a 30-byte piece."""
    small = TensorDesc.make("float16", (15, 16))
    rest = TensorDesc.make("float16", (17, 16))
    if op == "PhonySplit":
        cut = b.node(op, fed, name="phony", outputs=[small, rest])
        b.net_output(*(b.op("HcomAllReduce", o, name=f"r{o.index}") for o in cut.outputs))
        return
    pieces = [b.op("Relu", fed, name=f"p{at}", outputs=[d]) for at, d in enumerate((small, rest))]
    b.net_output(b.op("HcomAllReduce", b.op(op, *pieces, name="phony", outputs=[HALF]), name="r"))


@pytest.mark.parametrize("op", ["PhonyConcat", "PhonySplit"])
def test_what_has_no_kernel_is_marked(op: str, run: Run) -> None:
    """Phony joins and splits are marked whatever size or reader they have, as in GE."""
    b = GraphBuilder()
    phony(op, computed(b, "x"), b)
    final = run(b.graph).final("phony")
    assert final is not None and final.code == "NO_TASK"
    assert is_marked(b.graph.node("phony"))


def test_what_has_no_kernel_is_still_judged(run: Run) -> None:
    """A phony split of a constant, and a phony join of a graph input, can't be laid out."""
    b = GraphBuilder()
    phony("PhonySplit", b.const("w", bytes(BYTES), (32, 16), "float16"), b)
    codes = [run(b.graph).final("phony")]
    b = GraphBuilder()
    b.net_output(b.op("PhonyConcat", b.data("x", desc=HALF), name="phony", outputs=[HALF]))
    codes.append(run(b.graph).final("phony"))
    assert [final.code for final in codes if final] == ["FIXED_MEMORY", "FIXED_MEMORY"]


def test_others_see_the_marks_of_what_has_no_kernel(run: Run) -> None:
    """A Concat listed before a phony one that shares its operand comes second all the same."""
    b = GraphBuilder()
    shared = computed(b, "p")
    join = concat(b, shared, computed(b, "q"))
    held = b.op("PhonyConcat", shared, computed(b, "r"), name="phony", outputs=[join.desc])
    b.net_output(b.op("Relu", join, name="r0"), b.op("Relu", held, name="r1"))
    codes = {r.node: r.code for r in run(b.graph).finals()}
    assert codes == {"phony": "NO_TASK", "join": "CLAIMED"}
