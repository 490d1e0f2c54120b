"""Memory that passes through calls keeps its owner's rules."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc


def split_behind_a_call(owner: str) -> Graph:
    """A call hands its input through; a second call splits what the first delivered."""
    build = GraphBuilder()
    if owner == "Variable":
        source: OutputAnchor = build.node("Variable", name="owner", shape=(1, 16)).outputs[0]
    else:
        source = build.const("owner", bytes(64), (1, 16))
    through = build.subgraph("through")
    through.net_output(through.data("d", (1, 16)))
    handed = build.op("PartitionedCall", source, name="hand", subgraphs={"f": through})
    cutting = build.subgraph("cutting")
    piece = TensorDesc.make("float32", (1, 8))
    attrs = {"split_dim": 1, "num_split": 2}
    split = cutting.node(
        "SplitD", cutting.data("e", (1, 16)), name="split", outputs=[piece, piece], attrs=attrs
    )
    cutting.net_output(cutting.op("Relu", split.outputs[1], name="used"))
    last = build.op(
        "PartitionedCall", handed, name="cut", outputs=[piece], subgraphs={"f": cutting}
    )
    build.net_output(last)
    return build.graph


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("owner", ["Variable", "Const"])
def test_a_split_of_a_weight_behind_two_calls_copies(owner: str, level: str) -> None:
    """The weight has a place of its own; the split keeps its task and says why.

    Where GE's copy stands behind the weight, the split cuts that copy where it lies. At O4 parts of
    a constant are windows into it: nobody writes either.
    """
    guarded = ge.compile(split_behind_a_call(owner), level=level).check_proof()
    assert guarded.after.total.bytes == 64
    assert guarded.check().ok
    result = ge.compile(
        split_behind_a_call(owner), level=level, disable=["SubgraphPass"]
    ).check_proof()
    final = result.remarks.final("split")
    assert final is not None
    is_window = owner == "Const" and level == "O4"
    expected = ("applied", "NO_TASK") if is_window else ("missed", "FIXED_MEMORY")
    assert expected == (str(final.kind), final.code)
    assert result.check().ok
