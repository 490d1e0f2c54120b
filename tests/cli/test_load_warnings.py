"""A plugin that is broken or absent is told by every command that loads plugins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.cli.main import COMMANDS
from ge_core.session.kernel import forget_kernels

from .conftest import Ge

BROKEN = "plugin 'mine' (broken) failed at import: No module named 'there_is_none'"
COMPILED = ("OUT/compiled.json", "OUT/plan.json")

TOLD = {
    "compile": ("compile", "GRAPH", "--print-pipeline"),
    "run": ("run", "GRAPH"),
    "explain": ("explain", "GRAPH"),
    "verify": ("verify", "GRAPH", *COMPILED),
    "case": ("case", "OUT/nothing"),
    "passes": ("passes",),
    "passes show": ("passes", "show", "TensorMoveDeletePass"),
    "passes why": ("passes", "why", "TensorMoveDeletePass"),
    "passes claims": ("passes", "claims"),
    "pipelines": ("pipelines",),
    "pipeline": ("pipeline", "show"),
    "pipeline diff": ("pipeline", "diff", "O1", "O2"),
    "options": ("options",),
    "options show": ("options", "show", "ge.oo.level"),
    "checkers": ("checkers",),
    "assigners": ("assigners",),
    "targets": ("targets",),
}
NEED_NO_PLUGINS = {"convert", "new", "plugins"}
"""`ge plugins` imports none; what its doctor says of a failure is tested with it."""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph_file: Path, ge: Ge) -> Path:
    """A project whose plugin can't be imported; the sample graph is compiled there already."""
    folder = tmp_path / "project"
    (folder / "nothing").mkdir(parents=True)
    compiled, plan = (folder / name.removeprefix("OUT/") for name in COMPILED)
    assert 0 == ge("compile", graph_file, "-o", compiled, "--plan", plan).code
    (folder / "ge.toml").write_text('plugins = ["mine = broken"]\n', encoding="utf-8")
    (folder / "broken.py").write_text("import there_is_none\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    forget_kernels()
    return folder


def test_every_command_that_loads_plugins_is_listed() -> None:
    """A new command tells too, or says here why it needn't."""
    assert set(COMMANDS) - NEED_NO_PLUGINS == {words[0] for words in TOLD.values()}


@pytest.mark.parametrize("command", TOLD)
def test_a_broken_plugin_is_told_once_on_standard_error(
    command: str, broken: Path, graph_file: Path, ge: Ge
) -> None:
    """With package and what happened; results on standard output stay as they are."""
    places = {"GRAPH": str(graph_file), "OUT": str(broken)}
    ran = ge(*(places.get(w) or w.replace("OUT/", f"{broken}/") for w in TOLD[command]))
    assert [f"warning: not loaded: {BROKEN}"] == [
        line for line in ran.err.splitlines() if "not loaded" in line
    ]
    assert BROKEN not in ran.out


@pytest.mark.parametrize("command", ["compile", "explain", "run"])
def test_documents_hold_the_warnings(command: str, broken: Path, graph_file: Path, ge: Ge) -> None:
    """Then nothing is written besides them."""
    ran = ge(command, graph_file, "--format", "json")
    assert [f"not loaded: {BROKEN}"] == [w for w in ran.json["warnings"] if "not loaded" in w]
    assert "" == ran.err


@pytest.mark.parametrize("command", TOLD)
def test_it_is_an_error_under_strict_plugins(
    command: str, broken: Path, graph_file: Path, ge: Ge
) -> None:
    """Exit code 4, and no result."""
    places = {"GRAPH": str(graph_file)}
    words = (places.get(w) or w.replace("OUT/", f"{broken}/") for w in TOLD[command])
    ran = ge("--strict-plugins", *words)
    assert (4, "", True) == (ran.code, ran.out, BROKEN in ran.err)
