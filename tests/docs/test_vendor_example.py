"""The third party's package in examples/ passes its own tests, without being installed here.

Its metadata are written into a folder on the import path of another process: an entry point is all
that the kernel looks for. A clean checkout is also tested with the package really installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ACME = ROOT / "examples" / "vendor_acme"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which acme is installed."""
    project = tomllib.loads((ACME / "pyproject.toml").read_text())["project"]
    info = tmp_path / f"acme_ge-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    path = os.pathsep.join([str(tmp_path), str(ACME / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def test_its_tests_pass(environment: dict[str, str]) -> None:
    """All of them, with warnings as errors, from its own folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(
        command, cwd=ACME, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_it_uses_nothing_of_the_kernel_but_the_public_names() -> None:
    """Only ge_core itself, ge_core.api and ge_core.testing are imported."""
    private = [
        f"{path.name}: {line.strip()}"
        for path in sorted(ACME.rglob("*.py"))
        for line in path.read_text().splitlines()
        if line.lstrip().startswith(("import ge_core.", "from ge_core."))
        and not line.lstrip().startswith(("from ge_core.api ", "from ge_core.testing "))
    ]
    assert [] == private
