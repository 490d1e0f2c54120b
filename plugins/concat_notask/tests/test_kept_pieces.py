"""The claim that placed joins and splits keep what they were placed for."""

from __future__ import annotations

from pathlib import Path

import pytest

import ge_core
from ge_concat_notask import is_marked, unmark
from ge_concat_notask.kept_pieces import pieces_of, pieces_stay
from ge_core.api import Graph, GraphBuilder, Node, PassError, TensorDesc

from .conftest import run_passes


def desc(size: int) -> TensorDesc:
    """So many float32."""
    return TensorDesc.make("float32", (size,))


def placed() -> tuple[Graph, Node]:
    """A join of two Relu outputs, marked by the pass."""
    build = GraphBuilder()
    x = build.data("x", desc=desc(8))
    parts = [build.op("Relu", x, name=f"part{at}") for at in range(2)]
    join = build.node("ConcatD", *parts, name="join", outputs=[desc(16)], attrs={"concat_dim": 0})
    build.net_output(build.op("Relu", join.outputs[0], name="after"))
    run_passes(build.graph)
    assert is_marked(join)
    return build.graph, join


def test_other_edits_are_free() -> None:
    """Attributes of the node, and an operand of the same size."""
    graph, join = placed()
    before = pieces_of(graph)
    assert [join] == list(before)
    graph.set_attr(join, "a", 1)
    graph.rewire(join.inputs[0], graph.node("x").outputs[0])
    assert pieces_stay(graph, before) is None


def test_an_operand_of_another_size() -> None:
    """The planner would lay it over its neighbour."""
    graph, _ = placed()
    before = pieces_of(graph)
    graph.set_desc(graph.node("part1").outputs[0], desc(9))
    breach = pieces_stay(graph, before)
    assert "node 'join' (ConcatD) was placed for inputs of 32, 32 bytes and has 32, 36 bytes" == (
        str(breach)
    )


def test_another_operand() -> None:
    """One that no rule was asked about."""
    graph, join = placed()
    before = pieces_of(graph)
    graph.add_input(join, graph.node("x").outputs[0])
    assert "and has 32, 32, 32 bytes" in str(pieces_stay(graph, before))


def test_a_node_whose_marks_are_taken_back_is_free() -> None:
    """It is an ordinary node again; one that is gone needs nothing."""
    graph, join = placed()
    before = pieces_of(graph)
    unmark(graph, join)
    graph.add_input(join, graph.node("x").outputs[0])
    assert pieces_stay(graph, before) is None
    graph, join = placed()
    before = pieces_of(graph)
    graph.bypass(join)
    assert pieces_stay(graph, before) is None


PLUGIN = """
from ge_core.api import ALWAYS, GraphPass, Stage, hookimpl

class Widens(GraphPass):
    def run(self, graph, ctx):
        join = graph.find("join")
        graph.add_input(join, graph.node("x").outputs[0])

@hookimpl
def ge_register_passes(passes):
    passes.add(Widens, levels=ALWAYS, stage=Stage.BEFORE_BUILD)
"""


def test_a_third_party_that_widens_a_placed_join(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is told at once, and not when the plan or the proof fails."""
    pytest.importorskip("ge_memassign", reason="plans with graph-engine-memassign")
    (tmp_path / "ge.toml").write_text('plugins = ["mine = widening"]\n')
    (tmp_path / "widening.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    build = GraphBuilder()
    x = build.data("x", desc=desc(8))
    parts = [build.op("Relu", x, name=f"part{at}") for at in range(2)]
    join = build.op("ConcatD", *parts, name="join", outputs=[desc(16)], attrs={"concat_dim": 0})
    build.net_output(build.op("Relu", join, name="after"))
    with pytest.raises(PassError) as raised:
        ge_core.compile(build.graph)
    assert raised.value.message.startswith("pass 'mine.Widens' breaks the claim 'placed_pieces'")
    assert "node 'join' (ConcatD) was placed for inputs of 32, 32 bytes" in raised.value.message
