"""JSON documents are what their declarations say, down to the last field."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ge_core.cli.documents import DOCUMENTS, FILES, PRINTED, json_schema
from ge_core.cli.main import main
from ge_core.cli.reference import FACTS
from ge_core.session.kernel import forget_kernels
from scripts.cli_examples import EXAMPLES, TINY
from scripts.doc_snippets import DOCUMENTS as PAGES
from scripts.doc_snippets import blocks
from scripts.document_fields import closed

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples" / "models"


def ge(command: str) -> tuple[int, str]:
    """(exit code, standard output) of a command."""
    forget_kernels()
    stream = io.StringIO()
    with (
        contextlib.redirect_stdout(stream),
        contextlib.redirect_stderr(io.StringIO()),
        pytest.raises(SystemExit) as end,
    ):
        main(shlex.split(command)[1:])
    return int(end.value.code or 0), stream.getvalue()


def problems(name: str, document: Any) -> list[str]:
    """Where a document is not what is declared; an undeclared field is one place."""
    validator = Draft202012Validator(closed(json_schema(name)))
    return [f"{e.json_path}: {e.message}" for e in validator.iter_errors(document)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with what the examples of the reference need, as the working directory."""
    (tmp_path / "tiny.json").write_text(TINY)
    (tmp_path / "model.onnx").write_bytes((MODELS / "gen_densenet_s.dynamo.onnx").read_bytes())
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    forget_kernels()


@pytest.mark.parametrize("words", [words for words, facts in FACTS.items() if facts.document])
def test_a_command_prints_what_is_declared(words: str, folder: Path) -> None:
    """Its examples, with `--format json`."""
    for name, text in EXAMPLES[words].files:
        (folder / name).write_text(text)
    printed = []
    for command in EXAMPLES[words].shown:
        asked = command.startswith(f"ge {words}")
        json_form = command if not asked or "--format" in command else f"{command} --format json"
        _, output = ge(json_form)
        if asked:
            printed.append(json.loads(output))
    assert {FACTS[words].document} == {document["schema"] for document in printed}
    for document in printed:
        assert [] == problems(document["schema"], document)


@pytest.mark.parametrize("model", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.name)
def test_real_models_give_what_is_declared(model: Path, folder: Path) -> None:
    """Report, reasons, compiled graph, plan, tasks and remarks, at O3 and on GE's target."""
    command = f"compile {shlex.quote(str(model))} --target ascend"
    written = "-o c.json --plan p.json --tasks t.json --remarks r.jsonl"
    _, output = ge(f"ge {command} {written} --format json")
    assert [] == problems("ge-compile/1", json.loads(output))
    for name, file in (("ge-graph/1", "c.json"), ("ge-plan/1", "p.json"), ("ge-tasks/1", "t.json")):
        assert [] == problems(name, json.loads((folder / file).read_text()))
    for line in (folder / "r.jsonl").read_text().splitlines():
        assert [] == problems("ge-remark/1", json.loads(line))


def test_violations_are_as_declared(folder: Path) -> None:
    """A plan that puts two tensors of one time into one place."""
    ge("ge compile model.onnx -O O4 -o c.json --plan p.json")
    plan = json.loads((folder / "p.json").read_text())
    tensors = {tensor["node"]: tensor for tensor in plan["tensors"]}
    tensors["node_relu_1"]["offset"] = tensors["node_relu"]["offset"]
    (folder / "p.json").write_text(json.dumps(plan))
    code, output = ge("ge verify model.onnx c.json p.json --format json")
    document = json.loads(output)
    assert 5 == code
    assert document["violations"]
    assert [] == problems("ge-verify/1", document)


def test_a_failed_case_is_as_declared(folder: Path) -> None:
    """Its expectation and what came out."""
    case = json.loads(EXAMPLES["case"].files[0][1])
    case["expect"] = {"kept": ["move"]}
    (folder / "case.json").write_text(json.dumps(case))
    code, output = ge("ge case case.json --format json")
    assert 1 == code
    assert [] == problems("ge-case/1", json.loads(output))


CASES = sorted((ROOT / "tests" / "cases").rglob("*.json"))


def test_case_files_are_as_declared() -> None:
    """All of the conformance suite, of both kinds; some that show mistakes lack what is needed."""
    seen: dict[str, int] = {}
    wrong = []
    for path in CASES:
        case = json.loads(path.read_text())
        kind = kind_of_case(case)
        seen[kind] = seen.get(kind, 0) + 1
        # Other families carry notes of their own beside what is read.
        found = [] if not kind else Draft202012Validator(json_schema(kind)).iter_errors(case)
        wrong += [f"{path.name} {e.json_path}: {e.message}" for e in found]
    assert [] == wrong
    assert seen["case-file"]
    assert seen["registry-case-file"]


def kind_of_case(case: Any) -> str:
    """Which declaration a file follows; none for tables, notes and cases that bring a model."""
    if not isinstance(case, dict) or "expect" not in case:
        return ""
    if case.get("family") == "pass_registry":
        return "registry-case-file"
    return "case-file" if "graph" in case and "pipeline" in case else ""


def test_registry_cases_are_as_declared() -> None:
    """Every key that is read is declared, and none else."""
    from ge_core.cases import declaring, registry_case

    schema = json_schema("registry-case-file")
    assert set(registry_case._TOP) == set(schema["properties"])
    assert set(registry_case._SOURCE) == set(schema["$defs"]["SourceRecord"]["properties"])
    assert set(declaring._KINDS) == set(schema["$defs"]["DeclaredRecord"]["properties"])


def test_configuration_and_targets_are_as_declared() -> None:
    """Every key that the product reads is declared, and none else."""
    from dataclasses import fields

    from ge_core.config import ProjectConfig
    from ge_core.targets import Target

    config = {f.name.replace("_", "-") for f in fields(ProjectConfig)} - {
        "file",
        "settings",
        "warnings",
    }
    assert config | {"set"} == set(json_schema("config-file")["properties"])
    assert {f.name for f in fields(Target)} | {"base"} == set(
        json_schema("target-file")["properties"]
    )
    assert [] == problems("config-file", tomllib.loads('level = "O4"\n[set]\n"a.b" = 1\n'))
    assert problems("config-file", {"levle": "O4"})


def shown_files() -> list[tuple[str, dict[str, Any]]]:
    """(document, content) of the TOML files that the documentation shows, by what they hold."""
    found = []
    for path in PAGES:
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.title is not None and block.title.endswith(".toml"):
                content = tomllib.loads(block.text)
                found.append((kind_of(block.title, content), content))
    return [(kind, content) for kind, content in found if kind]


def kind_of(title: str, content: dict[str, Any]) -> str:
    """Which document a file is; none for a package's description, and what shows a mistake."""
    if Path(title).name in ("pyproject.toml", "wrong.toml"):
        return ""
    if Path(title).name == "ge.toml":
        return "config-file"
    if "op" in content:
        return "op-traits-file"
    targets = json_schema("target-file")["properties"].keys() - {"name", "base", "pipeline"}
    return "target-file" if content.keys() & targets else "overlay-file"


def test_files_that_are_shown_are_as_declared() -> None:
    """Configuration, targets, overlays and op traits of the documentation; each kind is there."""
    shown = shown_files()
    assert {"config-file", "target-file", "overlay-file", "op-traits-file"} == {k for k, _ in shown}
    assert [] == [problem for kind, content in shown for problem in problems(kind, content)]


def test_graphs_are_as_declared() -> None:
    """Every key that the reader knows is declared, and none else."""
    from ge_core.ir import json_form

    parts = json_schema("ge-graph/1")
    assert json_form._GRAPH_KEYS == set(parts["properties"])
    assert json_form._NODE_KEYS == set(parts["$defs"]["NodeRecord"]["properties"])
    assert json_form._DESC_KEYS == set(parts["$defs"]["DescRecord"]["properties"])


@pytest.mark.parametrize("name", PRINTED)
def test_readers_may_meet_new_fields(name: str) -> None:
    """A published schema allows fields that it doesn't name, and names its own version."""
    schema = json_schema(name)
    assert schema.get("additionalProperties", True) is True
    assert name == schema["properties"]["schema"]["const"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_field_is_described(name: str) -> None:
    """In words, at its declaration."""
    schema = json_schema(name)
    objects = {name: schema, **schema.get("$defs", {})}
    silent = [
        f"{part}.{field}"
        for part, of in objects.items()
        for field, about in of.get("properties", {}).items()
        if not about.get("description")
    ]
    assert [] == silent
    assert [] == [part for part, of in objects.items() if not of.get("description")]


def test_files_and_prints_are_told_apart() -> None:
    """Each document is of one kind."""
    assert set() == PRINTED.keys() & FILES.keys()
