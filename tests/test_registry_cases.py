"""The family `pass_registry`: its runner can say no, and reads its files strictly."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from ge_core.cases import RegistryCase, read_case, run_case
from ge_core.cases.registry_checks import ERROR_CHECKS, SCHEDULE_CHECKS
from ge_core.errors import InputFileError, PluginError
from ge_core.session.kernel import default_kernel

FOLDER = Path(__file__).parent / "cases" / "pass_registry"
DOCUMENT = {
    "id": "x",
    "family": "pass_registry",
    "declare": {"passes": {"A": {"fields": {"limit": 3}}, "B": {}, "acme.C": {"levels": ["O4"]}}},
    "options": {"A.limit": "7", "ge.topoSortingMode": "1"},
    "disable": ["B"],
    "expect": {"runs": ["A"]},
}


def case_of(tmp_path: Path, **changed: Any) -> RegistryCase:
    """The document with other keys, as a case."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**DOCUMENT, **changed}))
    case = read_case(path)
    assert isinstance(case, RegistryCase)
    return case


def failures(tmp_path: Path, expect: dict[str, Any], **changed: Any) -> list[str]:
    """What doesn't hold of an expectation."""
    result = run_case(case_of(tmp_path, expect=expect, **changed), default_kernel())
    return [failure.got for failure in result.failures]


HOLD: dict[str, Any] = {
    "runs": ["A"],
    "includes": ["A"],
    "off": ["B", "acme.C"],
    "because": {
        "B": ["arguments: explicit off: disable B", "level: level: O3; on at O0, O1, O2, O3, O4"]
    },
    "values": {"ge.topoSortingMode": "1", "ge.buildGraphMode": None},
    "set_by": {"ge.topoSortingMode": "arguments", "ge.oo.level": "level O3"},
    "pass_options": {"A.limit": "7"},
    "level": ["O3"],
    "pipeline": "O3",
    "text": "OPTIMIZE_STAGE1(A{limit=7})",
    "warnings": [],
}

WRONG: dict[str, Any] = {
    "runs": ["A", "B"],
    "includes": ["B"],
    "off": ["A"],
    "because": {"B": ["arguments: explicit off: disable B"]},
    "values": {"ge.topoSortingMode": "2"},
    "set_by": {"ge.topoSortingMode": "project"},
    "pass_options": {"A.limit": "3"},
    "level": ["O1"],
    "pipeline": "other",
    "text": "A",
    "warnings": ["anything"],
}


def test_each_expectation_is_tried_both_ways() -> None:
    """No key of a schedule is left out below."""
    assert list(SCHEDULE_CHECKS) == list(HOLD) == list(WRONG)
    assert ["error", "code", "words"] == list(ERROR_CHECKS)


@pytest.mark.parametrize("key", HOLD)
def test_what_is_true_holds(key: str, tmp_path: Path) -> None:
    """Each kind of expectation can be met."""
    assert [] == failures(tmp_path, {key: HOLD[key]})


@pytest.mark.parametrize("key", WRONG)
def test_what_is_not_true_fails(key: str, tmp_path: Path) -> None:
    """Each kind of expectation can fail."""
    assert 1 == len(failures(tmp_path, {key: WRONG[key]}))


@pytest.mark.parametrize(
    "expect",
    [
        {"error": "OptionError"},
        {"code": "GE00002"},
        {"words": ["near: C"]},
        {"runs": ["A"]},
        {"rusn": ["A"], "error": "UnknownNameError"},
    ],
    ids=str,
)
def test_an_error_is_judged(expect: dict[str, Any], tmp_path: Path) -> None:
    """By class, code and words; one that nobody expects is a failure, as a misspelled key is."""
    assert 1 == len(failures(tmp_path, expect, enable=["acme.D"]))
    right = {"error": "UnknownNameError", "code": "GE00003", "words": ["near: acme.C"]}
    assert [] == failures(tmp_path, right, enable=["acme.D"])


@pytest.mark.parametrize("expect", [{"error": "OptionError"}, {"words": ["x"]}, {}], ids=str)
def test_an_error_that_does_not_come_is_a_failure(expect: dict[str, Any], tmp_path: Path) -> None:
    """And so is an expectation of nothing."""
    assert 1 == len(failures(tmp_path, expect))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"optons": {}}, "field 'optons': is no key of such cases\n  near: options"),
        ({"sources": [{"source": "wish"}]}, r"field 'sources\[0\].source': 'wish' is none of"),
        ({"sources": [{"source": "project", "set": {}}]}, r"field 'sources\[0\].set'"),
        ({"sources": {}}, "field 'sources': is no list"),
        ({"options": []}, "field 'options': is no object"),
        ({"pipeline": ["A"]}, "field 'pipeline': is no name or text"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_a_malformed_case_is_a_bad_file(changed: Any, says: str, tmp_path: Path) -> None:
    """The error names file and field."""
    with pytest.raises(InputFileError, match=r"x\.json: " + says):
        case_of(tmp_path, **changed)


def test_options_may_be_written_as_json_values(tmp_path: Path) -> None:
    """Truth values and numbers stand for their texts."""
    case = case_of(tmp_path, options={"ge.oo.constantFolding": False, "ge.topoSortingMode": 1})
    assert {"ge.oo.constantFolding": "false", "ge.topoSortingMode": "1"} == case.options


def test_a_case_needs_an_id(tmp_path: Path) -> None:
    """As in every family."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"family": "pass_registry", "expect": {}}))
    with pytest.raises(InputFileError, match=r"x\.json: field 'id'"):
        read_case(path)


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        ({"pases": {}}, "field 'declare.pases': can't be declared\n  near: passes"),
        ({"passes": {"A": {"levls": "O3+"}}}, "field 'declare.passes.A.levls'"),
        ({"passes": {"A": {"levels": "O3"}}}, "field 'declare.passes.A.levels': 'O3' is neither"),
        ({"options": {"a.b": {"kind": "x"}}}, "field 'declare.options.a.b.kind'"),
        ({"levels": []}, "field 'declare.levels': is no object"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_a_malformed_declaration_is_an_error_of_the_case(
    declare: Any, says: str, tmp_path: Path
) -> None:
    """It names file and field."""
    case = case_of(tmp_path, declare=declare, options={}, disable=[])
    (got,) = [failure.got for failure in run_case(case, default_kernel()).failures]
    assert f"InputFileError: {case.path}: {says}" in got


def test_declarations_are_checked_as_plugins_are(tmp_path: Path) -> None:
    """What a plugin may not declare, a case may not either."""
    declare = {"options": {"acme.a": {"type": "number"}}}
    result = run_case(case_of(tmp_path, declare=declare), default_kernel())
    assert isinstance(result.error, PluginError)


def test_cases_hold_whatever_is_installed() -> None:
    """But for those that say so, they plan with nothing but what they declare."""
    kernel = default_kernel()
    bare = dataclasses.replace(
        kernel, plugins=dataclasses.replace(kernel.plugins, registries=_nothing())
    )
    read = [read_case(path) for path in sorted(FOLDER.glob("*.json"))]
    cases = [case for case in read if isinstance(case, RegistryCase) and not case.installed]
    assert len(cases) >= 150
    assert [] == [case.id for case in cases if not run_case(case, bare).passed]


def _nothing() -> Any:
    from ge_core.plugin.registries import Registries

    return Registries()


def test_the_family_is_numbered_and_says_why() -> None:
    """Each case has a sentence, and its file its name."""
    for path in sorted(FOLDER.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        assert path.stem == document["id"]
        assert document["why"].endswith(".")


def test_the_command_runs_them(capsys: pytest.CaptureFixture[str]) -> None:
    """`ge case` takes the folder as it takes those of other families."""
    from ge_core.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main(["case", str(FOLDER)])
    count = len(list(FOLDER.glob("*.json")))
    assert (0, f"{count} passed, 0 failed\n") == (ended.value.code, capsys.readouterr().out)
