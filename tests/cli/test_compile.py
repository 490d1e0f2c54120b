"""`ge compile`, `run`, `verify`, `explain`, `convert`: documents, files and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ge_core.ir import load_graph_file
from ge_core.memory import Plan

from .conftest import Ge


def test_the_json_document_has_the_promised_keys(ge: Ge, graph_file: Path) -> None:
    """One document with copies, memory, proof, seconds, passes and remarks."""
    ran = ge("compile", graph_file, "--format", "json")
    assert (0, "") == (ran.code, ran.err)
    document = ran.json
    assert "ge-compile/1" == document["schema"]
    assert [
        "schema",
        "model",
        "level",
        "target",
        "pipeline",
        "nodes",
        "copies",
        "memory",
        "proof",
        "seconds",
        "passes",
        "remarks",
        "warnings",
    ] == list(document)
    assert {"count": 3, "bytes": 2 * 4 * 16 * 4 + 8 * 16 * 4} == document["copies"]["before"]
    assert {"count": 1, "bytes": 4 * 16 * 4} == document["copies"]["after"]
    by_op = document["copies"]["by_op"]
    assert {"before": {"count": 1, "bytes": 512}, "after": {"count": 0, "bytes": 0}} == by_op[
        "ConcatD"
    ]
    assert {"ok": True, "violations": [], "assumptions": document["proof"]["assumptions"]} == (
        document["proof"]
    )
    assert {"peak_bytes", "lower_bound_bytes", "no_reuse_bytes", "assigner", "optimal"} < set(
        document["memory"]
    )
    assert {"load", "passes", "plan", "proof", "total"} == set(document["seconds"])


def test_all_files_are_written(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """Graph, plan, tasks and remarks land where asked, and can be read back and verified."""
    out, plan = tmp_path / "out.json", tmp_path / "plan.json"
    tasks, remarks = tmp_path / "tasks.json", tmp_path / "remarks.jsonl"
    files = ("-o", out, "--plan", plan, "--tasks", tasks, "--remarks", remarks)
    assert 0 == ge("compile", graph_file, *files).code
    assert load_graph_file(out).find("mv") is None
    assert Plan.from_json(json.loads(plan.read_text())).at((), "a", 0) is not None
    lines = [json.loads(line) for line in remarks.read_text().splitlines()]
    assert {"ge-remark/1"} == {line["schema"] for line in lines}
    ran = ge("verify", graph_file, out, plan, "--tasks", tasks, "--format", "json")
    assert (0, True) == (ran.code, ran.json["ok"])
    assert 0 == ge("verify", graph_file, out, plan).code


def test_a_wrong_plan_is_refused_with_exit_code_5(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """Two live tensors at one place: the violation names the reader and the bytes."""
    out, plan = tmp_path / "out.json", tmp_path / "plan.json"
    ge("compile", graph_file, "-o", out, "--plan", plan)
    document = json.loads(plan.read_text())
    places = {entry["node"]: entry for entry in document["tensors"]}
    places["from_input"]["offset"] = places["tail"]["offset"]
    plan.write_text(json.dumps(document))
    ran = ge("verify", graph_file, out, plan, "--format", "json")
    assert (5, False) == (ran.code, ran.json["ok"])
    assert ran.json["violations"]


def test_run_checks_bit_by_bit_and_writes_outputs(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """Given inputs are used, outputs are written, and both runs agree."""
    x = np.arange(64, dtype=np.float32).reshape(4, 16) - 20
    np.savez(tmp_path / "in.npz", x=x)
    ran = ge(
        "run",
        graph_file,
        "--check",
        "--inputs",
        tmp_path / "in.npz",
        "--outputs",
        tmp_path / "out.npz",
        "--format",
        "json",
    )
    assert 0 == ran.code
    document = ran.json
    facts = {"arena_bytes", "executed_copies", "executed_copy_bytes", "warnings"}
    assert {"schema", "ok", "outputs"} | facts <= set(document)
    assert document["ok"] and all(output["bit_exact"] for output in document["outputs"])
    assert (1, 256) == (document["executed_copies"], document["executed_copy_bytes"])
    with np.load(tmp_path / "out.npz") as archive:
        relu = np.maximum(x, 0)
        wanted = np.exp(np.concatenate([np.maximum(relu, 0), relu]))
        np.testing.assert_array_equal(wanted, archive[archive.files[0]])
        np.testing.assert_array_equal(x, archive[archive.files[1]])


def test_explain_tells_of_all_and_of_one(ge: Ge, graph_file: Path) -> None:
    """Each move and join once, with code and owner; an unknown node names near ones."""
    everything = ge("explain", graph_file, "--format", "json").json["remarks"]
    assert ["mv", "from_input", "join"] == [remark["node"] for remark in everything]
    assert ["applied", "missed", "applied"] == [remark["kind"] for remark in everything]
    one = ge("explain", graph_file, "from_input")
    assert 0 == one.code
    assert "R2_NOT_DECLARED" in one.out and "graph-engine-tensormove" in one.out
    wrong = ge("explain", graph_file, "from_inptu")
    assert 2 == wrong.code
    assert "near: from_input" in wrong.err


def test_o0_keeps_everything_and_says_so(ge: Ge, graph_file: Path) -> None:
    """At O0 each copy ends with the kernel's remark: no rule at this level, and what would help."""
    remarks = ge("explain", graph_file, "-O", "O0", "--format", "json").json["remarks"]
    assert {"NO_RULE_AT_LEVEL"} == {remark["code"] for remark in remarks}
    assert {"set": "ge.oo.level=O3"} == remarks[0]["hint"]


def test_a_pass_that_is_switched_off_is_named(ge: Ge, graph_file: Path) -> None:
    """PASS_OFF names the pass and who switched it off."""
    ran = ge("explain", graph_file, "mv", "--disable", "TensorMoveDeletePass", "--format", "json")
    (remark,) = ran.json["remarks"]
    assert "PASS_OFF" == remark["code"]
    assert "TensorMoveDeletePass" in remark["reason"]


def test_convert_keeps_the_graph(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """JSON to JSON is the same graph."""
    assert 0 == ge("convert", graph_file, tmp_path / "copy.json").code
    copy = json.loads((tmp_path / "copy.json").read_text())
    assert json.loads(graph_file.read_text()) == copy


def test_two_compiles_write_the_same_bytes(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """Graph, plan, tasks and remarks don't differ from run to run."""
    for at in "ab":
        folder = tmp_path / at
        folder.mkdir()
        ge(
            "compile",
            graph_file,
            "-o",
            folder / "o.json",
            "--plan",
            folder / "p.json",
            "--tasks",
            folder / "t.json",
            "--remarks",
            folder / "r.jsonl",
        )
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert ["o.json", "p.json", "r.jsonl", "t.json"] == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_places_are_checked_before_anything_is_written(
    ge: Ge, graph_file: Path, tmp_path: Path
) -> None:
    """A folder that is missing, or one file for two results, ends it with no file written."""
    out = tmp_path / "out.json"
    missing = ge("compile", graph_file, "-o", out, "--plan", tmp_path / "no" / "plan.json")
    twice = ge("compile", graph_file, "-o", out, "--remarks", out)
    assert (3, 2) == (missing.code, twice.code)
    assert "its folder does not exist" in missing.err
    assert "two results can't be written to one file" in twice.err
    assert not out.exists()
