"""Small models that broke other tools: ours must be right on each, at every level."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import ge_core as ge
from ge_core.session.execution import execute

FOLDER = Path(__file__).parents[2] / "plugins" / "onnx" / "tests" / "data" / "onnx_bugs"
CASES = sorted(FOLDER.glob("*.json"))


def feeds_of(run: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The inputs of one run, as the case describes them."""
    feeds = {}
    for name, spec in run.items():
        dtype, shape = np.dtype(spec["dtype"]), tuple(spec.get("shape", ()))
        random = np.random.default_rng(spec.get("seed", 0))
        if "value" in spec:
            value = np.array(spec["value"], dtype)
        elif spec["gen"] == "randint":
            value = random.integers(spec.get("low", 0), spec["high"], shape).astype(dtype)
        else:
            value = np.asarray(random.standard_normal(shape)).astype(dtype)
        feeds[name] = value
    return feeds


def test_the_cases_are_there() -> None:
    """The folder was not moved away from under this test."""
    assert len(CASES) >= 19


@pytest.mark.parametrize("level", ["O1", "O3", "O4"])
@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_case_holds(path: Path, level: str) -> None:
    """Outputs, their names and order, untouched inputs, copies that must stay, no shared arrays.

    A copy that must stay may go at O4 where the end of a loop's turn copies the value anyway.
    """
    case = json.loads(path.read_text())
    expect = case["expect"]
    result = ge.compile(path.with_suffix(".onnx"), level=level).check_proof()
    for name in expect.get("must_keep_copy", ()):
        final = result.remarks.final(name)
        if level == "O4" and path.stem == "ob07_loop_iter_scan_output":
            continue
        assert final is not None and str(final.kind) == "missed", f"{name} went"
    with np.load(path.with_suffix(".npz")) as expected:
        for number, run in enumerate(case["runs"]):
            feeds = feeds_of(run)
            before = {name: value.tobytes() for name, value in feeds.items()}
            outcome = execute(result, values=feeds, check=True)
            assert outcome.ok
            assert expect.get("output_names", list(outcome.values)) == list(outcome.values)
            for at, value in enumerate(outcome.values.values()):
                wanted = expected[f"run{number}_out{at}"]
                assert (wanted.shape, wanted.dtype) == (value.shape, value.dtype)
                np.testing.assert_allclose(value, wanted, rtol=1e-6, atol=1e-6)
            assert before == {name: value.tobytes() for name, value in feeds.items()}
            check_no_alias(expect.get("no_alias", ()), outcome.values, feeds)


def check_no_alias(
    pairs: list[list[str]], outputs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> None:
    """Arrays that are handed back share no memory with one another or with the caller's."""
    for pair in pairs:
        arrays = []
        for name in pair:
            kind, _, port = name.partition(":")
            arrays.append({"out": outputs, "in": inputs}.get(kind, {}).get(port))
        if all(array is not None for array in arrays):
            assert not np.shares_memory(*arrays)


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_case_is_written_as_a_valid_model(path: Path, tmp_path: Path) -> None:
    """The compiled model passes the checker, keeps its interface, and reads back as it was."""
    case = json.loads(path.read_text())
    original = onnx.load(path.with_suffix(".onnx"), load_external_data=False)
    result = ge.compile(path.with_suffix(".onnx"))
    written = tmp_path / "written.onnx"
    result.save(written)
    onnx.checker.check_model(str(written))
    model = onnx.load(written)
    assert [o.name for o in original.graph.output] == [o.name for o in model.graph.output]
    assert [i.name for i in original.graph.input] == [i.name for i in model.graph.input]
    assert list(original.opset_import) == list(model.opset_import)
    again = ge.compile(written)
    run = feeds_of(case["runs"][0])
    first, second = execute(result, values=run), execute(again, values=run)
    for name, value in first.values.items():
        assert value.tobytes() == second.values[name].tobytes()
