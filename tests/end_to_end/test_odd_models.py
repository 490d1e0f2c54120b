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
    "a sequence that nobody reads": """g (float[2] x) => (float[4] y) {
        a = SequenceConstruct(x, x)
        b = SequenceInsert(a, x)
        y = ConcatFromSequence<axis = 0>(a)
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


TWO_MOVES = """g (float[2] x) => (float[2] y) <int64 n = {1}> {
    y = Loop(n, , x) <body = b (int64 i, bool c, float[2] a) => (bool co, float[2] q) {
        u = Identity(a)
        q = Identity(u)
        co = Identity(c)
    }>
}"""


def test_a_move_stays_where_its_removal_raises_the_peak(tmp_path: Path) -> None:
    """Of two moves in a loop's body the second is kept, unless copies matter more than memory.

    O4 takes out both, which needs no more memory than O1.
    """
    path = tmp_path / "model.onnx"
    path.write_bytes(parser.parse_model(HEADER + TWO_MOVES).SerializeToString())
    lowest = ge.compile(path, level="O1")
    every = ge.compile(path, level="O4").check_proof()
    assert (0, lowest.arena.bytes) == (every.after.total.count, every.arena.bytes)
    result = ge.compile(path, level="O3").check_proof()
    assert lowest.arena.bytes == result.arena.bytes
    assert [] == result.warnings
    final = result.remarks.final("q")
    assert final is not None
    assert ("missed", "RAISES_PEAK") == (str(final.kind), final.code)
    assert "--objective copies" in result.explain("q")
    fewest = ge.compile(path, level="O3", objective="copies").check_proof()
    assert fewest.after.total.count < result.after.total.count
    assert fewest.arena.bytes > result.arena.bytes
