"""New packages, installed by pip: they are found, loaded, and pass their own tests and checks.

Each is built and installed into a folder of its own, which another process has on its import path.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ge_core.scaffold import KINDS, new_plugin
from ge_core.scaffold.names import LONGEST

ROOT = Path(__file__).resolve().parents[2]
GE = Path(sys.executable).with_name("ge")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
LONG = "an-" + "x" * (LONGEST - len("an-"))


def done(*command: object, cwd: Path, **environment: str) -> str:
    """What a command prints; it must end well."""
    words = [str(word) for word in command]
    run = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{' '.join(words)}\n{run.stdout[-4000:]}{run.stderr[-2000:]}"
    return run.stdout


def installed(folder: Path, site: Path) -> str:
    """Build a package and install it into a folder; the import path on which it is then."""
    done(
        *PIP,
        *["install", "--no-index", "--no-deps", "--no-build-isolation", "--target", site, folder],
        cwd=site.parent,
    )
    return os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS], ids="+".join)
def test_a_new_package_is_found_and_passes_its_own_tests(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    """Every kind alone, and all together; from the installed package, not from its source."""
    folder = new_plugin("acme", kinds, tmp_path / "acme")
    path = installed(folder, tmp_path / "site")
    plugins = json.loads(
        done(GE, "plugins", "doctor", "--format", "json", cwd=tmp_path, PYTHONPATH=path)
    )
    (acme,) = (row for row in plugins["items"] if row["name"] == "acme")
    assert (acme["distribution"], acme["version"]) == ("acme-ge", "0.1.0")
    assert (acme["api"], acme["status"], acme["error"]) == ("1", "loaded", None)
    report = done(
        *[sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        PYTHONPATH=path,
    )
    counts = re.search(r"(\d+) passed(?:, (\d+) skipped)? in", report)
    assert counts, report
    # The suite for checkers leaves out the read/write checker where a package brings none.
    assert int(counts[1]) >= len(kinds) + 2
    assert int(counts[2] or 0) <= ("checker" in kinds)


def styled(folder: Path, *, settings: list[object]) -> None:
    """The formatter and the linter have nothing to say."""
    ruff = [sys.executable, "-m", "ruff"]
    done(*ruff, "format", "--no-cache", "--check", *settings, ".", cwd=folder)
    done(*ruff, "check", "--no-cache", *settings, ".", cwd=folder)


@pytest.mark.parametrize("name", ["x", "acme", "zz-top", LONG])
@pytest.mark.parametrize("kinds", [("pass",), KINDS], ids="+".join)
def test_style(tmp_path: Path, name: str, kinds: tuple[str, ...]) -> None:
    """By the package's own settings and by those of this project, whatever its name."""
    folder = new_plugin(name, kinds, tmp_path / "new")
    styled(folder, settings=[])
    # The author's package lies in src/, where ours have plugins/*/src.
    ours = ["--config", ROOT / "pyproject.toml", "--config", 'src = ["src"]']
    styled(folder, settings=ours)


def test_types(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """mypy has nothing to say, by the package's own settings, which are strict."""
    folder = new_plugin("acme", KINDS, tmp_path / "acme")
    table = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["mypy"]
    assert table["strict"] is True
    cache = tmp_path / "cache"
    if pytestconfig.pluginmanager.hasplugin("cacheprovider"):
        cache = Path(pytestconfig.cache.mkdir("scaffold-mypy"))  # type: ignore[union-attr]
    done(sys.executable, "-m", "mypy", "--cache-dir", cache, cwd=folder, MYPYPATH=str(ROOT))


def test_its_metadata_fit_the_kernel() -> None:
    """The kernel's major version, its Pythons, the plugin group, and nobody's name or licence."""
    from ge_core.plugin import GROUP
    from ge_core.scaffold import Names, package_files

    kernel = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = package_files(Names.of("acme"))["pyproject.toml"]
    project = tomllib.loads(text)["project"]
    major = kernel["version"].partition(".")[0]
    assert project["dependencies"] == [f"{kernel['name']}>={major},<{int(major) + 1}"]
    assert project["requires-python"] == kernel["requires-python"]
    assert project["entry-points"] == {GROUP: {"acme": "acme_ge"}}
    assert sorted({"authors", "license", "maintainers"} & set(project)) == []
