"""Whose memory a tensor is, and everything that touches it, through views, calls and loops."""

from __future__ import annotations

from ge_concat_notask.marks import CONCAT_CLAIM, mark_join, mark_split
from ge_concat_notask.memory import VIEW_LIMIT, Memory
from ge_core.api import (
    Graph,
    GraphBuilder,
    InputAnchor,
    OpRegistry,
    OutputAnchor,
    TensorDesc,
    register_builtin_ops,
)

BYTES = TensorDesc.make("int8", (16,))


def memory(*, through_joins: bool = True) -> Memory:
    """A fresh memory with GE's own ops."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    return Memory(ops, through_joins=through_joins)


def names(anchors: list[InputAnchor]) -> list[str]:
    """The inputs, as `node@index`."""
    return sorted(map(repr, anchors))


def test_views_lead_to_the_owner() -> None:
    """A Reshape of a Reshape is its source's memory; an operator's result is its own."""
    b = GraphBuilder()
    owner = b.op("Relu", b.data("x", desc=BYTES), name="p")
    view = b.op("Reshape", b.op("Reshape", owner, name="v1"), name="v2")
    chain = memory().chain(view)
    assert [repr(output) for output in chain.outputs] == ["v2:0", "v1:0", "p:0"]
    assert (chain.complete, chain.whole, chain.delta) == (True, True, 0)


def test_a_view_that_is_smaller_than_its_source_is_noticed() -> None:
    """Such a tensor is not the whole of its owner's bytes."""
    b = GraphBuilder()
    owner = b.op("Relu", b.data("x", desc=BYTES), name="p")
    half = TensorDesc.make("int8", (8,), reuse_input=0)
    assert not memory().chain(b.op("Window", owner, name="w", outputs=[half])).whole


def test_the_search_gives_up_as_ge_does() -> None:
    """More than a hundred views are not looked through."""
    b = GraphBuilder()
    view = b.op("Relu", b.data("x", desc=BYTES), name="p")
    for at in range(VIEW_LIMIT):
        view = b.op("Reshape", view, name=f"v{at}")
    assert not memory().chain(view).complete
    before = view.node.inputs[0].source
    assert before is not None and memory().chain(before).complete


def test_marked_nodes_say_how_far_behind_the_owner_a_tensor_starts() -> None:
    """A part of a split begins behind the parts before it; a join begins with operand 0."""
    b = GraphBuilder()
    left, right = (TensorDesc.make("int8", (size,)) for size in (6, 10))
    whole = b.op("Relu", b.data("x", desc=BYTES), name="p")
    cut = b.node("SplitD", whole, name="cut", outputs=[left, right])
    mark_split(b.graph, cut)
    join = b.node("ConcatD", cut.outputs[1], cut.outputs[0], name="join", outputs=[BYTES])
    mark_join(b.graph, join, CONCAT_CLAIM)
    found = memory().chain(join.outputs[0])
    assert (repr(found.root), found.delta) == ("p:0", 6)
    stopped = memory(through_joins=False).chain(join.outputs[0])
    assert (repr(stopped.root), stopped.delta) == ("join:0", 0)


def test_readers_writers_and_results() -> None:
    """Views read nothing; what reads only the shape reads nothing; writers read as well."""
    b = GraphBuilder()
    p = b.op("Relu", b.data("x", desc=BYTES), name="p")
    view = b.op("Reshape", p, name="view")
    b.op("Relu", view, name="read")
    b.op("Shape", view, name="shape")
    b.op(
        "ScatterUpdate",
        p,
        name="store",
        outputs=[BYTES.replace(reuse_input=0)],
        attrs={"reference": True},
    )
    b.op("HcomSend", p, name="eat", attrs={"_input_mutable": True})
    b.net_output(view)
    uses = memory().uses(p)
    assert names(uses.readers) == ["eat@0", "read@0", "store@0"]
    assert names(uses.writers) == ["eat@0", "store@0"]
    assert names(uses.results) == ["NetOutput@0"]


def called(op: str, label: str, index: int) -> tuple[Graph, OutputAnchor]:
    """A tensor handed to a subgraph, which reads it and hands it out; the caller reads that."""
    b = GraphBuilder()
    p = b.op("Relu", b.data("x", desc=BYTES), name="p")
    inner = b.subgraph("g")
    seen = inner.data("g/x", index=index, desc=BYTES)
    inner.op("Relu", seen, name="g/read")
    inner.net_output(seen, name="g/out")
    inputs = [b.data(f"c{at}", desc=BYTES) for at in range(index)]
    out = b.op(op, *inputs, p, name="call", outputs=[BYTES], subgraphs={label: inner})
    b.op("Relu", out, name="behind")
    return b.graph, p


def test_calls_are_entered_and_left() -> None:
    """Bytes handed to a subgraph are read inside, and behind the call where it hands them out."""
    for op, label, index in (("PartitionedCall", "f", 0), ("If", "then_branch", 1)):
        _, p = called(op, label, index)
        uses = memory().uses(p)
        assert names(uses.readers) == ["behind@0", f"call@{index}", "g/read@0"]
        assert names(uses.results) == ["g/out@0"]


def test_results_of_a_loop_body_count_from_behind_its_condition() -> None:
    """Result 0 of an ONNX loop's body is the condition, so result 1 is output 0."""
    b = GraphBuilder(source="onnx")
    flag = TensorDesc.make("bool", ())
    body = b.subgraph("body")
    body.data("body/i", index=0, desc=TensorDesc.make("int64", ()))
    go = body.data("body/go", index=1, desc=flag)
    state = body.op("Relu", body.data("body/s", index=2, desc=BYTES), name="body/next")
    body.net_output(go, state, name="body/out")
    start = b.data("s", desc=BYTES)
    loop = b.op("Loop", None, None, start, name="loop", outputs=[BYTES], subgraphs={"body": body})
    b.op("Relu", loop, name="behind")
    assert names(memory().uses(state).readers) == ["behind@0"]


def test_outer_sources_lie_behind_calls() -> None:
    """The owners of an inner input are what every caller passes."""
    b = GraphBuilder()
    inner = b.subgraph("g")
    seen = inner.data("g/x", desc=BYTES)
    inner.net_output(inner.op("Relu", seen, name="g/r"))
    for at in range(2):
        p = b.op("Relu", b.data(f"x{at}", desc=BYTES), name=f"p{at}")
        b.op("PartitionedCall", p, name=f"call{at}", subgraphs={"f": inner})
    assert sorted(map(repr, memory().outer_sources(seen))) == ["g/x:0", "p0:0", "p1:0"]
