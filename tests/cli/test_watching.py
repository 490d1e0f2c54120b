"""`ge compile` watched: dumps between passes, times, audits, counts per pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.api import Instrument, PassContext
from ge_core.ir import load_graph_file, print_graph
from ge_core.session.front import compile

from .conftest import Ge

REMOVAL = "TensorMoveDeletePass"


def dumped(folder: Path) -> list[str]:
    """What was dumped, without the numbers."""
    return sorted(path.stem.partition("_")[2] for path in folder.glob("*.json"))


def test_the_graph_after_every_pass(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """As JSON that reads back and as text, numbered; the start among them."""
    folder = tmp_path / "ir"
    ran = ge("compile", graph_file, "--dump-ir", folder, "--format", "json")
    assert 0 == ran.code
    names = [run["name"] for run in ran.json["passes"]]
    assert sorted(["start", *names]) == dumped(folder)
    for path in folder.glob("*.json"):
        assert print_graph(load_graph_file(path)) == path.with_suffix(".txt").read_text()


def test_the_graph_after_passes_that_changed_it(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """And after named ones."""
    changed = ge(
        "compile", graph_file, "--dump-ir", tmp_path / "a", "--dump-changed", "--format", "json"
    )
    names = [run["name"] for run in changed.json["passes"] if run["changed"]]
    assert sorted(["start", *names]) == dumped(tmp_path / "a")
    ge("compile", graph_file, "--dump-ir", tmp_path / "b", "--dump-after", REMOVAL)
    assert sorted(["start", REMOVAL]) == dumped(tmp_path / "b")


def test_nothing_fails_and_nothing_is_dumped(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """Not even the folder is made."""
    assert 0 == ge("compile", graph_file, "--dump-ir", tmp_path / "c", "--dump-failed").code
    assert not (tmp_path / "c").exists()


def test_a_dump_after_a_pass_that_does_not_run(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """A warning: nobody should wait for it."""
    ran = ge("compile", graph_file, "-O", "O1", "--dump-ir", tmp_path, "--dump-after", REMOVAL)
    assert f"warning: nothing is dumped after pass {REMOVAL}: it does not run" in ran.out


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--dump-changed",), "--dump-changed says nothing without --dump-ir DIR"),
        (("--dump-failed",), "--dump-failed says nothing without --dump-ir DIR"),
        (("--dump-after", REMOVAL), "--dump-after says nothing without --dump-ir DIR"),
        (
            ("--dump-ir", "ir", "--dump-changed", "--dump-failed"),
            "--dump-changed and --dump-failed contradict each other",
        ),
        (("--dump-ir", "ir", "--dump-after", "TensorMoveDelete"), f"near: {REMOVAL}"),
    ],
)
def test_flags_that_can_not_be_met(
    ge: Ge, graph_file: Path, flags: tuple[str, ...], words: str
) -> None:
    """Before anything is compiled."""
    ran = ge("compile", graph_file, *flags)
    assert (2, True) == (ran.code, words in ran.err)


def test_where_the_time_went(ge: Ge, graph_file: Path) -> None:
    """A tree of steps, passes and checks, as text or in the document."""
    document = ge("compile", graph_file, "--timing", "--format", "json").json
    tree = document["timing"]
    assert ["load", "passes", "proof"] == [child["name"] for child in tree["children"]]
    below = [child["name"] for child in tree["children"][1]["children"]]
    ran = [run["name"] for run in document["passes"]]
    assert ran == [name for name in below if name in ran]
    assert "stage MEM_ASSIGN" in below
    lines = ge("compile", graph_file, "--timing").out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.endswith("s  compile"))
    assert len(lines) - first == sum(1 for _ in _spans(tree))
    assert "timing" not in ge("compile", graph_file, "--format", "json").json


def _spans(tree: dict[str, object]) -> list[object]:
    children = tree.get("children", [])
    assert isinstance(children, list)
    return [tree, *(span for child in children for span in _spans(child))]


def test_how_each_pass_changed_the_ops(ge: Ge, graph_file: Path) -> None:
    """The removal of copies takes one TensorMove; most passes change none."""
    runs = {
        run["name"]: run for run in ge("compile", graph_file, "--format", "json").json["passes"]
    }
    assert {"TensorMove": -1} == runs[REMOVAL]["ops"]
    assert {} == runs["ConcatNotaskPass"]["ops"]
    assert {} == runs[REMOVAL]["counters"]


def test_a_compile_under_audit(ge: Ge, graph_file: Path) -> None:
    """Built-in passes keep what they promise; the result is the same."""
    plain = ge("compile", graph_file, "--format", "json").json
    audited = ge("compile", graph_file, "--audit", "--verify-each", "--format", "json").json
    assert plain["copies"] == audited["copies"]


class Watches(Instrument):
    """Notes the passes that changed something."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        """Note it."""
        if changed:
            self.seen.append(ctx.declaration.name)


def test_an_instrument_given_from_python(graph_file: Path) -> None:
    """It watches this compile, and no other."""
    watch = Watches()
    result = compile(graph_file, instruments=[watch])
    assert [run.name for run in result.passes if run.changed] == watch.seen
    compile(graph_file)
    assert len([run for run in result.passes if run.changed]) == len(watch.seen)


def test_what_a_pass_counted(
    ge: Ge, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it in the document; in the report for people without what it met nothing of."""
    (tmp_path / "ge.toml").write_text('plugins = ["mine = counting"]\n')
    (tmp_path / "counting.py").write_text(
        "from ge_core.api import ALWAYS, GraphPass, hookimpl\n"
        "class Counts(GraphPass, counters=('graphs', 'never')):\n"
        "    '''Counts graphs.'''\n"
        "    def run(self, graph, ctx):\n"
        "        ctx.count('graphs')\n"
        "@hookimpl\n"
        "def ge_register_passes(passes):\n"
        "    passes.add(Counts, levels=ALWAYS, stage='CHECK')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    runs = ge("compile", graph_file, "--format", "json").json["passes"]
    assert {"graphs": 1, "never": 0} == runs[-1]["counters"]
    lines = ge("compile", graph_file).out.splitlines()
    assert ["  counted  mine.Counts: graphs 1"] == [
        line for line in lines if line.startswith("  counted  mine.")
    ]
