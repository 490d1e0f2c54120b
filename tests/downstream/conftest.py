"""Old and odd distributions, installed for one test in a folder on the import path."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent

collect_ignore = ["vendor_acme_v1", "plugin_v0", "plugin_newer"]
"""Their tests run in processes of their own."""

Install = Callable[..., dict[str, str]]


def project(folder: Path) -> Mapping[str, object]:
    """The `[project]` table of a package."""
    table: dict[str, object] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return table


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """`install(name, version, points, sources)`: an environment in which that is installed."""

    def make(
        name: str, version: str, points: Mapping[str, Mapping[str, str]], sources: Path
    ) -> dict[str, str]:
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = [
            line
            for group, values in points.items()
            for line in (f"[{group}]", *(f"{key} = {value}" for key, value in values.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        path = os.pathsep.join([str(tmp_path), str(sources), os.environ.get("PYTHONPATH", "")])
        return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    return make
