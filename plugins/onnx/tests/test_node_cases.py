"""onnx's own node tests: every op and variant that it has an expected result for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from ge_core.api import InputFileError, verify
from ge_onnx.backend import OnnxBackend
from ge_onnx.frontend import OnnxFrontend

Interpret = Callable[..., dict[str, Any]]

OTHER_NUMBERS = ("bernoulli", "training_dropout")
"""Drawn at random."""
OTHER_CHOICE = (
    "resize_downsample_scales_linear_align_corners",
    "resize_downsample_scales_cubic_align_corners",
)
"""Here the output's size counts, as in onnxruntime; there the size before rounding."""
REFUSED = {
    "test_image_decoder": "ImageDecoder can't be computed",  # needs a library of its own
    "test_not_": "opset 1 is older than 7",
    "test_scan_sum": "Scan of opset 8",
}


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
def test_every_case(tmp_path: Path, interpret: Interpret) -> None:
    """Loaded, verified, run as expected, and written so that onnx's checker accepts it."""
    from onnx.backend.test.case.node import collect_testcases

    failures: list[str] = []
    count = 0
    for case in collect_testcases(None):
        count += 1
        try:
            text = _failure(case, tmp_path, interpret)
        except InputFileError as error:
            expected = next((v for k, v in REFUSED.items() if case.name.startswith(k)), None)
            text = None if expected and expected in str(error) else str(error)
        if text is not None:
            failures.append(f"{case.name}: {text}")
    assert failures == []
    assert count > 1000


def _failure(case: Any, folder: Path, interpret: Interpret) -> str | None:
    path = folder / "m.onnx"
    path.write_bytes(case.model.SerializeToString())
    graph = OnnxFrontend().load(path)
    verify(graph)
    names = [info.name for info in case.model.graph.input]
    for inputs, outputs in case.data_sets or []:
        feeds = {name: _value(item) for name, item in zip(names, inputs, strict=False)}
        found = interpret(graph, feeds)
        if any(part in case.name for part in OTHER_NUMBERS + OTHER_CHOICE):
            continue
        for expected, (name, value) in zip(outputs, found.items(), strict=True):
            # Half precision is computed in more here, and rounded in between there.
            rtol = 2e-2 if "16" in case.name else case.rtol or 1e-3
            if not _close(value, _value(expected), rtol, max(case.atol or 0, 1e-7)):
                return f"output {name!r} is wrong"
    OnnxBackend().save(graph, folder / "n.onnx")
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception:  # what the checker doesn't like before, it need not like after
        return None
    onnx.checker.check_model(str(folder / "n.onnx"), full_check=True)
    return None


def _value(item: Any) -> Any:
    if isinstance(item, onnx.TensorProto):
        item = numpy_helper.to_array(item)
    elif isinstance(item, onnx.SequenceProto):
        item = numpy_helper.to_list(item)
    elif isinstance(item, onnx.OptionalProto):
        item = numpy_helper.to_optional(item)
    if isinstance(item, np.ndarray) and item.dtype.kind in "US":
        return item.astype(object)
    return item


def _close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    if isinstance(a, list) or isinstance(b, list):
        return len(a) == len(b) and all(_close(x, y, rtol, atol) for x, y in zip(a, b, strict=True))
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype == object or b.dtype == object:
        return [_text(x) for x in a.reshape(-1)] == [_text(x) for x in b.reshape(-1)]
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    return a.dtype == b.dtype and bool(
        np.allclose(a.astype(wide), b.astype(wide), rtol=rtol, atol=atol, equal_nan=True)
    )


def _text(item: Any) -> str:
    return item.decode() if isinstance(item, bytes) else str(item)
