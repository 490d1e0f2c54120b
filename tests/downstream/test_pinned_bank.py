"""An installed package with an anchor type and two checkers changes what passes decide."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ge_core.api import GraphBuilder, TensorDesc
from ge_core.ir import save_graph_file

from .conftest import HERE, Install
from .test_plugins import ge, python

SOURCES = HERE / "plugin_pinned"
POINTS = {"ge_core.plugins.v1": {"pinned": "pinned_bank"}}
OWNER = "pinned-bank 2.1"


@pytest.fixture
def compiled(install: Install, tmp_path: Path) -> Any:
    """`compiled(graph, ...)`: the report and the remarks of a compile with the package."""
    environment = install("pinned-bank", "2.1", POINTS, SOURCES)

    def run(graph: GraphBuilder, *arguments: str) -> tuple[Any, list[Any]]:
        model, said = tmp_path / "model.json", tmp_path / "remarks.jsonl"
        save_graph_file(graph.graph, model)
        words = ("compile", str(model), "--remarks", str(said), *arguments)
        report = ge(environment, tmp_path, *words)
        return report, [json.loads(line) for line in said.read_text().splitlines()]

    run.environment = environment  # type: ignore[attr-defined]  # for runs that fail
    return run


def banked(bank: int | None) -> TensorDesc:
    """A tensor in a bank, or in none."""
    return TensorDesc.make(attrs={} if bank is None else {"pinned.bank": bank})


def moved(first: int | None, second: int | None) -> GraphBuilder:
    """A move between two tensors, each in a bank or in none."""
    b = GraphBuilder()
    made = b.op("Relu", b.data("x"), name="made", outputs=[banked(first)])
    copy = b.op("TensorMove", made, name="move", outputs=[banked(second)])
    b.net_output(b.op("Exp", copy, name="use", shape=(1, 16)))
    return b


def read(first: int, second: int) -> GraphBuilder:
    """A tensor in one bank that a reader wants in another one."""
    b = GraphBuilder()
    made = b.op("Relu", b.data("x"), name="made", outputs=[banked(first)])
    use = b.op("Exp", made, name="use", shape=(1, 16))
    b.graph.set_desc(use.node.inputs[0], banked(second))
    b.net_output(use)
    return b


def returned(bank: int) -> GraphBuilder:
    """A tensor in a bank that is the result."""
    b = GraphBuilder()
    b.net_output(b.op("Relu", b.data("x"), name="made", outputs=[banked(bank)]))
    return b


def about(remarks: list[Any], pass_name: str) -> list[Any]:
    """What one pass said."""
    return [remark for remark in remarks if remark["pass"] == pass_name]


@pytest.mark.parametrize(("second", "copies"), [(1, 0), (2, 1)])
def test_the_removal_of_copies_heeds_it(compiled: Any, second: int, copies: int) -> None:
    """A move inside a bank goes, one between two banks stays, and the checker's code is said."""
    report, remarks = compiled(moved(1, second))
    assert copies == report["copies"]["after"]["count"]
    (said,) = [r for r in about(remarks, "TensorMoveDeletePass") if r["node"] == "move"]
    assert ("missed" if copies else "applied") == said["kind"]
    if copies:
        assert "pinned.TWO_BANKS" == said["data"]["clash"]


@pytest.mark.parametrize("level", ["O0", "O3", "O4"])
@pytest.mark.parametrize(("second", "copies"), [(1, 0), (2, 1)])
def test_a_copy_is_inserted_between_two_banks(
    compiled: Any, second: int, copies: int, level: str
) -> None:
    """The optimizer asks the plugin's rule too, at every level."""
    report, remarks = compiled(read(1, second), "-O", level)
    assert copies == report["copies"]["after"]["count"]
    assert report["proof"]["ok"]
    said = [r for r in about(remarks, "MemLayoutConflictOptimizer") if r["kind"] == "missed"]
    assert copies == len(said)
    for remark in said:
        assert "CLASH" == remark["code"]
        assert ("pinned.TWO_BANKS", OWNER) == (remark["data"]["clash"], remark["data"]["owner"])
        assert ["made:0", "use@0"] == [blame["anchor"] for blame in remark["blame"]]
        assert 64 == remark["bytes"]


@pytest.mark.parametrize(("bank", "copies"), [(0, 0), (3, 1)])
def test_a_rule_with_a_built_in_type_counts(compiled: Any, bank: int, copies: int) -> None:
    """A bank that isn't the caller's is copied into the caller's buffer."""
    report, _ = compiled(returned(bank))
    assert copies == report["copies"]["after"]["count"]


def test_types_without_a_rule_are_reported(compiled: Any) -> None:
    """A bank meets a constant, and nobody says what that means: said once, decided nothing."""
    b = GraphBuilder()
    weight = b.op("Const", name="weight")
    for name in ("one", "other"):
        use = b.op("Exp", weight, name=name)
        b.graph.set_desc(use.node.inputs[0], banked(1))
    b.net_output(b.op("Add", *(b.graph.node(name).outputs[0] for name in ("one", "other"))))
    report, remarks = compiled(b)
    assert 0 == report["copies"]["after"]["count"]
    (warning,) = [text for text in report["warnings"] if "no rule says" in text]
    assert "IMMUTABLE_ADDRESS_OUTPUT (graph-engine-memconflict" in warning
    assert f"pinned.PINNED_BANK ({OWNER})" in warning
    said = [r for r in remarks if r["code"] == "NO_RULE_FOR_TYPES"]
    assert ["analysis"] == [remark["kind"] for remark in said]


@pytest.mark.parametrize("graph", [moved(1, 13), read(1, 13), returned(13)])
def test_a_checker_that_raises_ends_the_compile_in_one_error(
    compiled: Any, tmp_path: Path, graph: GraphBuilder
) -> None:
    """It names package, version and checker; nothing is written, and without it all is well."""
    model, result = tmp_path / "model.json", tmp_path / "result.json"
    save_graph_file(graph.graph, model)
    words = ("-m", "ge_core.cli.main", "compile", str(model), "-o", str(result))
    environment = {**compiled.environment, "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (4, False) == (done.returncode, result.exists())
    assert OWNER in done.stderr
    assert "IndexError" in done.stderr
    assert "Traceback" not in done.stderr
    environment["GE_DISABLE_PLUGINS"] = "pinned"
    python(environment, *words, folder=tmp_path)
    assert result.exists()
