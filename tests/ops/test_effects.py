"""Which memory an output is, and which inputs a node writes: one case per rule."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.ir import Graph, GraphBuilder, Node, TensorDesc, read_graph
from ge_core.ops import (
    OpRegistry,
    OpTraits,
    named_pairs,
    output_parent_index,
    parent_index,
    ref_of,
    register_builtin_ops,
    scribbled_inputs,
    written_inputs,
)


@pytest.fixture
def ops() -> OpRegistry:
    """GE's own table."""
    registry = OpRegistry()
    register_builtin_ops(registry)
    return registry


def node_of(op: str, *, inputs: int = 2, **entry: Any) -> Node:
    """A node of that op, fed by as many Data nodes."""
    entry.setdefault("outputs", [{}])
    feeds = [{"name": f"d{at}", "op": "Data", "outputs": [{}]} for at in range(inputs)]
    names = [f"d{at}:0" for at in range(inputs)]
    graph = read_graph({"nodes": [*feeds, {"name": "n", "op": op, "inputs": names, **entry}]})
    return graph.node("n")


REFS: list[tuple[str, dict[str, Any], int | None]] = [
    ("Reshape", {}, 0),
    ("Merge", {}, 0),
    ("While", {}, 0),
    ("Cast", {}, None),
    ("Squeeze", {}, None),
    ("TensorMove", {}, None),
    ("Identity", {}, None),
    ("If", {}, None),
    ("StreamMerge", {}, None),
    ("Squeeze", {"outputs": [{"reuse_input": 1}]}, 1),
    ("Upd", {"input_names": ["v", "w"], "output_names": ["w"]}, None),
    ("Upd", {"input_names": ["v", "w"], "output_names": ["w"], "attrs": {"reference": True}}, 1),
    ("Upd", {"attrs": {"reference": True}}, None),
    ("ConcatD", {"attrs": {"_output_reuse_input": True}}, None),
    (
        "ConcatD",
        {"attrs": {"_output_reuse_input": True, "_no_padding_continuous_input": True}},
        0,
    ),
]


@pytest.mark.parametrize(("op", "entry", "expected"), REFS)
def test_ref(op: str, entry: dict[str, Any], expected: int | None, ops: OpRegistry) -> None:
    """The first rule of GE's reference mapping that answers decides."""
    assert expected == ref_of(node_of(op, **entry).outputs[0], ops)


def test_a_subgraphs_data_is_its_own_input(ops: OpRegistry) -> None:
    """Inner Data hands on what the parent gets; a root Data is fresh."""
    build = GraphBuilder()
    outer = build.data("x")
    sub = build.subgraph("g")
    inner = sub.data("d", index=3)
    assert 0 == ref_of(inner, ops)
    assert ref_of(outer, ops) is None
    assert 3 == parent_index(inner.node)


WRITES: list[tuple[str, dict[str, Any], tuple[int, ...], tuple[int, ...]]] = [
    ("Assign", {}, (), ()),
    ("Assign", {"outputs": [{"reuse_input": 0}]}, (0,), ()),
    ("Relu", {"outputs": [{"reuse_input": 0}]}, (), ()),
    ("Upd", {"outputs": [{"reuse_input": 1}], "attrs": {"reference": True}}, (1,), ()),
    ("Upd", {"input_names": ["v", "w"], "output_names": ["w"]}, (1,), ()),
    ("PhonyConcat", {"input_names": ["v", "w"], "output_names": ["w"]}, (), ()),
    ("Upd", {"attrs": {"rw": {"inputs": {"1": "write"}}}}, (1,), ()),
    ("Upd", {"attrs": {"rw": {"inputs": {"0": "read"}}}}, (), ()),
    ("RefSwitch", {}, (0,), ()),
    ("HcomAllReduce", {"attrs": {"_input_mutable": True}}, (), (0, 1)),
    ("HcomAllReduce", {}, (), ()),
    ("While", {}, (), (0, 1)),
    ("Upd", {"input_descs": [None, {"attrs": {"_special_input_size": 8}}]}, (), (1,)),
    ("Upd", {"input_descs": [None, {"attrs": {"_special_input_size": 0}}]}, (), ()),
]


@pytest.mark.parametrize(("op", "entry", "writes", "scribbles"), WRITES)
def test_writes(
    op: str,
    entry: dict[str, Any],
    writes: tuple[int, ...],
    scribbles: tuple[int, ...],
    ops: OpRegistry,
) -> None:
    """Aliasing is not writing; marks, names and a few op rules say who writes."""
    node = node_of(op, **entry)
    assert writes == written_inputs(node, ops)
    assert scribbles == scribbled_inputs(node, ops)


def test_declared_writes_are_used(ops: OpRegistry) -> None:
    """Traits of a plugin's op count like attributes."""
    ops.add(OpTraits("acme::Push", writes=(1,), scribbles=(0,)))
    node = node_of("acme::Push")
    assert ((1,), (0,)) == (written_inputs(node, ops), scribbled_inputs(node, ops))


def test_names_pair_the_first_input_of_a_name() -> None:
    """Two inputs of one name: the first is meant; empty names pair nothing."""
    node = node_of("X", inputs=3, input_names=["a", "a", ""], output_names=["a"])
    assert [(0, 0)] == named_pairs(node)
    assert [] == named_pairs(node_of("X", input_names=["", ""], output_names=[""]))


def test_net_output_inputs_know_the_parents_output() -> None:
    """The parent index of an inner result is on the input's own description."""
    graph = Graph()
    sub = graph.add_subgraph("g")
    data = sub.add_node("Data", "d", outputs=[TensorDesc.make()], attrs={"_parent_node_index": 0})
    out = sub.add_node("NetOutput", "o", [data.outputs[0], data.outputs[0]])
    sub.set_desc(out.inputs[1], data.outputs[0].desc.with_attr("_parent_node_index", 4))
    assert [None, 4] == [output_parent_index(out, at) for at in range(2)]
