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


def save(build: GraphBuilder, folder: Path) -> Path:
    """The graph as a file."""
    path = folder / "graph.json"
    save_graph_file(build.graph, path)
    return path


def undeclared() -> GraphBuilder:
    """A copy of a graph input that only needs a declaration."""
    build = GraphBuilder("undeclared")
    mv = build.op("TensorMove", build.data("x"), name="mv")
    build.net_output(build.op("Exp", mv, name="use"))
    return build


def test_the_way_on_is_tried(ge: Ge, tmp_path: Path) -> None:
    """The option that a hint names is set, and what comes of it is the last line."""
    path = save(undeclared(), tmp_path)
    out = ge("explain", path, "mv", "-O", "O3").out.splitlines()
    assert "  tried: it goes with --set ge.exec.inputReuseMemIndexes=0" == out[-1]
    tried = ge("explain", path, "mv", "-O", "O3", "--format", "json").json["tried"]
    change = "with --set ge.exec.inputReuseMemIndexes=0"
    assert [{"change": change, "gone": True, "code": "REMOVED"}] == tried


def test_a_hint_that_is_an_edit_is_tried_on_a_copy_of_the_graph(ge: Ge, tmp_path: Path) -> None:
    """The mark is taken off; the file stays as it is."""
    build = GraphBuilder("marked")
    act = build.op("Relu", build.data("x"), name="act")
    mv = build.op("TensorMove", act, name="mv", attrs={"_cannot_be_deleted": True})
    build.net_output(build.op("Exp", mv, name="use"))
    path = save(build, tmp_path)
    before = path.read_bytes()
    out = ge("explain", path, "mv").out.splitlines()
    assert "  tried: it goes without the mark _cannot_be_deleted of mv" == out[-1]
    assert before == path.read_bytes()


WISHES = """\
from ge_core.api import hookimpl, Keep

def never(copy):
    return Keep("NEVER", hint={"set": "ge.exec.inputReuseMemIndexes=7"})

@hookimpl
def ge_register_delete_rules(rules):
    rules.add("never", never, codes={"NEVER": "because"})
"""


def test_a_hint_that_does_not_help_is_found_out(
    ge: Ge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third party's rule promises too much: with what it says the copy stays, and at O4 too."""
    build = GraphBuilder("plain")
    act = build.op("Relu", build.data("x"), name="act")
    build.net_output(build.op("Exp", build.op("TensorMove", act, name="mv"), name="use"))
    path = save(build, tmp_path)
    (tmp_path / "ge.toml").write_text('plugins = ["mine = wishing"]\n', encoding="utf-8")
    (tmp_path / "wishing.py").write_text(WISHES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_kernels()
    out = ge("explain", path, "mv").out.splitlines()
    change = "with --set ge.exec.inputReuseMemIndexes=7"
    assert f"  tried: it stays {change} too (mine.NEVER)" in out


WRONG = """\
from dataclasses import dataclass
from ge_core.api import GraphPass, Level, Stage, hookimpl

@dataclass(frozen=True)
class Wrong(GraphPass):
    "Takes out what computes something."

    def run(self, graph, ctx):
        for node in graph.nodes_of("Relu"):
            graph.bypass(node)

@hookimpl
def ge_register_passes(passes):
    passes.add(Wrong, levels=Level.O4.and_above(), stage=Stage.OPTIMIZE_STAGE1)
"""


def test_what_can_not_be_proved_is_no_way_on(
    ge: Ge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy would go at O4, in a compile that is wrong; to ask about that one is an error."""
    build = GraphBuilder("beside")
    act = build.op("Relu", build.data("x"), name="act")
    mv = build.op("TensorMove", act, name="mv")
    spoiled = build.op("HcomAllReduce", mv, name="spoils", attrs={"_input_mutable": True})
    build.net_output(spoiled, build.op("Neg", act, name="side"))
    path = save(build, tmp_path)
    assert "  tried: it goes with -O O4" in ge("explain", path, "mv").out.splitlines()
    (tmp_path / "ge.toml").write_text('plugins = ["mine = wronging"]\n', encoding="utf-8")
    (tmp_path / "wronging.py").write_text(WRONG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_kernels()
    ran = ge("explain", path, "mv")
    said = "  tried: with -O O4 the model can't be proved (GE00008)"
    assert (0, said) == (ran.code, ran.out.splitlines()[-1])
    ran = ge("explain", path, "mv", "-O", "O4")
    assert (5, True) == (ran.code, "the proof failed" in ran.err)
    assert ran.out.startswith("mv (TensorMove)")
    ran = ge("explain", path, "mv", "-O", "O4", "--format", "json")
    assert (5, False) == (ran.code, ran.json["proof"]["ok"])


def test_nothing_is_tried_as_it_is(ge: Ge, tmp_path: Path) -> None:
    """One compile, no more."""
    path = save(undeclared(), tmp_path)
    ran = ge("explain", path, "mv", "--as-it-is")
    assert (0, False) == (ran.code, "tried" in ran.out)


def test_a_copy_that_went_needs_no_trial(ge: Ge, graph_file: Path) -> None:
    """Its story ends with who reads what now."""
    out = ge("explain", graph_file, "mv").out.splitlines()
    assert out[-1].startswith("  now ")


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
    ] == lines[2:6]
