"""Files that version 1.0 wrote: read, proved and written again by the kernel of today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ge_core as ge
from ge_core.cli.main import ge as command
from ge_core.ir import read_graph, write_graph
from ge_core.memory import Plan
from ge_core.passes.remarks import write_json_lines
from ge_core.session.kernel import default_kernel
from ge_core.tasks.document import read_tasks

from .conftest import HERE

FILES = HERE / "files"
FOLDERS = sorted(path for path in FILES.iterdir() if path.is_dir())

pytestmark = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)


def document(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text())


def lost(old: Any, new: Any, path: str = "") -> list[str]:
    """Where something of the old value is missing or different in the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        gone = [f"{path}.{key}" for key in old if key not in new]
        kept = [key for key in old if key in new]
        return gone + [each for key in kept for each in lost(old[key], new[key], f"{path}.{key}")]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{path}: {len(old)} and {len(new)} items"]
        return [
            each
            for at, (a, b) in enumerate(zip(old, new, strict=True))
            for each in lost(a, b, f"{path}[{at}]")
        ]
    return [] if type(old) is type(new) and old == new else [f"{path}: {old!r} is {new!r}"]


def fields(value: Any, path: str = "") -> set[str]:
    """The fields of a document, whatever their values; items of a list are alike."""
    if isinstance(value, dict):
        found = {f"{path}.{key}" for key in value}
        return found.union(*(fields(item, f"{path}.{key}") for key, item in value.items()))
    if isinstance(value, list):
        return set().union(*(fields(item, f"{path}[]") for item in value))
    return set()


def test_the_proof_accepts_them(folder: Path) -> None:
    """Model, compiled graph, plan and tasks still fit together, under the old assumptions."""
    done = CliRunner().invoke(
        command,
        [
            "verify",
            str(folder / "model.json"),
            str(folder / "compiled.json"),
            str(folder / "plan.json"),
            "--tasks",
            str(folder / "tasks.json"),
            "--format",
            "json",
        ],
        standalone_mode=False,
        catch_exceptions=False,
    )
    found = json.loads(done.stdout)
    old = document(folder / "compile-report.json")["proof"]
    assert (0, []) == (done.return_value, found["violations"])
    assert set(found["assumptions"]) <= set(old["assumptions"])


@pytest.mark.parametrize("name", ["model.json", "compiled.json"])
def test_graphs_are_read_without_loss(folder: Path, name: str) -> None:
    """What was written then is in what is written now."""
    old = document(folder / name)
    assert [] == lost(old, write_graph(read_graph(old)))


def test_plans_are_read_without_loss(folder: Path) -> None:
    """Likewise."""
    old = document(folder / "plan.json")
    assert [] == lost(old, Plan.from_json(old).to_json())


def test_task_lists_are_read_without_loss(folder: Path) -> None:
    """Likewise."""
    assert [] == lost(document(folder / "tasks.json"), read_tasks(folder / "tasks.json").to_json())


def test_compiling_again_gives_all_fields(folder: Path, tmp_path: Path) -> None:
    """Numbers may have become better; no field of report, plan, tasks or remarks is gone."""
    report = document(folder / "compile-report.json")
    old_plan = document(folder / "plan.json")
    result = ge.compile(
        folder / "model.json",
        level=report["level"],
        target=report["target"],
        options={
            name: value
            for name, value in old_plan["options"].items()
            if name == "ge.exec.inputReuseMemIndexes"
        },
    ).check_proof()
    # Names of passes and ops are values, not fields.
    loose = (".passes[]", ".copies.by_op")
    new_report = result.report()
    assert [] == sorted(f for f in fields(report) - fields(new_report) if not f.startswith(loose))
    assert [] == sorted(fields(old_plan) - fields(result.plan.to_json()))
    assert [] == sorted(fields(document(folder / "tasks.json")) - fields(result.tasks.to_json()))
    with (tmp_path / "remarks.jsonl").open("w") as stream:
        write_json_lines(result.remarks, stream)
    old, new = (lines(path / "remarks.jsonl") for path in (folder, tmp_path))
    assert [] == sorted(remark_fields(old) - remark_fields(new))


def lines(path: Path) -> list[Any]:
    """The documents of a JSON lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def remark_fields(remarks: list[Any]) -> set[str]:
    """The fields of remarks; what stands in `data` depends on the code."""
    return {name for name in fields(remarks) if not name.startswith("[].data.")}


def test_reason_codes_are_still_declared(folder: Path) -> None:
    """A code in an old file can be looked up today, and is given by whom it was."""
    codes = default_kernel().registries.codes()
    unknown = [
        (remark["pass"], remark["code"])
        for remark in lines(folder / "remarks.jsonl")
        if remark["pass"] != "ge_core" and codes.find(remark["code"], remark["pass"]) is None
    ]
    assert [] == unknown
