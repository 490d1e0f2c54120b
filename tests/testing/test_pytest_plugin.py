"""The pytest plugin: case files are tests, fixtures work, and runs without either pay nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder
from ge_core.session.kernel import Kernel, default_kernel

CASE: dict[str, Any] = {
    "id": "a-move",
    "why": "nobody sees the copy",
    "pipeline": ["TensorMoveDeletePass"],
    "graph": {
        "nodes": [
            {"name": "x", "op": "Data", "outputs": [{"shape": [4], "dtype": "float32"}]},
            {"name": "a", "op": "Relu", "inputs": ["x:0"], "outputs": [{"shape": [4]}]},
            {"name": "m", "op": "TensorMove", "inputs": ["a:0"], "outputs": [{"shape": [4]}]},
            {"name": "b", "op": "Relu", "inputs": ["m:0"], "outputs": [{"shape": [4]}]},
            {"name": "out", "op": "NetOutput", "inputs": ["b:0"]},
        ]
    },
    "expect": {"removed": ["m"]},
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder of its own, warnings as errors."""
    root = str(Path(ge.__file__).parents[1])
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def write(folder: Path, name: str, **changes: Any) -> None:
    """A case file."""
    (folder / name).write_text(json.dumps({**CASE, **changes}))


def test_case_files_are_tests(tmp_path: Path) -> None:
    """One each, by the case's name; other JSON is left alone."""
    write(tmp_path, "move.case.json")
    write(tmp_path, "other.json", expect={"kept": ["m"]})
    done = run(tmp_path, "-v")
    assert done.returncode == 0, done.stdout
    assert "move.case.json::a-move PASSED" in done.stdout
    assert "1 passed" in done.stdout


def test_every_expectation_that_fails_is_shown(tmp_path: Path) -> None:
    """What was expected, what came, and why the case is there; no trace of the runner."""
    write(tmp_path, "move.case.json", expect={"kept": ["m"], "edges": [["x:0", "b:0"]]})
    done = run(tmp_path)
    assert done.returncode == 1
    for words in (
        "case a-move: ",
        "why: nobody sees the copy",
        "expected  kept m\n  got       it is gone",
        "expected  edge x:0 -> b:0\n  got       b:0 is fed by a:0",
    ):
        assert words in done.stdout
    assert "Traceback" not in done.stdout


def test_a_file_that_is_no_case_is_an_error(tmp_path: Path) -> None:
    """It names the file, and what a case needs."""
    (tmp_path / "a.case.json").write_text("{}")
    write(tmp_path, "b.case.json", pipeline=["NoSuchPass"])
    (tmp_path / "c.case.json").write_text("{")
    done = run(tmp_path, "--continue-on-collection-errors")
    assert "a.case.json: not a case file" in done.stdout
    assert "NoSuchPass" in done.stdout
    assert "c.case.json" in done.stdout
    assert "1 failed, 2 errors" in done.stdout
    assert "Traceback" not in done.stdout


def test_it_can_be_left_out(tmp_path: Path) -> None:
    """`-p no:ge_core`: no case is collected, no fixture is there, nothing else is missed."""
    write(tmp_path, "move.case.json")
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    done = run(tmp_path, "-p", "no:ge_core", "-v")
    assert done.returncode == 0, done.stdout
    assert "a-move" not in done.stdout


def test_a_run_that_uses_nothing_pays_nothing(tmp_path: Path) -> None:
    """Of the kernel only this plugin is imported, and no library besides."""
    (tmp_path / "test_it.py").write_text(
        "import sys\n\n\ndef test_it():\n"
        "    mine = sorted(m for m in sys.modules if m.partition('.')[0] == 'ge_core')\n"
        "    assert mine == ['ge_core', 'ge_core.testing', 'ge_core.testing.pytest_plugin']\n"
        "    heavy = {'numpy', 'hypothesis', 'pydantic', 'structlog', 'stevedore', 'onnx'}\n"
        "    assert not heavy & set(sys.modules)\n"
    )
    # Other installed plugins of pytest import what they like.
    off = ("-p", "no:hypothesispytest", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cov")
    done = run(tmp_path, *off)
    assert done.returncode == 0, done.stdout


# ---- fixtures ------------------------------------------------------------------------------------

PLUGIN = """
    from dataclasses import dataclass

    from ge_core.api import GraphPass, Stage, hookimpl


    class Look(GraphPass, codes=("SEEN",)):
        '''Speaks of every Relu.'''

        def run(self, graph, ctx):
            for node in graph.nodes_of("Relu"):
                ctx.analysis(node, "SEEN")


    @hookimpl
    def ge_register_passes(passes):
        passes.add(Look, levels=["O3"], stage=Stage.PREPARE)
"""


def moved() -> Graph:
    """A move between two ops."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    build.net_output(build.op("Exp", build.op("TensorMove", start, name="move"), name="end"))
    return build.graph


def test_the_kernel_has_what_is_installed(ge_kernel: Kernel) -> None:
    """The built-in passes among it."""
    assert "TensorMoveDeletePass" in ge_kernel.registries.passes


def test_compiles_are_proved(ge_compile: Callable[..., ge.Result]) -> None:
    """Arguments are those of `ge_core.compile`."""
    result = ge_compile(moved(), level="O3")
    assert result.proof is not None and result.proof.ok
    assert result.graph.find("move") is None


def test_a_package_is_there_for_one_test(install_plugin: Callable[..., str]) -> None:
    """It is found, loaded and named with its package and version."""
    assert not any("look" in c.name for c in default_kernel().plugins.candidates)
    install_plugin("look", PLUGIN, distribution="look-ge", version="2.5")
    result = ge.compile(moved(), level="O3")
    said = [remark for remark in result.remarks if remark.code == "look.SEEN"]
    assert [("start", "look-ge 2.5")] == [(remark.node, remark.owner) for remark in said]


def test_it_is_gone_afterwards() -> None:
    """Whichever test runs first."""
    assert "look" not in [c.name for c in default_kernel().plugins.candidates]


def test_a_package_may_have_further_modules(install_plugin: Callable[..., str]) -> None:
    """What it refers to lazily is imported from beside it."""
    code = """
        from ge_core.api import hookimpl


        @hookimpl
        def ge_register_memory_assigners(assigners):
            assigners.add("one", "look_assigner:One")
    """
    assigner = """
        class One:
            def assign(self, problem, budget):
                for cluster in problem.clusters:
                    problem.place(cluster, problem.lowest_free(cluster))
                return problem.placement()
    """
    install_plugin("look", code, files={"look_assigner.py": assigner})
    assert "look.one" == ge.compile(moved(), assigner="look.one").assigner


@pytest.mark.parametrize("name", ["one", "two"])
def test_two_packages_are_told_apart(install_plugin: Callable[..., str], name: str) -> None:
    """Each has a module of its own."""
    first = install_plugin(name, PLUGIN)
    second = install_plugin(f"{name}_more", PLUGIN)
    assert first != second
    names = [c.name for c in default_kernel().plugins.candidates if not c.reason]
    assert {name, f"{name}_more"} <= set(names)
