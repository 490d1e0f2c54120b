"""Plugins are type-checked against the installed packages, which carry their types."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ERROR = re.compile(r"^(.*?):(\d+): error: .*\[([a-z-]+)\]$", re.MULTILINE)
LOOSE = ("--allow-untyped-defs", "--check-untyped-defs", "--allow-untyped-calls")
MARK = re.compile(r"# E: ([a-z-]+)$")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mypy keeps what it has found out about the kernel."""
    return tmp_path_factory.mktemp("mypy")


def checked(cache: Path, *arguments: str) -> list[tuple[str, int, str]]:
    """(file, line, code) of the errors that mypy finds."""
    from mypy import api

    options = ("--config-file=", "--strict", f"--cache-dir={cache}", "--no-error-summary")
    shown, errors, _ = api.run([*options, *arguments])
    assert "" == errors
    found = [(Path(file).name, int(line), code) for file, line, code in ERROR.findall(shown)]
    assert len(found) == shown.count(": error: "), shown
    return sorted(set(found))


def test_a_plugin_with_annotations_throughout(cache: Path) -> None:
    """It passes a strict check but for its marked mistakes, each of which is found."""
    path = Path(__file__).with_name("typed_plugin.py")
    marks = [
        (path.name, number, found[1])
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (found := MARK.search(line))
    ]
    assert marks == checked(cache, str(path))


@pytest.mark.parametrize("folder", ["examples/vendor_acme", "tests/downstream/vendor_acme_v1"])
def test_a_third_partys_package(folder: str, cache: Path) -> None:
    """Its authors leave annotations out where they like; what they call exists, and fits."""
    assert [] == checked(cache, *LOOSE, str(ROOT / folder / "src" / "acme_ge"))
