"""Running the command line inside the test process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ge_core.cli.main import main
from ge_core.ir import GraphBuilder, TensorDesc, save_graph_file


@dataclass(frozen=True)
class Ran:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


Ge = Callable[..., Ran]


@pytest.fixture
def ge(capsys: pytest.CaptureFixture[str]) -> Ge:
    """`ge("compile", "x.onnx")` runs the command and answers exit code and output."""

    def run(*args: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, captured.out, captured.err)

    return run


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    """A graph with a removable move, a move that must stay, and a join."""
    build = GraphBuilder("sample")
    x = build.data("x", (4, 16))
    a = build.op("Relu", x, name="a")
    moved = build.op("TensorMove", a, name="mv")
    b = build.op("Relu", moved, name="b")
    kept = build.op("TensorMove", x, name="from_input")
    c = build.op("Relu", x, name="c")
    joined = build.op(
        "ConcatD",
        b,
        c,
        name="join",
        outputs=[TensorDesc.make("float32", (8, 16))],
        attrs={"concat_dim": 0},
    )
    tail = build.op("Exp", joined, name="tail")
    build.net_output(tail, kept)
    path = tmp_path / "sample.json"
    save_graph_file(build.graph, path)
    return path
