"""What `ge explain` says of one node: last word first, nodes without one, names that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.ir import GraphBuilder, save_graph_file
from ge_core.session.kernel import forget_kernels

from .conftest import Ge


def test_a_node_that_no_pass_spoke_of(ge: Ge, graph_file: Path) -> None:
    """It is there: that is said, with its type."""
    ran = ge("explain", graph_file, "a")
    assert (2, True) == (ran.code, "no pass said anything of 'a' (Relu)" in ran.err), ran.err


def test_a_name_that_no_node_has(ge: Ge, graph_file: Path) -> None:
    """Nodes of that likeness are offered, whatever was said of them; short names too."""
    assert "no node 'joim'\n  near: join" in ge("explain", graph_file, "joim").err
    assert "no node 'mx'\n  near: x, mv" in ge("explain", graph_file, "mx").err
    assert "no node 'tial'\n  near: tail" in ge("explain", graph_file, "tial").err


def test_a_graph_without_copies(ge: Ge, tmp_path: Path) -> None:
    """Nothing is to be explained, and that is said in full."""
    build = GraphBuilder("plain")
    build.net_output(build.op("Relu", build.data("x", (4,)), name="a"))
    save_graph_file(build.graph, tmp_path / "plain.json")
    assert (
        "nothing to explain: no copies, and no other node that a pass changed or kept\n"
        == ge("explain", tmp_path / "plain.json").out
    )


SPEAKS = """\
from ge_core.api import ALWAYS, GraphPass, hookimpl

class Speaks(GraphPass, codes=("NOTE",)):
    '''Says that a move stays, and notes something of it.'''
    def run(self, graph, ctx):
        ctx.missed(graph.node("mv"), "NOTE")
        ctx.analysis(graph.node("mv"), "NOTE")

@hookimpl
def ge_register_passes(passes):
    passes.add(Speaks, levels=ALWAYS, stage="PREPARE")
"""


def test_an_earlier_word_is_marked(
    ge: Ge, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one, which holds, comes first; notes contradict nothing; no bytes, no number."""
    (tmp_path / "ge.toml").write_text('plugins = ["mine = speaking"]\n', encoding="utf-8")
    (tmp_path / "speaking.py").write_text(SPEAKS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_kernels()
    lines = ge("explain", graph_file, "mv").out.splitlines()
    said = "  mine.NOTE, said by mine.Speaks (speaking)"
    assert lines[0].startswith("mv (TensorMove) gone:")
    assert [
        "earlier: mv (TensorMove) stays: note",
        said,
        "mv (TensorMove) note: note",
        said,
    ] == lines[2:]
