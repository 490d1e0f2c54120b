"""Plugins that others have: for API 1, for one before it, for a later release of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .conftest import HERE, Install, project

ACME = HERE / "vendor_acme_v1"

GRAPH = {
    "schema": "ge-graph/1",
    "nodes": [
        {"name": "x", "op": "Data", "attrs": {"index": 0}, "outputs": [{"shape": [4]}]},
        {"name": "y", "op": "Relu", "inputs": ["x:0"], "outputs": [{"shape": [4]}]},
        {"name": "out", "op": "NetOutput", "inputs": ["y:0"]},
    ],
}


def python(
    environment: dict[str, str], *arguments: str, folder: Path, codes: Sequence[int] = (0,)
) -> str:
    """Standard output of a Python process."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in codes, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def ge(environment: dict[str, str], folder: Path, *arguments: str, code: int = 0) -> Any:
    """The JSON document that a command prints."""
    words = ["-m", "ge_core.cli.main", *arguments, "--format", "json"]
    return json.loads(python(environment, *words, folder=folder, codes=(code,)))


def test_a_package_written_for_version_1(install: Install) -> None:
    """It loads, and all its own tests pass, with warnings as errors."""
    facts: Any = project(ACME)
    environment = install(facts["name"], facts["version"], facts["entry-points"], ACME / "src")
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    shown = python(environment, "-m", "pytest", *options, folder=ACME)
    assert " passed" in shown
    assert "failed" not in shown


def test_a_package_written_for_version_1_says_nothing_new(install: Install, tmp_path: Path) -> None:
    """Installed beside the kernel of today, it is no reason for a warning."""
    facts: Any = project(ACME)
    environment = install(facts["name"], facts["version"], facts["entry-points"], ACME / "src")
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    strict = ("-W", "error", "-m", "ge_core.cli.main", "--strict-plugins")
    shown = python(
        environment, *strict, "compile", "graph.json", "--format", "json", folder=tmp_path
    )
    assert [] == json.loads(shown)["warnings"]


def test_a_plugin_for_an_older_api(install: Install, tmp_path: Path) -> None:
    """It is listed as incompatible with its package, never imported, and the rest works."""
    points = {"ge_core.plugins.v0": {"ancient": "long_ago"}}
    environment = install("ancient-ge", "0.4", points, HERE / "plugin_v0")
    rows = {row["name"]: row for row in ge(environment, tmp_path, "plugins")["items"]}
    ancient = rows["ancient"]
    assert ("incompatible", "ancient-ge", "0.4", "0") == tuple(
        ancient[key] for key in ("status", "distribution", "version", "api")
    )
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (warning,) = ge(environment, tmp_path, "compile", "graph.json")["warnings"]
    assert "ancient-ge 0.4" in warning


def test_a_plugin_for_a_later_release(install: Install, tmp_path: Path) -> None:
    """Hooks that it marks optional are left alone; everything else of it works."""
    points = {"ge_core.plugins.v1": {"future": "from_the_future"}}
    environment = install("future-ge", "3.0", points, HERE / "plugin_newer")
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    document = ge(environment, tmp_path, "--strict-plugins", "compile", "graph.json")
    assert [] == document["warnings"]
    assert "future.KeepOrder" in [step["name"] for step in document["passes"]]


def test_a_project_of_version_1(install: Install) -> None:
    """Its configuration, target and pipeline mean what they meant, and are no reason for a word."""
    facts: Any = project(ACME)
    environment = install(facts["name"], facts["version"], facts["entry-points"], ACME / "src")
    model = str(HERE / "files" / "streams" / "model.json")
    document = ge(environment, HERE / "project", "compile", model)
    assert ("O4", "their-npu", []) == tuple(
        document[key] for key in ("level", "target", "warnings")
    )
    ran = [step["name"] for step in document["passes"]]
    named = ["acme.DropNoOpCast", "ConcatNotaskPass", "SplitNotaskPass"]
    assert named == [name for name in ran if name in named]
    assert {"PackNotaskPass", "TensorMoveDeletePass"}.isdisjoint(ran)


def test_a_pipeline_text_of_version_1(install: Install) -> None:
    """It runs what it says, in its order."""
    facts: Any = project(ACME)
    environment = install(facts["name"], facts["version"], facts["entry-points"], ACME / "src")
    model = str(HERE / "files" / "streams" / "model.json")
    text = (
        "ConcatNotaskPass{beyond_ge=true},TensorMoveDeletePass{search_limit=5},"
        "CHECK(acme.DropNoOpCast)"
    )
    document = ge(environment, HERE / "project", "compile", model, "--pipeline", text)
    assert ["ConcatNotaskPass", "TensorMoveDeletePass", "acme.DropNoOpCast"] == [
        step["name"] for step in document["passes"]
    ]


def test_a_case_file_of_version_1(install: Install) -> None:
    """It is read, and passes."""
    facts: Any = project(ACME)
    environment = install(facts["name"], facts["version"], facts["entry-points"], ACME / "src")
    assert 1 == ge(environment, HERE / "project", "case", "case.json")["passed"]


def test_a_plugin_for_two_apis(install: Install, tmp_path: Path) -> None:
    """A package that still serves older kernels is loaded by the entry point for this one."""
    points = {
        "ge_core.plugins.v0": {"future": "long_ago"},
        "ge_core.plugins.v1": {"future": "from_the_future"},
        "ge_core.plugins.v2": {"future": "not_there_yet"},
    }
    environment = install("future-ge", "3.0", points, HERE / "plugin_newer")
    rows = [row for row in ge(environment, tmp_path, "plugins")["items"] if row["name"] == "future"]
    assert [("1", "indexed")] == [(row["api"], row["status"]) for row in rows]
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    document = ge(environment, tmp_path, "--strict-plugins", "compile", "graph.json")
    assert [] == document["warnings"]


def test_a_plugin_for_an_older_api_that_is_switched_off(install: Install, tmp_path: Path) -> None:
    """Nothing is said of it any more."""
    points = {"ge_core.plugins.v0": {"ancient": "long_ago"}}
    environment = install("ancient-ge", "0.4", points, HERE / "plugin_v0")
    environment["GE_DISABLE_PLUGINS"] = "ancient"
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    document = ge(environment, tmp_path, "--strict-plugins", "compile", "graph.json")
    assert [] == document["warnings"]
