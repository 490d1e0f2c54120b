"""Where a copy stands, what it waits for, and what it takes over from its neighbours."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import GraphBuilder, Node, OpRegistry, TensorDesc, register_builtin_ops
from ge_memconflict.placing import isolate_input, isolate_output, serves_only
from ge_memconflict.references import refresh_references

OPS = OpRegistry()
register_builtin_ops(OPS)


def names(nodes: Any) -> list[str]:
    """Of nodes, in order."""
    return [node.name for node in nodes]


def reduce_of_two() -> tuple[GraphBuilder, Node]:
    """A node with two inputs that waits for another one, and for its memory to be zeroed."""
    b = GraphBuilder()
    act, other = b.op("Relu", b.data("x"), name="act"), b.op("Relu", b.data("y"), name="other")
    first, zero = b.node("Exp", b.data("z"), name="first"), b.node("MemSet", name="zero")
    node = b.node("Foo", act, other, name="reduce", control=[first, zero])
    return b, node


def test_a_copy_waits_in_its_reader_s_place() -> None:
    """Edges of order into the reader move to the copy; what zeroes memory is for the reader."""
    b, node = reduce_of_two()
    copy = isolate_input(node.inputs[0], "copy")
    assert [copy, b.graph.node("other")] == node.in_nodes
    assert ["first"] == names(copy.control_inputs)
    assert ["zero"] == names(node.control_inputs)
    assert ["copy", "reduce"] == names(b.graph.nodes)[-2:]


def test_a_second_copy_waits_for_the_same() -> None:
    """The first one has taken the edges; the second is made under the same conditions."""
    _, node = reduce_of_two()
    one, two = (isolate_input(node.inputs[at], "copy") for at in (0, 1))
    assert names(one.control_inputs) == names(two.control_inputs) == ["first"]
    assert ["copy", "copy_1"] == [one.name, two.name]


def test_on_streams_a_copy_waits_for_the_reader_s_other_inputs() -> None:
    """They may write what is copied, and only the reader has waited for them so far."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    far = b.op("Exp", b.data("y"), name="far", attrs={"stream_id": 1})
    node = b.node("Foo", act, far, name="reduce", attrs={"stream_id": 2})
    copy = isolate_input(node.inputs[0], "copy")
    assert 2 == copy.stream_id
    assert ["far"] == names(copy.control_inputs)


def test_a_copy_runs_where_its_reader_runs() -> None:
    """Texts that say so are taken over, others and numbers are not."""
    b = GraphBuilder()
    attrs = {"_stream_label": "s", "_op_aicore_num": "4", "_super_kernel_scope": 1, "note": "n"}
    node = b.node("Foo", b.op("Relu", b.data("x")), attrs=attrs)
    copy = isolate_input(node.inputs[0], "copy", {"mark": True})
    assert {"_stream_label": "s", "_op_aicore_num": "4", "mark": True} == dict(copy.attrs)


def test_a_copy_says_nothing_of_sharing() -> None:
    """Its description has neither its source's reuse index nor its marks."""
    b = GraphBuilder()
    desc = TensorDesc.make().replace(reuse_input=0).with_attr("ref_var_src_var_name", "w")
    made = b.node("Foo", b.data("x"), outputs=[desc])
    node = b.node("Bar", made.outputs[0])
    copy = isolate_input(node.inputs[0], "copy")
    assert TensorDesc.make() == copy.outputs[0].desc


@pytest.mark.parametrize(("op", "waits_for"), [("Relu", "copy"), ("StreamSwitch", "made")])
def test_a_copy_behind_an_output_is_waited_for(op: str, waits_for: str) -> None:
    """Who waited for the producer waits for the copy, unless the edge chooses a branch."""
    b = GraphBuilder()
    made = b.node(op, b.data("x"), name="made")
    user = b.node("Exp", made.outputs[0], name="user")
    late = b.node("Exp", b.data("y"), name="late", control=[made])
    copy = isolate_output(made.outputs[0], "copy")
    assert [copy] == user.in_nodes
    assert [waits_for] == names(late.control_inputs)
    assert names(b.graph.nodes).index("made") + 1 == names(b.graph.nodes).index("copy")


def test_whom_an_inserted_copy_serves() -> None:
    """One node, be it with several inputs; a copy that came with the graph serves nobody alone."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    node = b.node("Foo", act, act)
    copy = isolate_output(act, "copy")
    assert node is serves_only(copy)
    assert serves_only(b.node("Identity", b.data("y"))) is None
    b.op("Exp", copy.outputs[0])
    assert serves_only(copy) is None


def named(reuse: int | None, **facts: Any) -> tuple[GraphBuilder, Node]:
    """A node with an input and an output of one name."""
    b = GraphBuilder()
    x = b.data("x")
    node = b.graph.add_node(
        "ApplyMomentum",
        "n",
        [x, x],
        [TensorDesc.make().replace(reuse_input=reuse)],
        input_names=("grad", "var"),
        output_names=("var",),
        **facts,
    )
    return b, node


def test_equal_port_names_are_marked() -> None:
    """Once: a second look finds the mark."""
    b, node = named(1)
    assert [1, 0] == [refresh_references(b.graph, OPS) for _ in range(2)]
    assert node.attrs["reference"] is True


@pytest.mark.parametrize("reuse", [0, None])
def test_a_mark_that_would_say_more_is_not_set(reuse: int | None) -> None:
    """The description names another input, or none: the mark would change what is meant."""
    b, node = named(reuse)
    assert 0 == refresh_references(b.graph, OPS)
    assert {} == dict(node.attrs)
