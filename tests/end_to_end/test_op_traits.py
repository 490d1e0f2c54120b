"""A user's op traits, from a TOML file to the plan and the proof of an ONNX model."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner
from onnx import parser

import ge_core as ge
from ge_core.cli.main import ge as command
from ge_core.errors import InputFileError

MODEL = """
<ir_version: 8, opset_import: ["": 20, "com.acme": 1]>
g (float[64] x) => (float[64] y) <float[64] a, float[64] kept, float[64] b>
{
  a = Sigmoid(x)
  kept = Identity(a)
  b = com.acme.Update(kept)
  y = Add(b, a)
}
"""

UPDATE = """
[[op]]
type = "Update"
domain = "com.acme"
writes = [0]
aliases = [[0, 0]]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the model and a traits file, in which we work."""
    onnx.save(parser.parse_model(MODEL), tmp_path / "model.onnx")
    (tmp_path / "ops.toml").write_text(UPDATE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a command."""
    done = CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False)
    return done.return_value, done.output


UNKNOWN = "op com.acme::Update is unknown and taken to be pure: b"
VOUCHED = "op com.acme::Update treats memory as ops.toml:2 says: b"


def places(result: ge.Result) -> tuple[int, int]:
    """Where the op's input and its output lie."""
    found = {tensor.node: tensor.offset for tensor in result.plan.tensors}
    return found["kept" if "kept" in found else "a"], found["b"]


def test_without_the_file(folder: Path) -> None:
    """The op is taken for a reader: the copy before it goes, and the proof says what it assumed."""
    result = ge.compile("model.onnx")
    assert result.proof is not None
    assert (True, (UNKNOWN,)) == (result.proof.ok, result.proof.assumptions)
    assert result.graph.find("kept") is None
    held, made = places(result)
    assert held != made


def test_with_the_file(folder: Path) -> None:
    """An op that updates its input keeps the copy of what is read later and answers in place."""
    result = ge.compile("model.onnx", op_traits=["ops.toml"])
    assert result.proof is not None
    assert (True, (VOUCHED,)) == (result.proof.ok, result.proof.assumptions)
    assert result.graph.find("kept") is not None
    held, made = places(result)
    assert held == made


def test_in_the_configuration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`op-traits` in the project's configuration counts from its folder, and is read anew."""
    (folder / "pyproject.toml").write_text('[tool.ge]\nop-traits = ["ops.toml"]\n')
    below = folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    result = ge.compile(folder / "model.onnx")
    assert result.proof is not None
    assert (VOUCHED,) == result.proof.assumptions
    (folder / "ops.toml").write_text(UPDATE.replace("Update", "Updat"))
    result = ge.compile(folder / "model.onnx")
    assert result.proof is not None
    assert (UNKNOWN,) == result.proof.assumptions


def test_an_op_that_looks_misspelled(folder: Path) -> None:
    """Traits that no node has, beside an op of almost that name, are no silent loss."""
    (folder / "ops.toml").write_text(UPDATE.replace("Update", "Updat"))
    result = ge.compile("model.onnx", op_traits=["ops.toml"])
    assert (
        "ops.toml:2: no op 'com.acme::Updat' in the graph, which has 'com.acme::Update'"
        in result.warnings
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("writes = [3]", "has no input 3, which `writes` names"),
        ("inplace = [[2, 0]]", "has no output 2, which `inplace` names"),
        ("aliases = [[0, 1]]", "has no input 1, which `aliases` names"),
    ],
)
def test_ports_that_the_op_does_not_have(folder: Path, line: str, words: str) -> None:
    """They are a warning that names place and node."""
    (folder / "ops.toml").write_text(f'[[op]]\ntype = "Update"\ndomain = "com.acme"\n{line}\n')
    result = ge.compile("model.onnx", op_traits=["ops.toml"])
    assert f"ops.toml:1: node 'b' (com.acme::Update) {words}" in result.warnings


def test_a_clash_with_a_plugin(folder: Path) -> None:
    """The error names the plugin with its version, and what to write."""
    (folder / "ops.toml").write_text('[[op]]\ntype = "Sigmoid"\nsource = "onnx"\natomic = true\n')
    with pytest.raises(InputFileError) as caught:
        ge.compile("model.onnx", op_traits=["ops.toml"])
    assert (
        "ops.toml:1: op 'Sigmoid' of onnx graphs has traits from graph-engine-onnx 1.0.0\n"
        "  `override = true` in the op's table replaces them" == str(caught.value)
    )


def test_the_commands(folder: Path) -> None:
    """`ge compile` and `ge verify` take the file; a verdict without it rests on less."""
    compiled = ["-o", "out.json", "--plan", "plan.json", "--tasks", "tasks.json"]
    given = ["--op-traits", "ops.toml"]
    code, shown = run("compile", "model.onnx", *compiled, *given, "--format", "json")
    assert (0, [VOUCHED]) == (code, json.loads(shown)["proof"]["assumptions"])
    files = ["verify", "model.onnx", "out.json", "plan.json", "--tasks", "tasks.json"]
    assert (0, f"assumed: {VOUCHED}\nok\n") == run(*files, *given)


def test_a_wrong_compile_is_found_by_the_right_traits(folder: Path) -> None:
    """What was compiled as if the op were a reader is no valid compile of an op that writes."""
    compiled = ["-o", "out.json", "--plan", "plan.json", "--tasks", "tasks.json"]
    assert 0 == run("compile", "model.onnx", *compiled)[0]
    files = ["verify", "model.onnx", "out.json", "plan.json", "--tasks", "tasks.json"]
    assert 0 == run(*files)[0]
    code, shown = run(*files, "--op-traits", "ops.toml")
    assert 5 == code
    assert "reads: y@1" in shown


def test_side_effects_of_an_op(folder: Path) -> None:
    """An op with effects is one to the kernel, and still an assumption."""
    text = UPDATE.replace("writes = [0]\naliases = [[0, 0]]", "side-effect = true")
    (folder / "ops.toml").write_text(text)
    result = ge.compile("model.onnx", op_traits=["ops.toml"])
    assert result.kernel is not None
    assert result.kernel.ops.of("com.acme::Update", "onnx").side_effect
    assert result.proof is not None
    assert (True, (VOUCHED,)) == (result.proof.ok, result.proof.assumptions)
