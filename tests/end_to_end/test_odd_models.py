"""Valid models of odd shapes: proved, bit-exact, written as valid models, at every level."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

import ge_core as ge
from ge_core.session.execution import execute

HEADER = '<ir_version: 8, opset_import: ["": 17]>\n'
MODELS = {
    "joins without rows": """g (float[0,2,3] x) => (float[0,4,3] y, float[0,2,9] z) {
        a = Neg(x)
        y = Concat<axis = 1>(a, x)
        z = Concat<axis = -1>(x, x, a)
    }""",
    "splits without rows": """g (float[2,0,4] x) => (float[2,0,4] y) {
        a, b = Split<axis = 2>(x)
        c = Neg(a)
        y = Concat<axis = 2>(c, b)
    }""",
}


@pytest.mark.parametrize("level", ["O0", "O1", "O3", "O4"])
@pytest.mark.parametrize("name", MODELS)
def test_an_odd_model_is_right(name: str, level: str, tmp_path: Path) -> None:
    """Proved without assumptions, equal to an unplanned run, and written as a valid model."""
    path, written = tmp_path / "model.onnx", tmp_path / "written.onnx"
    path.write_bytes(parser.parse_model(HEADER + MODELS[name]).SerializeToString())
    result = ge.compile(path, level=level).check_proof()
    assert result.proof is not None
    assert [] == list(result.proof.assumptions)
    assert [] == [o for o in execute(result, check=True).outputs if not o.bit_exact]
    result.save(written)
    onnx.checker.check_model(str(written), full_check=True)
