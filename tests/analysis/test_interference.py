"""Exact accesses of memories, and what would come of making two of them one."""

from __future__ import annotations

from ge_core.analysis import AliasClasses, Interference, Joined, crossings
from ge_core.ir import Graph, GraphBuilder
from ge_core.ops import OpRegistry, register_builtin_ops

OPS = OpRegistry()
register_builtin_ops(OPS)
STORE = {"reference": True}


def interference(graph: Graph) -> Interference:
    """The questions that a graph may be asked."""
    return Interference(graph, OPS, AliasClasses(graph, OPS))


def without(graph: Graph, name: str) -> Joined:
    """What would come of a copy's going."""
    copy = graph.node(name)
    return interference(graph).joined(copy.inputs[0], copy.outputs[0], [copy])


def pairs(answer: Joined) -> list[tuple[str, str]]:
    """Readers that would read something else, with the writer of what they would find."""
    return [
        (conflict.reader.node.name, "" if conflict.writer is None else conflict.writer.node.name)
        for conflict in answer.conflicts
    ]


def order(answer: Joined) -> list[tuple[str, str]]:
    """Who would have to come before whom."""
    found = crossings(answer.accesses)
    return [(one.access.node.name, other.access.node.name) for one, other in found]


def test_accesses_are_found_through_views_and_calls_in_order() -> None:
    """A view accesses nothing; a node inside a call accesses the caller's memory."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    inner = b.subgraph("g")
    inside = inner.op("Exp", inner.data("d"), name="inside")
    inner.net_output(inside)
    view = b.op("Reshape", act, name="view", reuse_input=0)
    called = b.op("PartitionedCall", view, name="call", subgraphs={"f": inner})
    late = b.op("Tanh", act, name="late")
    b.net_output(called, late)
    found = interference(b.graph).accesses(act)
    seen = [(t.access.node.name, t.access.reads, t.access.writes) for t in found]
    assert [("act", False, True), ("inside", True, False), ("late", True, False)] == seen


def test_readers_on_both_sides_do_not_mind() -> None:
    """Nobody writes, so nobody sees another value, and no order is needed."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    moved = b.op("TensorMove", act, name="mv")
    b.net_output(b.op("Exp", moved, name="behind"), b.op("Tanh", act, name="beside"))
    answer = without(b.graph, "mv")
    assert answer.is_free
    assert [] == [pair for pair in order(answer) if pair[0] != "Relu"]


def test_a_store_behind_views_spoils_what_is_read_later() -> None:
    """Behind a view the copy is overwritten before somebody reads the source."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    moved = b.op("TensorMove", act, name="mv")
    view = b.op("Reshape", moved, reuse_input=0)
    stored = b.op("ScatterUpdate", view, name="store", attrs=STORE, reuse_input=0)
    b.net_output(stored, b.op("Exp", act, name="late"))
    assert [("late", "store")] == pairs(without(b.graph, "mv"))


def test_readers_before_a_writer_are_put_in_order() -> None:
    """What is listed before a store must come before it, and a reader that it follows anyway."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    early = b.op("Exp", act, name="early")
    moved = b.op("TensorMove", act, name="mv")
    beside = b.op("Tanh", act, name="beside")
    stored = b.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0)
    b.net_output(stored, early, beside)
    answer = without(b.graph, "mv")
    assert answer.is_free
    assert [("early", "store"), ("beside", "store")] == order(answer)


def test_what_outlives_the_run_is_read_at_its_end() -> None:
    """A variable must end as it was, also where nobody reads it any more."""
    b = GraphBuilder()
    var = b.op("Variable", name="var")
    moved = b.op("TensorMove", var, name="mv")
    b.net_output(b.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0))
    assert [("var", "store")] == pairs(without(b.graph, "mv"))


def test_what_the_graph_updates_of_the_callers_is_read_at_the_end() -> None:
    """An input that is updated in place comes back so; one that is not may end as anything."""
    for updated in (False, True):
        b = GraphBuilder()
        given = b.data("x")
        moved = b.op("TensorMove", given, name="mv")
        if updated:
            b.op("ScatterUpdate", given, name="update", attrs=STORE, reuse_input=0)
        b.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0)
        found = pairs(without(b.graph, "mv"))
        assert ([("store", "update"), ("x", "store")] if updated else []) == found


def test_nobody_reads_a_lent_input_at_the_end() -> None:
    """What the graph stores into an input that its caller lends is lost; in others it is not."""
    for lent in (False, True):
        b = GraphBuilder()
        given = b.data("x")
        update = b.op("ScatterUpdate", given, name="update", attrs=STORE, reuse_input=0)
        moved = b.op("TensorMove", update, name="mv")
        b.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0)
        classes = AliasClasses(b.graph, OPS)
        asked = Interference(b.graph, OPS, classes, lent=[0] if lent else [1])
        copy = b.graph.node("mv")
        found = pairs(asked.joined(copy.inputs[0], copy.outputs[0], [copy]))
        assert ([] if lent else [("x", "store")]) == found


def test_a_store_of_what_is_there_already_is_idle() -> None:
    """Written back to where it came from, the value is as right as before."""
    b = GraphBuilder()
    var = b.op("Variable", name="var")
    moved = b.op("TensorMove", var, name="mv")
    updated = b.op("ScatterUpdate", moved, name="update", attrs=STORE, reuse_input=0)
    back = b.op("Assign", var, updated, name="back", reuse_input=0)
    b.net_output(b.op("Exp", back))
    answer = without(b.graph, "mv")
    assert answer.is_free
    assert ["back"] == [access.node.name for access in answer.idle]


def test_arms_exclude_each_other() -> None:
    """What one arm writes, the other never sees; what follows sees both."""
    for late in (False, True):
        b = GraphBuilder()
        cond = b.data("cond", (), "bool")
        act = b.op("Relu", b.data("x"), name="act")
        moved = b.op("TensorMove", act, name="mv")
        one, other = b.subgraph("then"), b.subgraph("else")
        one.data("skip", index=0)
        store = one.op("ScatterUpdate", one.data("d1", index=2), name="store", attrs=STORE)
        one.net_output(store)
        other.net_output(other.op("Exp", other.data("d2", index=1), name="reader"))
        made = b.op(
            "If",
            cond,
            act,
            moved,
            name="if",
            subgraphs={"then_branch": one, "else_branch": other},
        )
        b.graph.set_desc(store, store.desc.replace(reuse_input=0))
        b.net_output(made, *([b.op("Tanh", act, name="behind")] if late else []))
        assert ([("behind", "store")] if late else []) == pairs(without(b.graph, "mv"))


def test_the_next_turn_sees_what_the_last_one_wrote() -> None:
    """A loop's body reads the source before it overwrites the copy, and again in the next turn."""
    b = GraphBuilder(source="onnx")
    act = b.op("Relu", b.data("x"), name="act")
    moved = b.op("TensorMove", act, name="mv")
    body = b.subgraph("body")
    going = body.data("cond", (), "bool", index=1)
    seen, own = body.data("seen", index=2), body.data("own", index=3)
    body.op("Exp", seen, name="reader")
    body.op("ScatterUpdate", own, name="store", attrs=STORE, reuse_input=0)
    body.net_output(going)
    turns, start = b.op("Size", act), b.op("Less", act)
    node = b.node(
        "Loop",
        turns,
        start,
        act,
        moved,
        outputs=[],
        attrs={"captured": 2},
        subgraphs={"body": body},
    )
    b.net_output(b.op("Neg", b.data("y"), control=[node]))
    assert [("reader", "store")] == pairs(without(b.graph, "mv"))


def test_pieces_of_a_join_are_apart() -> None:
    """A copy into one piece has nothing to do with who writes the other."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x", (2, 8)), name="act")
    other = b.op("Exp", b.data("y", (2, 8)), name="other")
    moved = b.op("TensorMove", act, name="mv")
    stored = b.op("ScatterUpdate", other, name="store", attrs=STORE, reuse_input=0)
    marks = {
        "concat_dim": 0,
        "_no_task": True,
        "_no_padding_continuous_input": True,
        "_output_reuse_input": True,
    }
    joined = b.op("ConcatD", stored, moved, name="join", shape=(4, 8), attrs=marks)
    b.net_output(b.op("Neg", joined), b.op("Tanh", act, name="late"))
    assert without(b.graph, "mv").is_free


def test_a_node_does_not_overwrite_what_it_reads() -> None:
    """A node that updates the copy while it reads the source needs both."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    moved = b.op("TensorMove", act, name="mv")
    b.net_output(b.op("ScatterUpdate", moved, act, name="store", attrs=STORE, reuse_input=0))
    answer = without(b.graph, "mv")
    assert [("store", "store")] == pairs(answer)
    assert answer.conflicts[0].at_once


def test_a_question_costs_no_more_than_the_two_memories() -> None:
    """However large the rest of the graph is, and again little where it was asked before."""
    steps = []
    for size in (10, 1000):
        b = GraphBuilder()
        at = b.data("x")
        for _ in range(size):
            at = b.op("Relu", at)
        moved = b.op("TensorMove", at, name="mv")
        b.net_output(b.op("Exp", moved), b.op("Exp", at))
        asked = interference(b.graph)
        copy = b.graph.node("mv")
        asked.joined(copy.inputs[0], copy.outputs[0], [copy])
        steps.append(asked.steps)
    assert steps[0] == steps[1]
    assert steps[0] < 40


def test_a_subgraph_with_two_callers_may_have_two_memories() -> None:
    """What a store leaves in the one is not mended by what is stored in the other."""
    b = GraphBuilder()
    one, other = b.op("Relu", b.data("x"), name="one"), b.op("Exp", b.data("y"), name="other")
    inner = b.subgraph("g")
    inner.net_output(inner.op("Neg", inner.data("d", index=0), name="inside"))
    moved = b.op("TensorMove", one, name="mv")
    stored = b.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0)
    again = b.op("Assign", other, b.data("z"), name="again", reuse_input=0)
    late = b.op("Tanh", one, name="late")
    calls = [b.op("PartitionedCall", at, subgraphs={"f": inner}) for at in (again, one)]
    b.net_output(stored, late, *calls)
    assert ("late", "store") in pairs(without(b.graph, "mv"))


def test_a_copy_inside_a_subgraph_with_two_callers_is_of_one_run() -> None:
    """Its readers are in the same run, so that what other runs do is nothing to them."""
    b = GraphBuilder()
    inner = b.subgraph("g")
    made = inner.op("Relu", inner.data("d", index=0), name="made")
    moved = inner.op("TensorMove", made, name="mv")
    stored = inner.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0)
    inner.net_output(inner.op("Exp", stored))
    first = b.op("PartitionedCall", b.data("x"), name="c1", subgraphs={"f": inner})
    second = b.op("PartitionedCall", first, name="c2", subgraphs={"f": inner})
    b.net_output(second)
    assert without(b.graph, "mv").is_free


def called_twice(first: str, second: str) -> Graph:
    """A subgraph returns a copy of what each of two calls gives it; the first copy is updated."""
    b = GraphBuilder()
    values = {name: b.op("Relu", b.data(f"in_{name}"), name=name) for name in ("a", "b")}
    inner = b.subgraph("g")
    inner.net_output(inner.op("TensorMove", inner.data("d"), name="mv"))
    one = b.op("PartitionedCall", values[first], name="one", subgraphs={"f": inner})
    other = b.op("PartitionedCall", values[second], name="two", subgraphs={"f": inner})
    stored = b.op("Foo", one, name="store", attrs=STORE, reuse_input=0)
    b.net_output(stored, b.op("Exp", other, name="late", control=[stored]))
    return b.graph


def test_memories_of_two_calls_would_become_one_where_both_are_given_the_same() -> None:
    """Alias classes know one memory there; who made it tells that those are two."""
    answer = without(called_twice("a", "a"), "mv")
    assert ("late", "store") in pairs(answer)


def test_memories_of_two_calls_stay_two_where_they_are_given_different_ones() -> None:
    """The copy of the one is the one's memory then, that of the other the other's."""
    answer = without(called_twice("a", "b"), "mv")
    assert [] == pairs(answer)
