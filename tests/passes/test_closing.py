"""The last word: every copy ends with exactly one final remark, and which the kernel gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ge_core
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, Level, PassContext, Remark
from ge_core.passes.environment import Environment
from ge_core.passes.manager import RunReport
from ge_core.passes.precedence import Source
from ge_core.passes.remarks import Remarks

Run = Callable[..., tuple[Environment, RunReport]]


class Silent(GraphPass):
    """Says nothing."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def model() -> Graph:
    """One node of every kind that must be explained, one of them in a subgraph."""
    builder = GraphBuilder()
    x = builder.data("x", (4, 8))
    for op, name in (("TensorMove", "move"), ("Identity", "id"), ("Slice", "slice")):
        builder.node(op, x, name=name)
    builder.node("ConcatD", x, x, name="concat", shape=(8, 8), attrs={"concat_dim": 0})
    builder.node("Pack", x, x, name="pack", shape=(2, 4, 8))
    half = builder.node("Relu", x, name="relu", shape=(2, 8)).outputs[0].desc
    builder.node("SplitD", x, name="split", outputs=[half, half])
    inner = builder.subgraph("g")
    inner.node("TensorMove", inner.data("d"), name="inner")
    builder.node("PartitionedCall", x, name="call", subgraphs={"f": inner})
    return builder.graph


def finals(run: Run, *sources: Source, **handler: Any) -> dict[str, Remark]:
    """Final remarks by node, with one silent pass `Remover`."""
    passes = {"Remover": {"cls": Silent, **handler}} if handler else {}
    env, _ = run(model(), passes, sources)
    nodes = [remark.node for remark in env.remarks.finals()]
    assert sorted(set(nodes)) == sorted(nodes)
    return {remark.node: remark for remark in env.remarks.finals()}


def test_every_copy_ends_with_one_final_remark(run: Run) -> None:
    """Moves, joins, packs, splits and slices, in subgraphs too, and nothing else."""
    found = finals(run)
    assert ["concat", "id", "inner", "move", "pack", "slice", "split"] == sorted(found)
    assert {"NO_RULE_AT_LEVEL"} == {remark.code for remark in found.values()}


def test_bytes_that_a_copy_moves(run: Run) -> None:
    """Of the tensor; of what a join gathers; of all that a split gives."""
    found = finals(run)
    assert {"move": 128, "concat": 256, "pack": 256, "split": 128, "slice": 128} == {
        name: found[name].bytes for name in ("move", "concat", "pack", "split", "slice")
    }


def test_a_pass_may_handle_one_op_of_a_kind(run: Run) -> None:
    """Then it is no help for the others."""
    off = Source("arguments", disable=("Remover",))
    found = finals(run, off, levels=Level.O0.and_above(), handles=("TensorMove",))
    assert ("PASS_OFF", "NO_RULE_AT_LEVEL") == (found["move"].code, found["id"].code)


def test_a_level_too_low_names_the_first_level_that_would_do(run: Run) -> None:
    """As the one change that would help."""
    low = Source("arguments", {"ge.oo.level": "O1"})
    remark = finals(run, low, levels=Level.O3.and_above(), handles=("move",))["move"]
    assert "NO_RULE_AT_LEVEL" == remark.code
    assert "no pass that runs at level O1 has a rule for it" == remark.reason
    assert remark.hint is not None
    assert ("set", "ge.oo.level=O3") == (remark.hint.kind, remark.hint.value)


@pytest.mark.parametrize(
    ("source", "about", "why"),
    [
        (Source("arguments", disable=("Remover",)), {}, "arguments: disable Remover"),
        (
            Source("arguments", {"ge.oo.constantFolding": "false"}),
            {"switch": "ge.oo.constantFolding"},
            "arguments: ge.oo.constantFolding=false",
        ),
    ],
)
def test_a_pass_that_is_switched_off(
    run: Run, source: Source, about: dict[str, Any], why: str
) -> None:
    """PASS_OFF names the pass, who switched it off, and how to have it back."""
    found = finals(run, source, levels=Level.O0.and_above(), handles=("move",), **about)
    remark = found["move"]
    assert ("PASS_OFF", "Remover", f"pass Remover is off ({why})") == (
        remark.code,
        remark.pass_name,
        remark.reason,
    )
    assert remark.hint is not None and "--enable Remover" == remark.hint.value
    assert "NO_RULE_AT_LEVEL" == found["concat"].code


def test_what_a_pass_decided_stands(run: Run) -> None:
    """The kernel speaks only where no pass did; an analysis is no decision."""

    class Speaks(GraphPass, codes=("KEPT", "SEEN")):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            for node in graph.nodes_of("TensorMove"):
                ctx.missed(node, "KEPT")
            for node in graph.nodes_of("Identity"):
                ctx.analysis(node, "SEEN")

    env, _ = run(model(), {"P": {"cls": Speaks}})
    codes = {remark.node: remark.code for remark in env.remarks.finals()}
    assert ("KEPT", "KEPT", "NO_RULE_AT_LEVEL") == (codes["move"], codes["inner"], codes["id"])


def test_a_copy_that_a_pass_inserts_needs_its_word_too(run: Run) -> None:
    """Also one that the original graph didn't have."""

    class Inserts(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            if graph.is_root:
                feed = graph.node("x").outputs[0]
                graph.add_node("Identity", "isolated", [feed], [feed.desc], origin=())

    env, _ = run(model(), {"P": {"cls": Inserts}})
    final = env.remarks.final("isolated")
    assert final is not None and final.code == "NO_RULE_AT_LEVEL"


def test_a_size_that_is_not_known(run: Run) -> None:
    """Bytes are None rather than a guess."""
    builder = GraphBuilder()
    builder.node("TensorMove", builder.data("x", (-1, 8)), name="move")
    env, _ = run(builder.graph, {})
    final = env.remarks.final("move")
    assert final is not None and final.bytes is None


def test_write_backs_are_told_of_unless_somebody_has_spoken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are counted as copies; no remarks are searched for each of a hundred of them."""
    build = GraphBuilder("n")
    x = build.data("x")
    for at in range(100):
        memory = build.op("Variable", name=f"v{at}")
        build.op("Assign", memory, x, name=f"back{at}", reuse_input=0)
    build.net_output(x)
    monkeypatch.setattr(Remarks, "of", lambda *_: pytest.fail("searched"))
    result = ge_core.compile(build.graph, level="O3")
    said = {remark.node: remark.code for remark in result.remarks.finals()}
    assert {f"back{at}": "NO_RULE_AT_LEVEL" for at in range(100)} == said
    assert 100 == result.before.total.count
