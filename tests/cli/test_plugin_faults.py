"""Plugins that misbehave: each is named with package and version, and the rest works."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ge_core.session.kernel import forget_kernels

from .conftest import Ge

Install = Callable[..., None]

GOOD = """
from ge_core.api import hookimpl

class Low:
    def assign(self, problem, budget):
        for cluster in sorted(problem.clusters, key=lambda c: (c.birth, c.name)):
            problem.place(cluster, problem.lowest_free(cluster))
        return problem.placement()

@hookimpl
def ge_register_memory_assigners(assigners):
    assigners.add("low", Low)
"""
FAULTS = {
    "raises at import": ("raise RuntimeError('no driver here')\n", "no driver here"),
    "exits at import": ("raise SystemExit(7)\n", "SystemExit: 7"),
    "raises in its second hook": (
        GOOD
        + "\n@hookimpl\ndef ge_register_targets(targets):\n    raise ValueError('bad target')\n",
        "bad target",
    ),
    "misspells a hook": (
        "from ge_core.api import hookimpl\n@hookimpl\ndef ge_register_pases(passes): pass\n",
        "ge_register_pases",
    ),
    "has no hook": ("x = 1\n", "implements no hook"),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """`install("acme", source)` puts a distribution `acme-dist 1.5` on the path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)

    def put(name: str, source: str, *, dist: str = "acme-dist", api: int = 1) -> None:
        # A name of its own per test: Python keeps what it has imported.
        module = f"{dist.replace('-', '_')}_{name}_{abs(hash(tmp_path))}"
        (folder / f"{module}.py").write_text(source)
        info = folder / f"{dist.replace('-', '_')}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.5\n")
        entry = f"[ge_core.plugins.v{api}]\n{name} = {module}\n"
        (info / "entry_points.txt").write_text(entry)
        forget_kernels()

    forget_kernels()
    yield put
    forget_kernels()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_plugin_is_named_and_the_rest_works(
    fault: str, install: Install, ge: Ge, graph_file: Path
) -> None:
    """A compile succeeds with a warning that names package, version and what happened."""
    source, says = FAULTS[fault]
    install("acme", source)
    ran = ge("compile", graph_file, "--format", "json")
    assert 0 == ran.code, ran.err
    (warning,) = [text for text in ran.json["warnings"] if "acme" in text]
    assert "acme-dist 1.5" in warning and says in warning
    doctor = ge("plugins", "doctor", "--format", "json")
    (row,) = [item for item in doctor.json["items"] if item["name"] == "acme"]
    assert ("failed", 1) == (row["status"], doctor.code)
    assert row["traceback"]


@pytest.mark.parametrize("fault", FAULTS)
def test_strict_plugins_makes_it_an_error(
    fault: str, install: Install, ge: Ge, graph_file: Path, tmp_path: Path
) -> None:
    """Exit code 4, and nothing is written."""
    source, says = FAULTS[fault]
    install("acme", source)
    out = tmp_path / "out.json"
    ran = ge("--strict-plugins", "compile", graph_file, "-o", out)
    assert 4 == ran.code
    assert "acme-dist 1.5" in ran.err and says in ran.err
    assert not out.exists()


def test_nothing_of_a_failed_plugin_stays(install: Install, ge: Ge, graph_file: Path) -> None:
    """Its first hook's assigner is not there; asking for it names the plugin and ends with 4."""
    install("acme", FAULTS["raises in its second hook"][0])
    listed = {item["name"] for item in ge("assigners", "--format", "json").json["items"]}
    assert "acme.low" not in listed
    ran = ge("compile", graph_file, "--assigner", "acme.low")
    assert 4 == ran.code
    assert "acme-dist 1.5" in ran.err and "bad target" in ran.err


def test_a_good_plugin_is_used_under_its_owners_name(
    install: Install, ge: Ge, graph_file: Path
) -> None:
    """The kernel writes the prefix, whether or not the author did."""
    install("acme", GOOD)
    ran = ge("compile", graph_file, "--assigner", "acme.low", "--format", "json")
    assert 0 == ran.code, ran.err
    assert "acme.low" == ran.json["memory"]["assigner"]


def test_another_api_is_listed_and_not_imported(install: Install, ge: Ge, graph_file: Path) -> None:
    """A plugin for API 2 is incompatible; importing it would raise."""
    install("acme", "raise RuntimeError('imported')", api=2)
    (row,) = [i for i in ge("plugins", "--format", "json").json["items"] if i["name"] == "acme"]
    assert ("incompatible", "2") == (row["status"], row["api"])
    ran = ge("compile", graph_file, "--assigner", "acme.low")
    assert 4 == ran.code
    assert "acme-dist 1.5" in ran.err and "imported" not in ran.err


def test_a_contested_name_is_nobodys_until_somebody_chooses(
    install: Install, ge: Ge, graph_file: Path, tmp_path: Path
) -> None:
    """Both packages are named; `[tool.ge] prefer` says whose it is."""
    install("acme", GOOD)
    install("acme", GOOD, dist="other-dist")
    ran = ge("compile", graph_file, "--assigner", "acme.low")
    assert 4 == ran.code
    assert "acme-dist 1.5" in ran.err and "other-dist 1.5" in ran.err
    (tmp_path / "ge.toml").write_text('prefer = { acme = "other-dist" }\n')
    forget_kernels()
    assert 0 == ge("compile", graph_file, "--assigner", "acme.low").code


def test_an_assigner_that_raises_or_overlaps_is_named(
    install: Install, ge: Ge, graph_file: Path
) -> None:
    """Not a traceback, not a wrong plan: one message with package and version."""
    bad = GOOD.replace("problem.lowest_free(cluster)", "0")
    install("acme", bad)
    ran = ge("compile", graph_file, "--assigner", "acme.low")
    assert 0 != ran.code
    assert "acme-dist 1.5" in ran.err
    assert "Traceback" not in ran.err


def test_a_pass_that_raises_is_named_and_undone(install: Install, ge: Ge, graph_file: Path) -> None:
    """Exit code 4; the message names pass, package and version."""
    install(
        "acme",
        "from dataclasses import dataclass\n"
        "from ge_core.api import GraphPass, Level, Stage, hookimpl\n"
        "@dataclass(frozen=True)\n"
        "class Boom(GraphPass):\n"
        "    '''Raises.'''\n"
        "    def run(self, graph, ctx):\n"
        "        raise KeyError('boom')\n"
        "@hookimpl\n"
        "def ge_register_passes(passes):\n"
        "    passes.add(Boom, levels=Level.O1.and_above(), stage=Stage.PREPARE)\n",
    )
    ran = ge("compile", graph_file)
    assert 4 == ran.code
    assert "acme.Boom" in ran.err and "acme-dist 1.5" in ran.err and "boom" in ran.err
    assert 0 == ge("compile", graph_file, "--disable", "acme.Boom").code


def test_plugins_can_be_switched_off(
    install: Install, ge: Ge, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GE_DISABLE_PLUGINS=* loads nothing from third parties."""
    install("acme", FAULTS["raises at import"][0])
    monkeypatch.setenv("GE_DISABLE_PLUGINS", "*")
    forget_kernels()
    ran = ge("compile", graph_file, "--format", "json")
    assert (0, []) == (ran.code, [text for text in ran.json["warnings"] if "acme" in text])


def test_a_copy_stays_where_the_read_write_checker_is_missing(
    install: Install, ge: Ge, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the memconflict plugin a removal rule keeps the copy and says why."""
    monkeypatch.setenv("GE_DISABLE_PLUGINS", "memconflict")
    forget_kernels()
    ran = ge("explain", graph_file, "mv", "--format", "json")
    kinds = {remark["kind"]: remark["code"] for remark in ran.json["remarks"]}
    assert "missed" in kinds and "CHECKER" in kinds["missed"], json.dumps(kinds)
