"""The story behind a remark: the way of the value, who else uses its memory, what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ge_core as ge
from ge_core.api import GraphBuilder, OutputAnchor
from ge_core.session.journey import Journey
from ge_core.session.kernel import forget_kernels

SCRIBBLE = {"_input_mutable": True}


def told(b: GraphBuilder, node: str = "mv", **given: Any) -> Journey:
    """The journey of a node of the graph, compiled at O3."""
    found = ge.compile(b.graph, prove=False, **given).journey(node)
    assert found is not None
    return found


def hops(journey: Journey, at: int = 0) -> list[tuple[str, str]]:
    """How the value of one input goes."""
    return [(hop.anchor, hop.how) for hop in journey.values[at].trail.hops]


def others(journey: Journey) -> list[tuple[str, str, str]]:
    """Who else uses the memory on the way to the first input."""
    return [(a.anchor, a.does, a.when) for a in journey.values[0].others]


def made(b: GraphBuilder, name: str = "act") -> OutputAnchor:
    """A value of this run."""
    return b.op("Relu", b.data(f"in_{name}"), name=name)


def test_the_way_of_a_value_is_told_hop_by_hop() -> None:
    """Through a view, into a call and out of it again, from where it is made."""
    b = GraphBuilder()
    inside = b.subgraph("g")
    inside.net_output(inside.op("Reshape", inside.data("g/d"), name="g/v", reuse_input=0))
    call = b.op("PartitionedCall", made(b), name="call", subgraphs={"f": inside})
    b.net_output(b.op("Exp", b.op("TensorMove", call, name="mv"), name="use"))
    assert [
        ("act:0", "source"),
        ("g/d:0", "enters"),
        ("g/v:0", "view"),
        ("call:0", "leaves"),
    ] == hops(told(b))


def test_a_long_way_is_told_by_its_ends() -> None:
    """The document has all of it."""
    b = GraphBuilder()
    at = made(b)
    for number in range(20):
        at = b.op("Reshape", at, name=f"v{number}", reuse_input=0)
    b.net_output(b.op("Exp", b.op("TensorMove", at, name="mv"), name="use"))
    result = ge.compile(b.graph, prove=False)
    lines = result.explain("mv").splitlines()
    shown = [line for line in lines if "(Reshape)" in line or "(Relu)" in line]
    assert ("     by  9 more of its names" in lines, 12) == (True, len(shown))
    journey = result.journey("mv")
    assert journey is not None
    assert 21 == len(journey.to_json()["values"][0]["path"])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda b: b.data("x"), "the caller's input 0"),
        (lambda b: b.op("Variable", name="w"), "a variable, which keeps its value for other runs"),
        (lambda b: b.op("FileConstant", name="k"), "a constant, the same in every run"),
        (made, None),
    ],
)
def test_a_source_is_special_or_private(
    make: Callable[[GraphBuilder], OutputAnchor], words: str | None
) -> None:
    """And why is said: who outside of this run relies on it."""
    b = GraphBuilder()
    b.net_output(b.op("Exp", b.op("TensorMove", make(b), name="mv"), name="use"))
    assert words == told(b).values[0].trail.special


def test_a_trace_that_ends_early_says_why() -> None:
    """The first hop is as far as it went."""
    b = GraphBuilder()
    arms = {}
    for name in ("b0", "b1"):
        arm = b.subgraph(name)
        arm.net_output(arm.op("Exp", arm.data(f"{name}/d"), name=f"{name}/e"))
        arms[name] = arm
    case = b.op("Case", made(b), name="case", subgraphs=arms)
    b.net_output(b.op("Exp", b.op("TensorMove", case, name="mv"), name="use"))
    journey = told(b)
    assert ("control flow", [("case:0", "source")]) == (
        journey.values[0].trail.stopped,
        hops(journey),
    )


def test_others_on_the_memory_are_told_with_their_order() -> None:
    """By edges: before, after everybody, after the copy alone, or only as it is listed."""
    b = GraphBuilder()
    act = made(b)
    early = b.op("Exp", act, name="early")
    mv = b.op("TensorMove", act, name="mv", control=[early])
    use = b.op("Exp", mv, name="use")
    b.op("Exp", act, name="loose")
    b.op("Exp", act, name="half", control=[mv])
    last = b.op("HcomAllReduce", act, name="last", attrs=SCRIBBLE, control=[use])
    b.net_output(use, last)
    assert [
        ("early@0", "reads", "before the copy"),
        ("loose@0", "reads", "in no order with the copy, listed after it"),
        ("half@0", "reads", "after the copy, in no order with use"),
        ("last@0", "uses up", "after all that read the copy"),
    ] == others(told(b))


def test_what_other_branches_do_is_told_as_such() -> None:
    """They never run together with the copy."""
    b = GraphBuilder()
    arms = {}
    for name in ("then_branch", "else_branch"):
        arm = b.subgraph(name)
        inner = arm.data(f"{name}/d", index=1)
        value = arm.op("TensorMove", inner, name="mv") if name == "then_branch" else inner
        arm.net_output(arm.op("Exp", value, name=f"{name}/e"))
        arms[name] = arm
    b.net_output(b.op("If", made(b, "cond"), made(b), name="if", subgraphs=arms))
    assert [("else_branch/e@0", "reads", "in another branch")] == others(told(b))


def test_of_many_the_writers_are_told_and_the_rest_is_counted() -> None:
    """A story is short."""
    b = GraphBuilder()
    act = made(b)
    uses = [b.op("Exp", act, name=f"r{at}") for at in range(8)]
    use = b.op("Exp", b.op("TensorMove", act, name="mv"), name="use")
    last = b.op("HcomAllReduce", act, name="last", attrs=SCRIBBLE, control=[use, *uses])
    b.net_output(last, use, *uses)
    journey = told(b)
    assert (["r0@0", "r1@0", "r2@0", "r3@0", "r4@0", "last@0"], 3) == (
        [name for name, _, _ in others(journey)],
        journey.values[0].more,
    )


def test_a_copy_that_went_leaves_edges_and_new_sources() -> None:
    """The store waits for the sibling now, and reads the source."""
    b = GraphBuilder()
    act = made(b)
    b.op("Exp", act, name="side")
    mv = b.op("TensorMove", act, name="mv")
    b.net_output(b.op("Assign", mv, made(b, "new"), name="s", reuse_input=0))
    result = ge.compile(b.graph)
    journey = result.journey("mv")
    assert journey is not None
    assert (True, (("side", "s"),), {"s@0": "act:0"}) == (
        journey.gone,
        journey.edges,
        dict(journey.now),
    )
    assert result.explain("mv").splitlines()[2:] == [
        "  mv@0 reads",
        "    from act:0 (Relu): made here",
        "    besides, on that memory:",
        "      side@0 (Exp) reads act:0, in no order with the copy, listed before it",
        "  what it makes is used by",
        "    s@0 (Assign) overwrites mv:0",
        "    NetOutput@0 (NetOutput) returns s:0",
        "  why that is safe: every write is ordered behind the reads that must not see it",
        "  edges added: side -> s",
        "  now s@0 reads act:0",
    ]


def test_who_waits_for_a_copy_is_told() -> None:
    """They may rely on its being done."""
    b = GraphBuilder()
    mv = b.op("TensorMove", made(b), name="mv")
    later = b.op("Exp", made(b, "other"), name="later", control=[mv])
    b.net_output(mv, later)
    assert ("later",) == told(b).waiting


def test_a_copy_of_nothing_has_no_way() -> None:
    """Nothing is connected, and its readers are told all the same."""
    b = GraphBuilder()
    b.net_output(b.op("Exp", b.op("TensorMove", None, name="mv"), name="use"))
    journey = told(b)
    assert ((), ["use@0"]) == (journey.values, [a.anchor for a in journey.readers])


INSERTS = '''\
from ge_core.api import ALWAYS, GraphPass, hookimpl

class Inserts(GraphPass, codes=("WANTED",)):
    """Puts a copy in front of every Exp."""
    def run(self, graph, ctx):
        for node in list(graph.nodes_of("Exp")):
            feed = node.inputs[0].source
            made = graph.add_node(
                "Identity", "put_in", [feed], [feed.desc], attrs={"_cannot_be_deleted": True},
                origin=(), before=node,
            )
            graph.rewire(node.inputs[0], made.outputs[0])
            ctx.missed(made, "WANTED", blame=[feed, node.inputs[0]], bytes=feed.desc.nbytes)

@hookimpl
def ge_register_passes(passes):
    passes.add(Inserts, levels=ALWAYS, stage="SCHEDULE")

@hookimpl
def ge_register_trace_rules(rules):
    rules.add("AcmeWindow", step=lambda anchor, trace: trace.through(anchor.node.inputs[0]))
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A third party's pass and trace rule."""
    (tmp_path / "ge.toml").write_text('plugins = ["mine = inserting"]\n', encoding="utf-8")
    (tmp_path / "inserting.py").write_text(INSERTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_kernels()
    yield
    forget_kernels()


@pytest.mark.usefixtures("plugin")
def test_a_copy_that_a_pass_put_in_is_told_in_the_compiled_graph() -> None:
    """With a third party's trace rule on the way, by its name."""
    b = GraphBuilder()
    window = b.op("AcmeWindow", made(b), name="window")
    b.net_output(b.op("Exp", window, name="use"))
    result = ge.compile(b.graph, prove=False)
    journey = result.journey("put_in")
    assert journey is not None
    assert (True, False, [("act:0", "source"), ("window:0", "rule")]) == (
        journey.inserted,
        journey.gone,
        hops(journey),
    )
    lines = result.explain("put_in").splitlines()
    assert "  because of window:0, use@0" in lines
    assert "  a pass put it in; seen in the compiled graph" in lines
    assert (
        "     to  window:0 (AcmeWindow): taken for what window@0 reads, says the trace rule of"
        " inserting" in lines
    )


BOTH = (
    INSERTS.replace(
        "@hookimpl\ndef ge_register_passes",
        '''\
class TakesOut(GraphPass, codes=("UNNEEDED",)):
    """Takes such copies out again."""
    def run(self, graph, ctx):
        for node in list(graph.nodes_of("Identity")):
            graph.bypass(node)
            ctx.applied(node, "UNNEEDED")

@hookimpl
def ge_register_delete_rules(rules):
    rules.add("never", lambda copy: Keep("NEVER"), codes={"NEVER": "because"})

@hookimpl
def ge_register_passes''',
    )
    .replace(
        'stage="SCHEDULE")',
        """stage="SCHEDULE")
    passes.add(TakesOut, levels=ALWAYS, stage="SCHEDULE", after=["Inserts"])""",
    )
    .replace("hookimpl", "Keep, hookimpl", 1)
)


@pytest.mark.usefixtures("plugin")
def test_a_copy_that_came_and_went_is_told_by_its_remarks(tmp_path: Path) -> None:
    """Neither graph has it; and who keeps another copy is a rule that its pass has asked."""
    (tmp_path / "inserting.py").write_text(BOTH, encoding="utf-8")
    b = GraphBuilder()
    mv = b.op("TensorMove", made(b), name="mv")
    b.net_output(b.op("Exp", mv, name="use"))
    result = ge.compile(b.graph, prove=False)
    assert None is result.journey("put_in")
    last = result.explain("put_in").splitlines()[-1]
    assert "  neither graph has it: a pass put it in, and another took it out" == last
    assert "  mine.NEVER comes from mine.never (inserting)" in result.explain("mv").splitlines()


def test_blamed_operands_of_a_join_come_first() -> None:
    """Of many inputs only some are followed."""
    b = GraphBuilder()
    parts = [made(b, f"p{at}") for at in range(6)]
    claimed = b.op("ConcatD", parts[5], made(b, "q"), name="first", shape=(2, 16))
    joined = b.op("ConcatD", *parts, name="join", shape=(6, 16))
    b.net_output(claimed, joined)
    result = ge.compile(b.graph, prove=False, target="ascend")
    blamed = [blame.anchor for blame in result.remarks.final("join").blame]  # type: ignore[union-attr]
    journey = result.journey("join")
    assert journey is not None
    assert "p5:0" in blamed
    assert ["join@5", "join@0", "join@1", "join@2"] == [value.input for value in journey.values]
