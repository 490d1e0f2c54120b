"""A throwaway distribution, and the real command run on a graph, in this process or its own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ge_core.cli.main import main
from ge_core.ir import GraphBuilder, TensorDesc, save_graph_file
from ge_core.session.kernel import forget_kernels

from .table import DISTRIBUTION, GRAPH, OUT, VERSION, Fault

_numbers = itertools.count()
REPOSITORY = Path(__file__).parents[3]


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


Meet = Callable[[Fault], Ran]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with the sample graph and an empty folder on the import path."""
    (tmp_path / "site").mkdir()
    write_sample(tmp_path / "sample.json")
    (tmp_path / "model.acme").write_text("a model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    before = set(sys.modules)
    forget_kernels()
    yield tmp_path
    forget_kernels()
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def put(site: Path, fault: Fault) -> str:
    """Install the plugin of a fault; the name of its module."""
    module = f"acme_{next(_numbers)}"
    (site / f"{module}.py").write_text(fault.code, encoding="utf-8")
    info = site / f"{DISTRIBUTION.replace('-', '_')}-{VERSION}.dist-info"
    info.mkdir()
    name, value = fault.entry
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {VERSION}\n",
        "entry_points.txt": f"[{fault.group}]\n{name} = {value.format(module=module)}\n",
        **fault.files,
    }
    for file, text in files.items():
        (info / file).write_text(text, encoding="utf-8")
    return module


@pytest.fixture
def meet(place: Path, capsys: pytest.CaptureFixture[str]) -> Meet:
    """Install a fault's plugin and run its command."""

    def run(fault: Fault) -> Ran:
        put(place / "site", fault)
        arguments = [
            argument.replace(GRAPH, str(place / "sample.json")).replace(OUT, str(place / "out"))
            for argument in fault.run
        ]
        if fault.alone:
            return _in_a_process(arguments, place)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, captured.out, captured.err)

    return run


def _in_a_process(arguments: list[str], place: Path) -> Ran:
    path = os.pathsep.join([str(place / "site"), str(REPOSITORY)])
    done = subprocess.run(
        [sys.executable, "-m", "ge_core.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=place,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def write_sample(path: Path) -> None:
    """A graph with a removable move, a move that must stay, and a join."""
    build = GraphBuilder("sample")
    x = build.data("x", (4, 16))
    a = build.op("Relu", x, name="a")
    moved = build.op("TensorMove", a, name="mv")
    b = build.op("Relu", moved, name="b")
    kept = build.op("TensorMove", x, name="from_input")
    c = build.op("Relu", x, name="c")
    wide = TensorDesc.make("float32", (8, 16))
    joined = build.op("ConcatD", b, c, name="join", outputs=[wide], attrs={"concat_dim": 0})
    build.net_output(build.op("Exp", joined, name="tail"), kept)
    save_graph_file(build.graph, path)
