"""Synthetic distributions: a package and its metadata in a folder on the import path."""

from __future__ import annotations

import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ge_core.plugin import GROUP

Install = Callable[..., str]
_numbers = itertools.count()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path; modules imported from it are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in sorted(set(sys.modules) - before):
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def install(site: Path) -> Install:
    """`install("acme", "acme-casts", code, version="1.0", group=...)` -> name of its module."""

    def make(
        name: str,
        distribution: str,
        code: str,
        *,
        version: str = "1.0",
        group: str = GROUP,
        value: str | None = None,
    ) -> str:
        module = f"plug_{next(_numbers)}_{name}"
        (site / f"{module}.py").write_text(_HEAD + textwrap.dedent(code), encoding="utf-8")
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(
            f"[{group}]\n{name} = {value or module}\n", encoding="utf-8"
        )
        return module

    return make


_HEAD = """\
from ge_core.passes import ALWAYS, AnalysisPass, GraphPass, Keep, Stage
from ge_core.plugin.specs import hookimpl
from ge_core.targets import Target


class Pass(GraphPass, codes=("NOOP",)):
    def run(self, graph, ctx):
        pass

"""
