"""The conformance cases: every file's expectations hold, and the runner can say no."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from ge_core.cases import Case, find_cases, read_case, run_case
from ge_core.errors import InputFileError
from ge_core.session.kernel import default_kernel

FOLDER = Path(__file__).parent / "cases"
CASES = list(find_cases([FOLDER]))


def test_the_cases_are_there() -> None:
    """Copy removal, joins and splits, conflicts of both kinds, memory, which passes run."""
    families = {case.path.parent.name for case in CASES}
    wanted = {"tensormove", "concat_notask", "rw_conflict", "layout_conflict", "memassign"}
    assert wanted | {"pass_registry"} <= families
    assert len(CASES) >= 390


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_a_case_holds(case: Case) -> None:
    """The pipeline leaves what the case expects."""
    assert [] == run_case(case, default_kernel()).failures


def case_of(**expect: object) -> Case:
    """A removable move with other expectations."""
    case = next(case for case in CASES if case.id.startswith("tm-002"))
    return dataclasses.replace(case, expect=expect)


@pytest.mark.parametrize(
    "expect",
    [
        {"kept": ["mv"]},
        {"removed": ["side"]},
        {"kept_reason": {"mv": "R3"}},
        {"edges": [["act:0", "out:1"]]},
        {"control_edges": [["side", "out"]]},
        {"attrs": {"side": {"_no_task": True}}},
        {"isolated": [["out", 0]]},
        {"conflict": True},
        {"error": "Conflict"},
        {"offsets": {"act:0": 0}},
        {"peak_bytes": 4096},
        {"same_offset": [["act:0", "side:0"]]},
        {"disjoint": [["act:0", "side:0"]]},
        {"must_not_share": [["act:0", "side:0"]]},
        {"may_share": [["act:0", "side:0"]]},
        {"tasks": ["act"]},
        {"remvoed": ["mv"]},
    ],
    ids=lambda expect: next(iter(expect)),
)
def test_what_is_not_true_fails(expect: dict[str, object]) -> None:
    """Each kind of expectation, and a misspelt one, can fail."""
    assert not run_case(case_of(**expect), default_kernel()).passed


def test_a_pass_nobody_has_is_an_error_with_near_names() -> None:
    """A case for a pass that is not installed fails and says what is near."""
    case = dataclasses.replace(case_of(), pipeline=("TensorMoveDeletPass",))
    (failure,) = run_case(case, default_kernel()).failures
    assert "TensorMoveDeletePass" in failure.got


def test_a_case_without_a_pipeline_is_a_bad_file(tmp_path: Path) -> None:
    """The error names file and key."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"id": "x", "graph": {"nodes": []}, "expect": {}}))
    with pytest.raises(InputFileError, match=r"x\.json: field 'pipeline'"):
        read_case(path)


def test_an_expectation_of_another_type_is_a_failure() -> None:
    """The case fails in words; the next one is run."""
    (failure,) = run_case(case_of(offsets=3), default_kernel()).failures
    assert "a case as its schema says" == failure.expected


def question(**facts: object) -> Case:
    """A case that asks whether a store can stand at a constant."""
    case = next(case for case in CASES if case.id.startswith("rw-019"))
    return dataclasses.replace(case, **facts)  # type: ignore[arg-type]  # fields of a case


@pytest.mark.parametrize("end", ["src", "dst"])
@pytest.mark.parametrize("port", ["k:7", "nobody:0", "k:x", ""])
def test_a_port_that_is_not_there_conflicts(end: str, port: str) -> None:
    """As a null anchor does in GE; the constant as it is read does not."""
    query = {"src": "k:0", "dst": "st:1"}
    fine = question(query=query, expect={"conflict": False})
    assert [] == run_case(fine, default_kernel()).failures
    asked = question(query={**query, end: port}, expect={"conflict": True})
    assert [] == run_case(asked, default_kernel()).failures


def test_a_question_needs_both_ends() -> None:
    """The error says what a case has to say."""
    result = run_case(question(query={"src": "k:0"}), default_kernel())
    assert result.error is not None
    assert "query: {src, dst}" in str(result.error)


def test_a_conflict_is_what_an_analysis_pass_remarks_on() -> None:
    """True where it says anything, False where it says nothing, and unknown where none ran."""
    case = next(case for case in CASES if case.id.startswith("rw-007"))
    assert [] == run_case(case, default_kernel()).failures
    silent = dataclasses.replace(case, graph=case_of().graph)
    assert ["False"] == [one.got for one in run_case(silent, default_kernel()).failures]
    none = dataclasses.replace(case, pipeline=("TensorMoveDeletePass",))
    assert ["None"] == [one.got for one in run_case(none, default_kernel()).failures]
