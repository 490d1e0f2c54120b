"""Whose copy it is, where an Identity is taken apart and a subgraph has several callers."""

from __future__ import annotations

import pytest

import ge_core
from ge_core.api import GraphBuilder, OutputAnchor


def reader_of_two(*, late: bool) -> GraphBuilder:
    """A body reads a copy and, called again, the update of the copy; `late`: the copy after it."""
    b = GraphBuilder("root")
    copy = b.op("Identity", b.op("Variable", name="w"), name="hold")
    body = b.subgraph("body")
    body.net_output(body.op("Exp", body.data("d"), name="exp"))

    def call(source: OutputAnchor, name: str, *before: OutputAnchor) -> OutputAnchor:
        node = "StatefulPartitionedCall"
        return b.op(node, source, name=name, subgraphs={"f": body}, control=list(before))

    early = [] if late else [call(copy, "old")]
    attrs = {"reference": True}
    stored = b.op("Foo", copy, name="store", attrs=attrs, reuse_input=0, control=early)
    second = call(stored, "new")
    third = [call(copy, "updated", stored)] if late else early
    b.net_output(second, *third)
    return b


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("late", [False, True])
def test_a_body_called_for_both_sides_of_an_update_reads_what_it_did(
    late: bool, level: str
) -> None:
    """Who reads the copy behind its update sees the update: the writer gets no copy of its own."""
    result = ge_core.compile(reader_of_two(late=late).graph, level=level, target="ascend")
    assert result.proof is not None
    assert result.proof.violations == ()
