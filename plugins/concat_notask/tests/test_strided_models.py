"""Real models with joins, splits and slices along inner axes: fewer copies, proved and run."""

from __future__ import annotations

from pathlib import Path

import pytest

import ge_core as ge
from ge_core.session.execution import execute
from ge_core.session.result import Result

ROOT = Path(__file__).parents[3]
MODELS = {
    "examples/models/real_basic_pitch_nmp.onnx": {
        "serving_default_input_2:0": (1, 43844, 1),
    },
    "tests/models/gen_kv_decoder.dynamo.onnx": {
        "ids": (1, 1),
        **{f"p{at}": (1, 4, 7, 16) for at in range(8)},
    },
}


def compiled(name: str, target: str) -> Result:
    """At O4, proved."""
    result = ge.compile(ROOT / name, level="O4", target=target, input_shapes=MODELS[name])
    assert result.proof is not None
    assert result.proof.ok, result.proof.violations[:1]
    return result


@pytest.mark.parametrize("name", sorted(MODELS))
def test_rows_save_copies_of_a_model(name: str) -> None:
    """Less is copied than where nothing lies in rows, in no larger arena, with equal results."""
    plain, found = compiled(name, "generic"), compiled(name, "numpy")
    assert found.after.total.bytes < plain.after.total.bytes
    assert found.plan.pools["HBM"].bytes <= plain.plan.pools["HBM"].bytes
    assert any(tensor.strided for tensor in found.plan.tensors)
    outcome = execute(found, seed=1, check=True)
    assert [] == [output.name for output in outcome.outputs if not output.bit_exact]
