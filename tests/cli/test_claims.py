"""`ge passes claims`, and what `ge passes show` says of claims, promises and counters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ge_core.session.kernel import forget_kernels

from .conftest import Ge

PLUGIN = '''
from ge_core.api import ALWAYS, GraphPass, hookimpl

class Tidies(GraphPass, counters={"seen": "graphs seen"}):
    """Tidies."""

    def run(self, graph, ctx):
        ctx.count("seen")

class Relies(Tidies):
    """Relies on it."""

@hookimpl
def ge_register_passes(passes):
    passes.add_claim("tidy", check=lambda graph: None, summary="all is tidy")
    passes.add_claim("ever", check=lambda graph: None, always=True, summary="it always is")
    passes.add(
        Tidies,
        levels=ALWAYS,
        stage="CHECK",
        establishes=["tidy"],
        invalidates=["nodes_stay"],
        preserves=["aliases"],
        repeat=3,
    )
    passes.add(Relies, levels=ALWAYS, stage="CHECK", requires=["mine.tidy"], after=["Tidies"])
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A project with a plugin of its own."""
    (tmp_path / "ge.toml").write_text('plugins = ["mine = claiming"]\n')
    (tmp_path / "claiming.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    forget_kernels()


@pytest.mark.usefixtures("project")
def test_the_list_of_claims(ge: Ge) -> None:
    """The kernel's and plugins', with the passes that speak of them, by either form of the name."""
    items = {
        item["name"]: item for item in ge("passes", "claims", "--format", "json").json["items"]
    }
    assert ["mine.Tidies"] == items["mine.tidy"]["establish"]
    assert ["mine.Relies"] == items["mine.tidy"]["require"]
    assert ["mine.Tidies"] == items["nodes_stay"]["invalidate"]
    assert {
        "mine.ever": "always",
        "mine.tidy": "established",
        "nodes_stay": "established",
        "order_frozen": "after_SCHEDULE",
    }.items() <= {name: item["holds"] for name, item in items.items()}.items()
    shown = ge("passes", "claims").out
    assert "mine.tidy" in shown and "all is tidy" in shown


@pytest.mark.usefixtures("project")
def test_what_one_pass_says(ge: Ge) -> None:
    """As it was declared."""
    document = ge("passes", "show", "mine.Tidies", "--format", "json").json
    assert (["tidy"], ["nodes_stay"], ["aliases"], 3) == tuple(
        document[key] for key in ("establishes", "invalidates", "preserves", "repeat")
    )
    assert [{"name": "seen", "text": "graphs seen"}] == document["counters"]
    assert "  seen: graphs seen" in ge("passes", "show", "mine.Tidies").out.splitlines()
