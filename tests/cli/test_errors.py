"""Every way to fail is one message and its documented exit code, and nothing is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Ge

USAGE = [
    (("nonsense",), "no command 'nonsense'"),
    (("compil",), "near: compile"),
    (("compile",), "Missing argument"),
    (("compile", "{}", "-O", "O9"), "'O9'"),
    (("compile", "{}", "--set", "x"), "OPTION=VALUE"),
    (("compile", "{}", "--set", "ge.oo.levle=O1"), "ge.oo.level"),
    (("compile", "{}", "--set", "ge.exec.disableReuseMemory=7"), "must be 0 or 1"),
    (("compile", "{}", "--enable", "TensorMoveDeletePas"), "near: TensorMoveDeletePass"),
    (("compile", "{}", "--assigner", "bets"), "near: best"),
    (("compile", "{}", "--target", "ascent"), "near: ascend"),
    (("compile", "{}", "--pipeline", "NoSuch("), "NoSuch"),
    (("compile", "{}", "--input-shape", "x=1x"), "NAME=1x3x64x64"),
    (("compile", "{}", "--input-shape", "y=1x3"), "no input 'y'"),
    (("compile", "{}", "--input-shape", "x=5x16"), "not 5x16"),
    (("compile", "{}", "-o", "out.pb"), ".pb"),
    (("passes", "show", "ConcatNoTaskPass"), "near: ConcatNotaskPass"),
]


@pytest.mark.parametrize(("args", "says"), USAGE, ids=[" ".join(a) for a, _ in USAGE])
def test_usage_errors_end_with_2(
    args: tuple[str, ...],
    says: str,
    ge: Ge,
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message says what was asked and what is near; no file appears."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    ran = ge(*(arg.replace("{}", str(graph_file)) for arg in args))
    assert 2 == ran.code, ran.err
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert before == sorted(tmp_path.iterdir())


BAD_FILES = [
    ("empty", b""),
    ("truncated", b'{"nodes": [{"name": "a", "op": '),
    ("not a graph", b"[1, 2]"),
    ("binary", bytes(range(256))),
    ("unknown dtype", b'{"nodes": [{"name": "a", "op": "X", "outputs": [{"dtype": "f"}]}]}'),
    ("negative size", b'{"nodes": [{"name": "a", "op": "X", "outputs": [{"size": -4}]}]}'),
    ("bad reuse", b'{"nodes": [{"name": "a", "op": "X", "outputs": [{"reuse_input": 3}]}]}'),
    (
        "cycle",
        b'{"nodes": [{"name": "a", "op": "X", "inputs": ["b:0"], "outputs": [{}]},'
        b' {"name": "b", "op": "X", "inputs": ["a:0"], "outputs": [{}]}]}',
    ),
    (
        "calls itself",
        b'{"nodes": [{"name": "c", "op": "PartitionedCall", "subgraphs": {"f": "g"}}],'
        b' "subgraphs": [{"name": "g", "nodes":'
        b' [{"name": "d", "op": "PartitionedCall", "subgraphs": {"f": "g"}}]}]}',
    ),
]


@pytest.mark.parametrize(("what", "data"), BAD_FILES, ids=[what for what, _ in BAD_FILES])
def test_bad_files_end_with_3(what: str, data: bytes, ge: Ge, tmp_path: Path) -> None:
    """One message that names the file; nothing is written."""
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    ran = ge("compile", path, "-o", tmp_path / "out.json", "--plan", tmp_path / "plan.json")
    assert 3 == ran.code, ran.err
    assert "bad.json" in ran.err
    assert "Traceback" not in ran.err
    assert [path] == list(tmp_path.iterdir())


def test_a_missing_file_ends_with_3(ge: Ge, tmp_path: Path) -> None:
    """The message names it."""
    ran = ge("compile", tmp_path / "none.onnx")
    assert 3 == ran.code
    assert "none.onnx: no such file" in ran.err


def test_a_bomb_of_nested_calls_ends_with_3(ge: Ge, tmp_path: Path) -> None:
    """Forty levels of two calls each would expand to a trillion nodes: refused at once, by work."""
    graphs = []
    for at in range(40):
        calls = [
            {
                "name": f"c{at}_{side}",
                "op": "PartitionedCall",
                "subgraphs": {"f": f"g{at + 1}"},
            }
            for side in range(2)
        ]
        graphs.append({"name": f"g{at}", "nodes": calls})
    graphs.append({"name": "g40", "nodes": [{"name": "leaf", "op": "X", "outputs": [{}]}]})
    import json

    first = graphs.pop(0)
    path = tmp_path / "bomb.json"
    path.write_text(json.dumps({"nodes": first["nodes"], "subgraphs": graphs}))
    ran = ge("compile", path)
    assert 3 == ran.code, ran.err
    assert "Traceback" not in ran.err


def test_help_is_light() -> None:
    """`ge --help` imports neither pydantic, structlog, stevedore, numpy nor a plugin."""
    code = (
        "import sys\n"
        "from ge_core.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'pydantic', 'structlog', 'stevedore', 'pluggy', 'numpy', 'onnx', 'rich'}\n"
        "loaded = sorted(m for m in sys.modules if m.partition('.')[0] in heavy"
        " or (m.startswith('ge_') and not m.startswith('ge_core')))\n"
        "print('LOADED', loaded, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stderr


LIGHT = [
    ("import ge_core", {"click"}, "import ge_core"),
    ("ge plugins", {"ge_tensormove", "ge_onnx", "ge_memassign"}, "main(['plugins'])"),
    ("ge passes", {"ge_onnx.frontend", "ge_runtime.executor"}, "main(['passes'])"),
]


@pytest.mark.parametrize(("what", "also", "call"), LIGHT, ids=[what for what, _, _ in LIGHT])
def test_listing_imports_nothing_heavy(what: str, also: set[str], call: str) -> None:
    """Neither numpy, onnx, rich nor numba; `ge plugins` imports no plugin at all."""
    code = (
        "import sys\n"
        "from ge_core.cli.main import main\n"
        * (what != "import ge_core")
        + "import sys\n"
        + f"try:\n    {call}\nexcept SystemExit: pass\n"
        + f"heavy = { ({'numpy', 'onnx', 'rich', 'numba', 'ml_dtypes'} | also)!r}\n"
        + "print('LOADED', sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stderr


def test_inputs_of_a_run_are_checked(ge: Ge, graph_file: Path, tmp_path: Path) -> None:
    """A wrong shape, dtype or name is a bad input file: exit code 3, and what the graph wants."""
    import numpy as np

    wrong = {
        "shape": {"x": np.zeros((4, 8), np.float32)},
        "dtype": {"x": np.zeros((4, 16), np.int8)},
        "name": {"y": np.zeros((4, 16), np.float32)},
    }
    for what, arrays in wrong.items():
        np.savez(tmp_path / f"{what}.npz", **arrays)
        ran = ge("run", graph_file, "--inputs", tmp_path / f"{what}.npz")
        assert 3 == ran.code, ran.err
        assert "'x'" in ran.err or "'y'" in ran.err
        assert "Traceback" not in ran.err
