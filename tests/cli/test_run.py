"""`ge run`: what it says of outputs that nobody computed."""

from __future__ import annotations

from pathlib import Path

from ge_core.cli.documents import PRINTED
from ge_core.ir import GraphBuilder, TensorDesc, save_graph_file
from tests.cli.conftest import Ge


def turned(folder: Path, **attrs: object) -> Path:
    """Two transposes of a 2x3 tensor, and a copy."""
    build = GraphBuilder("turned")
    x = build.data("x", (2, 3))
    out = [TensorDesc.make("float32", (3, 2))]
    first = build.op("Transpose", x, name="first", outputs=out, attrs=attrs)
    second = build.op("Transpose", x, name="second", outputs=out, attrs=attrs)
    build.net_output(first, build.op("TensorMove", second, outputs=out))
    path = folder / "turned.json"
    save_graph_file(build.graph, path)
    return path


def test_run_names_ops_that_a_stand_in_computes(ge: Ge, tmp_path: Path) -> None:
    """With and without a comparison; equal outputs say nothing of what the op means."""
    model = turned(tmp_path, axes=[1, 0])
    for flags in ((), ("--check",)):
        ran = ge("run", model, *flags)
        assert 0 == ran.code
        assert "computed by a stand-in: Transpose (2 nodes)" in ran.out.splitlines()


def test_the_document_lists_them(ge: Ge, tmp_path: Path) -> None:
    """By op type; nobody where each has a kernel."""
    made_up = ge("run", turned(tmp_path, axes=[1, 0]), "--format", "json").json
    assert [{"op": "Transpose", "nodes": 2}] == made_up["stand_ins"]
    PRINTED["ge-run/1"].model_validate(made_up)
    real = ge("run", turned(tmp_path, perm=[1, 0]), "--format", "json").json
    assert [] == real["stand_ins"]


def test_run_is_silent_where_nothing_was_made_up(ge: Ge, tmp_path: Path) -> None:
    """The usual case says nothing about it."""
    assert "stand-in" not in ge("run", turned(tmp_path, perm=[1, 0]), "--check").out
