"""Nodes that lack what their op can't do without are refused by name, before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ge_core as ge
from ge_core.errors import GraphError, InputFileError
from ge_core.ir import GraphBuilder, write_graph
from ge_core.ops import OpRegistry, check_arity, register_builtin_ops

OPS = OpRegistry()
register_builtin_ops(OPS)


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "field"),
    [
        ("Assign", 1, 1, "inputs"),
        ("AssignAddVariableOp", 0, 0, "inputs"),
        ("If", 0, 1, "inputs"),
        ("Case", 0, 1, "inputs"),
        ("Data", 0, 0, "outputs"),
        ("Const", 0, 0, "outputs"),
        ("Variable", 0, 0, "outputs"),
    ],
)
def test_what_is_missing_is_named(op: str, inputs: int, outputs: int, field: str) -> None:
    """The node and the field, also in a subgraph."""
    build = GraphBuilder()
    x = build.data("x", (4,))
    inner = build.subgraph("g")
    feeds = [inner.data(f"d{at}", (4,), index=at) for at in range(inputs)]
    inner.node(op, *feeds, name="bad", outputs=[x.desc] * outputs)
    build.node("PartitionedCall", *[x] * inputs, name="call", subgraphs={"f": inner})
    with pytest.raises(GraphError, match="at least") as raised:
        check_arity(build.graph, OPS)
    assert ("bad", field) == (raised.value.node, raised.value.field)


def test_whole_nodes_pass() -> None:
    """Two inputs of a store, one of a choice, the output of a source."""
    build = GraphBuilder()
    x = build.data("x", (4,))
    build.node("Assign", x, x, name="store", outputs=[x.desc])
    check_arity(build.graph, OPS)


def test_a_compile_names_the_file(tmp_path: Path) -> None:
    """Before any pass is asked, and with the exit code of a bad file."""
    build = GraphBuilder()
    x = build.data("x", (4,))
    build.net_output(build.node("Assign", x, name="store", outputs=[x.desc]).outputs[0])
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(write_graph(build.graph)))
    with pytest.raises(InputFileError, match=r"bad\.json: node 'store', field 'inputs'") as raised:
        ge.compile(path)
    assert 3 == raised.value.exit_code
