"""Weights in files of their own: found, measured, not read, and never looked for elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, parser

from ge_core.api import ConstValue, InputFileError
from ge_onnx.backend import OnnxBackend
from ge_onnx.frontend import OnnxFrontend
from ge_onnx.kernels import constant

Runtime = Callable[[Path, dict[str, Any]], dict[str, Any]]
WEIGHTS = np.arange(6, dtype="<f4")


def model_file(folder: Path, **entries: str) -> Path:
    """A model that adds external weights of 24 bytes to its input."""
    message = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[6] x) => (float[6] y) { y = Add(x, w) }'
    )
    tensor = message.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[6])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    path = folder / "m.onnx"
    path.write_bytes(message.SerializeToString())
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a data file, behind 8 bytes of something else."""
    found = tmp_path / "models"
    (found / "sub").mkdir(parents=True)
    (found / "sub" / "w.bin").write_bytes(b"\xff" * 8 + WEIGHTS.tobytes() + b"\xff" * 8)
    (tmp_path / "outside.bin").write_bytes(WEIGHTS.tobytes())
    return found


def test_loading_reads_no_long_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only constants short enough to be a shape are looked at, others when asked for."""
    monkeypatch.setattr("ge_onnx.shapes.values.MAX_ELEMENTS", 5)
    path = model_file(folder, location="sub/w.bin", offset="8", length="24")
    data = folder / "sub" / "w.bin"
    asked: list[Path | None] = []
    with monkeypatch.context() as patch:
        patch.setattr(ConstValue, "read", lambda value: asked.append(value.file))
        node = OnnxFrontend().load(path).node("w")
    assert asked == []
    assert node.value is not None
    assert (node.value.file, node.value.offset, node.value.nbytes) == (data.resolve(), 8, 24)
    assert np.array_equal(constant(node)[0], WEIGHTS)


def test_length_and_offset_may_be_left_out(tmp_path: Path) -> None:
    """Then the data starts at the beginning and is as long as the tensor."""
    (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
    node = OnnxFrontend().load(model_file(tmp_path, location="w.bin")).node("w")
    assert np.array_equal(constant(node)[0], WEIGHTS)


@pytest.mark.parametrize(
    ("entries", "field", "text"),
    [
        ({"location": "lost.bin"}, "location", "'lost.bin' is missing"),
        ({}, "location", "names no file"),
        ({"location": "sub"}, "location", "is missing"),
        ({"location": "../outside.bin"}, "location", "outside the model's folder"),
        ({"location": "sub/../../outside.bin"}, "location", "outside the model's folder"),
        ({"location": "sub\\..\\..\\outside.bin"}, "location", "outside the model's folder"),
        ({"location": "/etc/passwd"}, "location", "outside the model's folder"),
        ({"location": "link"}, "location", "outside the model's folder"),
        ({"location": "loop"}, "location", "names no file"),
        ({"location": "a" * 5000}, "location", "names no file"),
        ({"location": "sub/w.bin", "offset": "24"}, None, "ends early: 40 bytes, needed are 24"),
        ({"location": "sub/w.bin", "offset": "-8"}, "offset", "'-8' is not a number"),
        ({"location": "sub/w.bin", "offset": "8x"}, "offset", "'8x' is not a number"),
        ({"location": "sub/w.bin", "offset": "9" * 40}, "offset", "is not a number"),
        ({"location": "sub/w.bin", "length": "20"}, "length", "20 bytes, needed are 24"),
    ],
)
def test_bad_references(
    folder: Path, entries: dict[str, str], field: str | None, text: str
) -> None:
    """One error that names the initializer and what is wrong with its reference."""
    (folder / "link").symlink_to(folder.parent / "outside.bin")
    (folder / "loop").symlink_to(folder / "loop")
    path = model_file(folder, **entries)
    with pytest.raises(InputFileError) as caught:
        OnnxFrontend().load(path)
    error = caught.value
    assert text in error.plain_message
    assert (error.file, error.node) == (str(path), "w")
    where = "external_data" if field is None else f"external_data.{field}"
    assert error.field == f"graph.initializer.{where}"


def test_saving_beside_refers_to_the_same_file(folder: Path, runtime: Runtime) -> None:
    """A model written to the folder of the data refers to it and copies nothing."""
    path = model_file(folder, location="sub/w.bin", offset="8", length="24", checksum="abc")
    OnnxBackend().save(OnnxFrontend().load(path), folder / "out.onnx")
    (tensor,) = onnx.load(folder / "out.onnx", load_external_data=False).graph.initializer
    assert {e.key: e.value for e in tensor.external_data} == {
        "checksum": "abc",
        "location": "sub/w.bin",
        "offset": "8",
        "length": "24",
    }
    assert sorted(p.name for p in folder.rglob("*")) == ["m.onnx", "out.onnx", "sub", "w.bin"]
    x = np.ones(6, np.float32)
    assert np.array_equal(runtime(folder / "out.onnx", {"x": x})["y"], x + WEIGHTS)


def test_saving_elsewhere_brings_the_file_along(
    folder: Path, tmp_path: Path, runtime: Runtime
) -> None:
    """In another folder the data file is copied, under another name where that is taken."""
    graph = OnnxFrontend().load(model_file(folder, location="sub/w.bin", offset="8"))
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "w.bin").write_bytes(b"somebody else's")
    for _ in range(2):
        OnnxBackend().save(graph, target / "out.onnx")
    assert sorted(p.name for p in target.iterdir()) == ["out.onnx", "w.bin", "w_1.bin"]
    assert (target / "w.bin").read_bytes() == b"somebody else's"
    x = np.ones(6, np.float32)
    assert np.array_equal(runtime(target / "out.onnx", {"x": x})["y"], x + WEIGHTS)


def test_data_that_goes_missing_later(folder: Path, tmp_path: Path) -> None:
    """A data file that is gone when the model is written is an error, and nothing is written."""
    graph = OnnxFrontend().load(model_file(folder, location="sub/w.bin", offset="8"))
    (folder / "sub" / "w.bin").unlink()
    target = tmp_path / "elsewhere"
    target.mkdir()
    with pytest.raises(InputFileError, match="can't be copied"):
        OnnxBackend().save(graph, target / "out.onnx")
    assert list(target.iterdir()) == []


def test_models_too_long_for_protobuf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime: Runtime
) -> None:
    """Long inline constants move to a data file where the model would grow too long."""
    message = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> '
        "g (float[600] x) => (float[600] y) <float[1] one = {1}> "
        "{ a = Add(x, v) b = Add(a, w) y = Add(b, one) }"
    )
    for name in ("v", "w"):
        values = np.arange(600, dtype=np.float32) + len(name)
        message.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    (tmp_path / "m.onnx").write_bytes(message.SerializeToString())
    graph = OnnxFrontend().load(tmp_path / "m.onnx")
    monkeypatch.setattr("ge_onnx.writing.external.MAX_INLINE", 3000)
    OnnxBackend().save(graph, tmp_path / "out.onnx")
    written = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    places = {t.name: t.data_location for t in written.graph.initializer}
    assert places == {"one": 0, "v": 1, "w": 1}
    assert (tmp_path / "out.onnx.data").stat().st_size == 4096 + 2400
    x = np.ones(600, np.float32)
    before, after = (runtime(tmp_path / name, {"x": x})["y"] for name in ("m.onnx", "out.onnx"))
    assert np.array_equal(before, after)
    again = OnnxFrontend().load(tmp_path / "out.onnx")
    assert np.array_equal(constant(again.node("v"))[0], constant(graph.node("v"))[0])
