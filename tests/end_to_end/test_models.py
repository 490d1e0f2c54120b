"""Every model: proved at all levels, bit-exact, valid when written, every copy explained."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import ge_core as ge
from ge_core.session.execution import execute

from .conftest import Model, models

MODELS = models()
each_model = pytest.mark.parametrize("model", MODELS, ids=[m.path.stem for m in MODELS])
COPIES = {"Identity", "Concat", "Split", "Slice"}
NOISE = {"light_squeezenet"}
"""Its logits are 7e9 and all alike, so that its softmax tells two orders of summing apart."""


def test_there_are_36_models() -> None:
    """None was lost from the two folders."""
    assert 36 == len(MODELS)


@each_model
@pytest.mark.parametrize("level", ["O1", "O4"])
def test_a_model_is_proved(model: Model, level: str, tmp_path: Path) -> None:
    """No violation, and nothing assumed besides unknown ops."""
    result = ge.compile(model.file(tmp_path), level=level, input_shapes=model.shapes)
    result.check_proof()
    assert result.proof is not None
    assert [] == [a for a in result.proof.assumptions if "unknown op" not in a]


@each_model
def test_a_model_compiled_at_o3_is_right(model: Model, tmp_path: Path) -> None:
    """Proved; bit-exact; the written model is valid and computes what the original does."""
    path = model.file(tmp_path)
    result = ge.compile(path, level="O3", input_shapes=model.shapes).check_proof()
    values = model.values()
    outcome = execute(result, values=values, check=True)
    assert [] == [output for output in outcome.outputs if not output.bit_exact]
    written = tmp_path / "written.onnx"
    result.save(written)
    onnx.checker.check_model(str(written))
    original, compiled = run_onnxruntime(path, values), run_onnxruntime(written, values)
    assert list(original) == list(compiled)
    for name, value in original.items():
        assert_close(value, compiled[name])
        if model.path.stem not in NOISE:
            assert_close(value, outcome.values[name])


@each_model
def test_every_copy_has_one_final_remark(model: Model, tmp_path: Path) -> None:
    """Each Identity, Concat, Split and Slice ends with one remark that has a code and a reason."""
    path = model.file(tmp_path)
    result = ge.compile(path, level="O3", input_shapes=model.shapes, prove=False)
    wanted = [
        node.name
        for node in result.original.all_nodes()
        if node.attrs.get("_source_op", node.op) in COPIES
    ]
    told = Counter(remark.node for remark in result.finals())
    assert dict.fromkeys(wanted, 1) == {name: told[name] for name in wanted}
    for remark in result.finals():
        assert remark.code and remark.reason


def run_onnxruntime(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """The outputs without optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, values), strict=True))


def assert_close(expected: Any, actual: Any) -> None:
    """Within 1e-5 of the largest value; sequences element by element."""
    if isinstance(expected, list):
        assert len(expected) == len(actual)
        for one, other in zip(expected, actual, strict=True):
            assert_close(one, other)
        return
    assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype)
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5 * scale)
