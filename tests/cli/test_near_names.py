"""What is offered for a name that nobody has: options of passes too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.session.kernel import forget_kernels

from .conftest import Ge

CASTS = """\
from dataclasses import dataclass
from ge_core.api import ALWAYS, GraphPass, hookimpl

@dataclass(frozen=True)
class DropCasts(GraphPass):
    '''Does nothing.'''
    shared: bool = False
    def run(self, graph, ctx):
        pass

@hookimpl
def ge_register_passes(passes):
    passes.add(DropCasts, levels=ALWAYS, stage="PREPARE")
    passes.add("there_is_no_module:DropCopies", name="DropCopies", levels=(), stage="PREPARE")
"""


@pytest.mark.parametrize(
    "name",
    ["DropCasts.shared", "mine.DropCast.shared", "DropCasts.shard"],
)
def test_an_option_of_a_pass_is_near(
    name: str, ge: Ge, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the pass itself; a pass nearby that can't be loaded is no obstacle."""
    (tmp_path / "ge.toml").write_text('plugins = ["mine = casts"]\n', encoding="utf-8")
    (tmp_path / "casts.py").write_text(CASTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_kernels()
    ran = ge("compile", graph_file, "--set", f"{name}=true")
    assert 2 == ran.code, ran.err
    assert "  near: mine.DropCasts.shared (casts)" in ran.err
