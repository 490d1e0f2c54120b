"""Joins and splits that came marked: GE's layout rules are asked about them at GE's levels."""

from __future__ import annotations

import pytest

import ge_core
from ge_core.api import GraphBuilder, TensorDesc

JOIN = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
    "concat_dim": 0,
}
SPLIT = {
    "_no_task": True,
    "_no_padding_continuous_output": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
    "split_dim": 0,
}


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_a_piece_that_is_joined_again_is_copied(level: str) -> None:
    """Also where passes run that say of the marks that they were there before."""
    b = GraphBuilder()
    x = b.op("Exp", b.data("in", (32,)), name="x", shape=(32,))
    piece = TensorDesc.make("float32", (16,))
    p0, p1 = b.node("SplitD", x, name="split", outputs=[piece] * 2, attrs=SPLIT).outputs
    y = b.op("Exp", p1, name="y")
    b.net_output(b.op("Abs", b.op("ConcatD", p0, y, name="join", shape=(32,), attrs=JOIN)))
    result = ge_core.compile(b.graph, level=level)
    result.check_proof()
    source = result.graph.node("join").inputs[0].source
    assert source is not None and source.node.op == "Identity"
    final = result.remarks.final(source.node.name)
    assert final is not None and final.code == "JOIN_MEETS_SPLIT"
