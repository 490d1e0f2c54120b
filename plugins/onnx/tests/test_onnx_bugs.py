"""The models of `data/onnx_bugs`, which optimizers are known to get wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from ge_core.api import Graph, verify
from ge_onnx.backend import OnnxBackend
from ge_onnx.frontend import OnnxFrontend

Interpret = Callable[..., dict[str, Any]]
Runtime = Callable[[Path, dict[str, Any]], dict[str, Any]]

FOLDER = Path(__file__).parent / "data" / "onnx_bugs"
CASES = sorted(path.stem for path in FOLDER.glob("*.onnx"))


def feeds(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The inputs of each run of a case."""
    return [{name: _value(how) for name, how in run.items()} for run in case["runs"]]


def _value(how: dict[str, Any]) -> Any:
    if "value" in how:
        return np.array(how["value"], dtype=how["dtype"])
    generator = np.random.default_rng(how["seed"])
    if how["gen"] == "normal":
        return generator.standard_normal(how["shape"]).astype(how["dtype"])
    return generator.integers(how["low"], how["high"], how["shape"]).astype(how["dtype"])


def without_moves(graph: Graph) -> Graph:
    """The graph without any Identity: no memory is planned here, so each of them can go."""
    for part in graph.all_graphs():
        for node in part.nodes_of("TensorMove"):
            part.bypass(node)
    verify(graph)
    return graph


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether two arrays differ by no more than allowed, between machines at least 1e-6."""
    allowed = max(tolerance, 1e-6)
    return bool(
        found.shape == expected.shape
        and found.dtype == expected.dtype
        and np.allclose(found, expected, rtol=allowed, atol=allowed)
    )


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, interpret: Interpret, runtime: Runtime, tmp_path: Path) -> None:
    """Interpreted, written again, and written without its moves, a case gives the right outputs."""
    case = json.loads((FOLDER / f"{name}.json").read_text())
    expected = np.load(FOLDER / f"{name}.npz")
    graph = OnnxFrontend().load(FOLDER / f"{name}.onnx")
    OnnxBackend().save(graph, tmp_path / "plain.onnx")
    OnnxBackend().save(
        without_moves(OnnxFrontend().load(FOLDER / f"{name}.onnx")), tmp_path / "fewer.onnx"
    )
    before = onnx.load(FOLDER / f"{name}.onnx", load_external_data=False).graph
    for file in ("plain.onnx", "fewer.onnx"):
        onnx.checker.check_model(str(tmp_path / file), full_check=True)
        after = onnx.load(tmp_path / file, load_external_data=False).graph
        assert [(i.name, i.type) for i in after.input] == [(i.name, i.type) for i in before.input]
        assert [(o.name, o.type) for o in after.output] == [(o.name, o.type) for o in before.output]
    assert case["expect"]["output_names"] == [output.name for output in before.output]
    for at, inputs in enumerate(feeds(case)):
        kept = {key: value.copy() for key, value in inputs.items()}
        runs = [
            interpret(graph, inputs),
            runtime(tmp_path / "plain.onnx", inputs),
            runtime(tmp_path / "fewer.onnx", inputs),
        ]
        for k, output in enumerate(case["expect"]["output_names"]):
            right = expected[f"run{at}_out{k}"]
            assert [close(run[output], right, case["expect"]["tolerance"]) for run in runs] == [
                True,
                True,
                True,
            ]
        assert all(np.array_equal(kept[key], inputs[key]) for key in kept)
