"""Read and write kinds, row by row of GE's tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest

from ge_core.analysis import Effects, InputKind, OutputKind, combined
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.ops import OpRegistry, register_builtin_ops

OPS = OpRegistry()
register_builtin_ops(OPS)
EFFECTS = Effects(OPS)

READ, WRITE = InputKind.READ_ONLY, InputKind.WRITEABLE
SCRIBBLE, UNKNOWN = InputKind.SCOPE_WRITEABLE, InputKind.INVALID
STORE = {"reference": True}
MUTABLE = {"_input_mutable": True}


def wrapped(
    *attrs: Mapping[str, Any], op: str = "PartitionedCall", extra: int = 0
) -> tuple[GraphBuilder, OutputAnchor]:
    """A node whose subgraphs each use input 0 in a node with these attributes."""
    build = GraphBuilder()
    feed = build.op("Relu", build.data("x"), name="feed")
    subs = {}
    for at, facts in enumerate(attrs):
        sub = build.subgraph(f"g{at}")
        d = sub.data(f"g{at}/d")
        reuse = 0 if facts is STORE else None
        sub.net_output(sub.op("Foo", d, name=f"g{at}/use", attrs=facts, reuse_input=reuse))
        subs[f"b{at}"] = sub
    return build, build.op(op, feed, *([feed] * extra), name="call", subgraphs=subs)


def kind_of(graph: Graph, name: str, at: int = 0) -> InputKind:
    """Kind of an input."""
    return EFFECTS.input_kind(graph.node(name).inputs[at])


@pytest.mark.parametrize(
    ("op", "attrs", "reuse", "expected"),
    [
        ("Relu", {}, None, READ),
        ("Reshape", {}, 0, READ),
        ("Foo", MUTABLE, None, SCRIBBLE),
        ("Foo", STORE, 0, WRITE),
        ("Assign", {}, 0, WRITE),
        ("Assign", {}, None, READ),
        ("Foo", {"rw": {"inputs": {"0": "write"}}}, None, WRITE),
        ("PhonyConcat", STORE, 0, READ),
        ("FrameworkOp", {"original_type": "RefSwitch"}, None, WRITE),
        ("Foo", {**STORE, **MUTABLE}, 0, SCRIBBLE),
    ],
)
def test_input_kinds_of_plain_nodes(
    op: str, attrs: Mapping[str, Any], reuse: int | None, expected: InputKind
) -> None:
    """Marks and op rules decide; aliasing alone is not writing; scribbling beats updating."""
    build = GraphBuilder()
    build.op(op, build.data("x"), name="n", attrs=attrs, reuse_input=reuse)
    assert expected == kind_of(build.graph, "n")


def test_ports_of_equal_name_are_updated_in_place() -> None:
    """An input whose name is an output's is written, and that output allows writing."""
    graph = GraphBuilder().graph
    x = graph.add_node("Relu", "x", outputs=[TensorDesc.make()])
    node = graph.add_node(
        "ApplyMomentum",
        "n",
        [x.outputs[0], x.outputs[0]],
        [TensorDesc.make()],
        input_names=("grad", "var"),
        output_names=("var",),
    )
    assert [READ, WRITE] == [EFFECTS.input_kind(a) for a in node.inputs]
    graph.add_node("Relu", "reader", node.outputs)
    assert OutputKind.WRITEABLE == EFFECTS.output_kind(node.outputs[0])


def test_an_input_with_a_special_size_is_scribbled_over() -> None:
    """The mark on one input's description speaks for that input alone."""
    build = GraphBuilder()
    x = build.data("x")
    node = build.node("Foo", x, x, name="n")
    build.graph.set_desc(node.inputs[1], x.desc.with_attr("_special_input_size", 64))
    assert [READ, SCRIBBLE] == [kind_of(build.graph, "n", at) for at in (0, 1)]


def test_a_while_scribbles_over_its_inputs() -> None:
    """Whatever its subgraphs do."""
    build, _ = wrapped({}, {}, op="While")
    assert SCRIBBLE == kind_of(build.graph, "call")


@pytest.mark.parametrize("order", list(permutations([{}, STORE, MUTABLE], 3)))
def test_the_uses_in_all_subgraphs_are_combined(order: tuple[Mapping[str, Any], ...]) -> None:
    """Reading yields to writing, and the two ways of writing contradict each other."""
    build, _ = wrapped(*order, op="Case")
    assert UNKNOWN == kind_of(build.graph, "call")
    build, _ = wrapped(*(facts for facts in order if facts is not MUTABLE), op="Case")
    assert WRITE == kind_of(build.graph, "call")


def test_combining_is_a_set_operation() -> None:
    """Nothing read is reading; one way of writing is that; what can't be told absorbs."""
    assert READ == combined([])
    assert SCRIBBLE == combined([READ, SCRIBBLE, SCRIBBLE])
    assert UNKNOWN == combined([UNKNOWN, WRITE])


def test_uses_are_found_at_any_depth() -> None:
    """A store in a call within a call writes the outer call's input."""
    build = GraphBuilder()
    inner, outer = build.subgraph("i"), build.subgraph("o")
    inner.net_output(inner.op("Foo", inner.data("i/d"), name="i/s", attrs=STORE, reuse_input=0))
    d = outer.data("o/d")
    outer.net_output(outer.op("PartitionedCall", d, name="o/call", subgraphs={"f": inner}))
    build.op("PartitionedCall", build.data("x"), name="call", subgraphs={"f": outer})
    assert WRITE == kind_of(build.graph, "call")


def test_an_inner_input_without_a_valid_index_makes_kinds_unknown() -> None:
    """Nobody knows which input it stands for."""
    build, _ = wrapped({})
    data = build.graph.node("g0/d")
    build.graph.subgraphs["g0"].set_attr(data, "_parent_node_index", -1)
    assert UNKNOWN == kind_of(build.graph, "call")


def test_an_onnx_loop_copies_what_it_carries_and_shares_what_it_captures() -> None:
    """Carried values are read once; a capture is used as its uses in the body say."""
    build = GraphBuilder(source="onnx")
    values = [build.op("Relu", build.data(n)) for n in "abcd"]
    body = build.subgraph("b")
    body.data("b/i")
    cond, slot, seen = body.data("b/c"), body.data("b/s"), body.data("b/k")
    stored = body.op("Foo", slot, name="b/store", attrs=STORE, reuse_input=0)
    body.op("Foo", seen, name="b/scribble", attrs=MUTABLE)
    body.net_output(cond, stored)
    build.op("Loop", *values, name="loop", subgraphs={"body": body}, attrs={"captured": 1})
    assert [READ, READ, READ, SCRIBBLE] == [kind_of(build.graph, "loop", at) for at in range(4)]


@pytest.mark.parametrize(
    ("op", "attrs", "reuse", "readers", "expected"),
    [
        ("Relu", {}, None, 1, OutputKind.SOFT_READ),
        ("Relu", {}, None, 2, OutputKind.READ_ONLY),
        ("Relu", {}, None, 0, OutputKind.SOFT_READ),
        ("Variable", {}, None, 2, OutputKind.WRITEABLE),
        ("RefData", {"index": 0}, None, 1, OutputKind.WRITEABLE),
        ("Data", {"index": 0}, None, 2, OutputKind.WRITEABLE),
        ("Const", {}, None, 1, OutputKind.READ_ONLY_CONST),
        ("FileConstant", {}, None, 1, OutputKind.READ_ONLY_CONST),
        ("Assign", {}, 0, 2, OutputKind.WRITEABLE),
        ("Reshape", {}, 0, 1, OutputKind.SOFT_READ),
    ],
)
def test_output_kinds_of_plain_nodes(
    op: str, attrs: Mapping[str, Any], reuse: int | None, readers: int, expected: OutputKind
) -> None:
    """What kind of memory it is decides, then how many readers share it."""
    build = GraphBuilder()
    inputs = [build.op("Relu", build.data("x"))] if op in ("Relu", "Assign", "Reshape") else []
    out = build.op(op, *inputs, name="n", attrs=attrs, reuse_input=reuse)
    for at in range(readers):
        build.op("Relu", out, name=f"r{at}")
    assert expected == EFFECTS.output_kind(out)


def test_two_edges_into_one_node_are_two_readers() -> None:
    """Readers are counted by edge."""
    build = GraphBuilder()
    x = build.op("Relu", build.data("x"))
    build.op("Add", x, x)
    assert OutputKind.READ_ONLY == EFFECTS.output_kind(x)


def test_an_inner_input_is_what_feeds_its_caller() -> None:
    """The outer producer's kind, by its own readers."""
    build, _ = wrapped({})
    inner = build.graph.node("g0/d").outputs[0]
    assert OutputKind.SOFT_READ == EFFECTS.output_kind(inner)
    build.op("Relu", build.graph.node("feed").outputs[0], name="second")
    assert OutputKind.READ_ONLY == EFFECTS.output_kind(inner)


def test_an_inner_input_of_an_unconnected_caller_is_unknown() -> None:
    """Nothing feeds it."""
    build, call = wrapped({})
    build.graph.disconnect(call.node.inputs[0])
    assert OutputKind.INVALID == EFFECTS.output_kind(build.graph.node("g0/d").outputs[0])


def test_a_call_s_output_is_what_its_subgraph_delivers() -> None:
    """A store's memory comes out writable; sharing the call's output makes a private one shared."""
    build, call = wrapped(STORE)
    assert OutputKind.WRITEABLE == EFFECTS.output_kind(call)
    build, call = wrapped({})
    assert OutputKind.SOFT_READ == EFFECTS.output_kind(call)
    build.op("Add", call, call)
    assert OutputKind.READ_ONLY == EFFECTS.output_kind(call)


def test_a_call_that_delivers_nothing_is_unknown() -> None:
    """Its subgraph has no result with that index."""
    build, call = wrapped({})
    out = build.graph.subgraphs["g0"].net_output
    assert out is not None
    desc = out.inputs[0].desc
    assert desc is not None
    build.graph.subgraphs["g0"].set_desc(out.inputs[0], desc.with_attr("_parent_node_index", 7))
    assert OutputKind.INVALID == EFFECTS.output_kind(call)


def test_what_conditionals_and_loops_deliver_is_their_own() -> None:
    """An If's output counts readers; a While's is private."""
    build, call = wrapped(STORE, {}, op="If")
    assert OutputKind.SOFT_READ == EFFECTS.output_kind(call)
    build.op("Add", call, call)
    assert OutputKind.READ_ONLY == EFFECTS.output_kind(call)
    build, call = wrapped({}, {}, op="While")
    build.op("Add", call, call)
    assert OutputKind.SOFT_READ == EFFECTS.output_kind(call)


def recorded(build: GraphBuilder, graph: str) -> tuple[OutputKind, bool]:
    """What the first result of a subgraph records."""
    out = build.graph.subgraphs[graph].net_output
    assert out is not None
    found = EFFECTS.recorded(out.inputs[0])
    return found.kind, found.isolate


def test_a_branch_s_stored_result_is_isolated_where_readers_can_t_take_it() -> None:
    """A store behind an If makes GE copy the branch that returns memory updated in place."""
    build, call = wrapped({}, STORE, op="If")
    assert (OutputKind.WRITEABLE, False) == recorded(build, "g1")
    build.op("Foo", call, name="store", attrs=STORE, reuse_input=0)
    assert (OutputKind.SOFT_READ, True) == recorded(build, "g1")
    assert (OutputKind.SOFT_READ, False) == recorded(build, "g0")


@pytest.mark.parametrize("op", ["PartitionedCall", "StatefulPartitionedCall"])
def test_a_call_takes_everything(op: str) -> None:
    """Its result is the inner memory, whoever reads it."""
    build, call = wrapped(STORE, op=op)
    build.op("Foo", call, name="store", attrs=STORE, reuse_input=0)
    assert (OutputKind.WRITEABLE, False) == recorded(build, "g0")


def test_an_arm_that_shares_its_result_makes_the_others_be_isolated() -> None:
    """If one branch returns memory that others read, no branch may return writable memory."""
    build, _ = wrapped({}, STORE, op="If")
    build.graph.subgraphs["g0"].add_node(
        "Relu", "g0/second", [build.graph.node("g0/use").outputs[0]], [TensorDesc.make()]
    )
    assert (OutputKind.SOFT_READ, True) == recorded(build, "g1")


def test_a_shared_subgraph_s_input_has_the_strictest_feed_s_kind() -> None:
    """One caller gives a constant, the other a private value: it must be left alone."""
    build = GraphBuilder()
    sub = build.subgraph("g")
    inner = sub.data("g/d")
    sub.net_output(sub.op("Relu", inner, name="g/r"))
    private = build.op("Relu", build.data("x"))
    constant = build.op("Const", name="k")
    build.op("PartitionedCall", private, name="one", subgraphs={"f": sub})
    build.op("PartitionedCall", constant, name="other", subgraphs={"f": sub})
    assert OutputKind.READ_ONLY_CONST == EFFECTS.output_kind(inner)


def test_answers_are_about_the_graph_as_it_is() -> None:
    """An edit of marks or ends shows in the next answer."""
    build, _ = wrapped({})
    graph = build.graph
    assert READ == kind_of(graph, "call")
    sub = graph.subgraphs["g0"]
    sub.set_attr(graph.node("g0/use"), "_input_mutable", True)
    assert SCRIBBLE == kind_of(graph, "call")


def test_lasting_answers_are_about_the_marks_as_they_were() -> None:
    """Marks are read once; who reads what is still as it is."""
    build, call = wrapped({})
    lasting = Effects(OPS, lasting=True)
    use, graph = build.graph.node("g0/use"), build.graph.subgraphs["g0"]
    assert READ == lasting.input_kind(use.inputs[0])
    graph.set_attr(use, "_input_mutable", True)
    assert READ == lasting.input_kind(use.inputs[0])
    build.op("Add", call, call)
    assert OutputKind.READ_ONLY == lasting.output_kind(call)
