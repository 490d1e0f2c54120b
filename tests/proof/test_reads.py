"""Every op reads what it read in the original: straight-line graphs on one stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ge_core.ir import Graph, GraphBuilder, clone
from ge_core.ops import OpRegistry
from ge_core.proof import ProofResult, Rewrite, Violation
from ge_core.testing import disjoint_plan

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]


def chain(length: int, op: str = "Relu") -> Graph:
    """x -> r0 -> r1 -> ... -> output."""
    build = GraphBuilder()
    value = build.data("x")
    for at in range(length):
        value = build.op(op, value, name=f"r{at}")
    build.net_output(value)
    return build.graph


def test_a_chain_in_two_buffers_holds(found: Found) -> None:
    """Dead buffers may be taken by what comes later."""
    assert found(chain(5), {"r0:0": 64, "r1:0": 128, "r2:0": 64, "r3:0": 128, "r4:0": 64}) == []


def test_an_in_place_chain_holds(found: Found) -> None:
    """An element-wise op may write where it reads, when nobody reads its input afterwards."""
    assert found(chain(4), {f"r{at}:0": 64 for at in range(4)}) == []


def test_an_in_place_op_that_overtakes_a_reader_is_found(prove: Prove) -> None:
    """Writing in place destroys the value for a later reader, which is named with the writer."""
    build = GraphBuilder()
    first = build.op("Relu", build.data("x"), name="first")
    second = build.op("Relu", first, name="second")
    build.net_output(build.op("Add", first, second, name="late"))
    result = prove(build.graph, {"first:0": 64, "second:0": 64, "late:0": 128})
    assert [(v.check, v.node, v.input, v.range, v.written_by) for v in result.violations] == [
        ("reads", "late", 0, ("HBM", 64, 128), "second")
    ]


def test_a_violation_names_only_the_wrong_bytes(prove: Prove) -> None:
    """Of a partial overlap the bytes that are wrong are reported, no others."""
    build = GraphBuilder()
    x = build.data("x")
    wide = build.op("Relu", x, name="wide")
    build.op("Relu", x, name="dead", shape=(4,))
    build.net_output(build.op("Relu", wide, name="late"))
    result = prove(build.graph, {"wide:0": 64, "dead:0": 80, "late:0": 192})
    assert [violation.range for violation in result.violations] == [("HBM", 80, 96)]
    assert result.violations[0].expected == "wide:0[16:32]"
    assert result.violations[0].found == "dead:0[0:16]"


def test_a_dead_write_that_overlaps_is_found(found: Found) -> None:
    """An output that nobody reads is written all the same."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value")
    build.op("Mul", x, name="dead")
    build.net_output(value)
    assert found(build.graph, {"value:0": 64, "dead:0": 64}) == [("reads", "NetOutput")]


def test_a_graph_output_must_last_to_the_end(found: Found) -> None:
    """An output's bytes are taken by nobody, however late."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value")
    other = build.op("Mul", x, x, name="other")
    build.net_output(value, build.op("Relu", other, name="last"))
    places = {"value:0": 64, "other:0": 64, "last:0": 128}
    assert found(build.graph, places) == [("reads", "NetOutput")]


def test_scratch_over_a_live_value_is_found(ops: OpRegistry, prove: Prove) -> None:
    """Scratch areas are writes like any other."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value")
    busy = build.op("Mul", x, x, name="busy", attrs={"workspace_bytes": [64]})
    build.net_output(build.op("Add", value, busy, name="sum"))
    plan = disjoint_plan(build.graph, ops, align=64)
    assert prove(build.graph, plan=plan).ok
    (area,) = plan.workspace
    place = plan.at((), "value", 0)
    assert place is not None
    plan.workspace[0] = type(area)((), "busy", 0, "HBM", place.offset, 64)
    result = prove(build.graph, plan=plan)
    assert [(v.check, v.node, v.input) for v in result.violations] == [("reads", "sum", 0)]


def test_a_plan_over_another_variable_is_found(found: Found) -> None:
    """A variable must hold at the end what it held in the original."""
    build = GraphBuilder()
    variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
    build.op("Relu", variable, name="first")
    build.net_output(build.op("Relu", build.data("x"), name="second"))
    assert found(build.graph, {"second:0": ("VAR", 0)}) == [("reads", "v at the end")]


def test_an_update_reaches_exactly_its_readers(found: Found) -> None:
    """A copy in front of an in-place update keeps the old value; without it the reader is wrong."""
    build = GraphBuilder()
    variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
    kept = build.op("TensorMove", variable, name="kept")
    update = build.node("Update", variable, build.data("x"), name="update", reuse_input=0)
    build.net_output(build.op("Add", kept, update.outputs[0], name="sum", control=[update]))
    original = clone(build.graph)
    assert found(build.graph, original=original) == []
    build.graph.bypass(build.graph.node("kept"))
    assert found(build.graph, original=original) == [("reads", "sum")]


def test_an_updated_memory_is_not_somewhere_else(found: Found) -> None:
    """An output that is the memory of an updated input lies there: elsewhere nothing is written."""
    build = GraphBuilder()
    value = build.op("Mul", build.data("x"), name="value")
    update = build.op("Update", value, build.data("y"), name="update", reuse_input=0)
    build.net_output(build.op("Relu", update, name="reader"))
    assert found(build.graph) == []
    assert found(build.graph, {"update:0": 4096}) == [("layout", "update:0"), ("reads", "reader")]


def test_a_copy_whose_source_is_never_written_may_go(found: Found) -> None:
    """Removing a copy that protects nothing changes no read."""
    build = GraphBuilder()
    value = build.op("Relu", build.data("x"), name="value")
    build.net_output(build.op("Relu", build.op("TensorMove", value, name="copy"), name="reader"))
    original = clone(build.graph)
    build.graph.bypass(build.graph.node("copy"))
    assert found(build.graph, original=original) == []


def test_a_scribbler_destroys_what_its_sibling_reads(found: Found) -> None:
    """A scribbler in front of a sibling reader is found; behind it, it is harmless."""

    def graph(first: str, second: str) -> Graph:
        build = GraphBuilder()
        value = build.op("Relu", build.data("x"), name="value")
        made: dict[str, Any] = {}
        for name in (first, second):
            attrs = {"_input_mutable": True} if name == "scribbler" else {}
            made[name] = build.op("Mul", value, name=name, attrs=attrs)
        build.net_output(made["scribbler"], made["reader"])
        return build.graph

    assert found(graph("scribbler", "reader")) == [("reads", "reader")]
    assert found(graph("reader", "scribbler")) == []


def test_equal_computations_are_equal_whatever_they_are_called(found: Found) -> None:
    """Two nodes that compute the same may become one; two that do not, may not."""
    for other, expected in (("Mul", []), ("Add", [("reads", "sum")])):
        build = GraphBuilder()
        x, y = build.data("x"), build.data("y")
        one = build.op("Mul", x, y, name="one")
        two = build.op(other, x, y, name="two")
        build.net_output(build.op("Add", one, two, name="sum"))
        original = clone(build.graph)
        graph = build.graph
        graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
        graph.remove(graph.node("two"))
        assert found(graph, original=original) == expected


def test_attributes_take_part_in_what_is_computed(found: Found) -> None:
    """Equal ops with other attributes are other values; marks are not attributes of that kind."""
    for attrs, expected in (({"alpha": 2}, [("reads", "sum")]), ({"_mark": 2}, [])):
        build = GraphBuilder()
        x = build.data("x")
        one = build.op("Mul", x, x, name="one", attrs={"alpha": 1})
        two = build.op("Mul", x, x, name="two", attrs={"alpha": 1, **attrs})
        build.net_output(build.op("Add", one, two, name="sum"))
        original = clone(build.graph)
        graph = build.graph
        graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
        graph.remove(graph.node("two"))
        assert found(graph, original=original) == expected


def test_random_numbers_are_never_equal(found: Found) -> None:
    """Two random ops are two values, with equal attributes too: neither may stand for the other."""
    build = GraphBuilder()
    shape = build.const("shape", bytes(8), (2,), "int32")
    one = build.op("RandomNormal", shape, name="one", shape=(16,), dtype="float32")
    two = build.op("RandomNormal", shape, name="two", shape=(16,), dtype="float32")
    build.net_output(build.op("Add", one, two, name="sum"))
    assert found(build.graph, {"one:0": 0, "two:0": 64, "sum:0": 128}) == []
    assert found(build.graph, {"one:0": 0, "two:0": 0, "sum:0": 128}) == [("reads", "sum")]
    original = clone(build.graph)
    graph = build.graph
    graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
    assert found(graph, original=original) == [("reads", "sum")]


def test_a_copy_of_a_random_op_is_another_value(found: Found) -> None:
    """A pass that computes a random value twice hands out two values for one."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("RandomNormal", x, name="value")
    build.net_output(build.op("Add", value, value, name="sum"))
    original = clone(build.graph)
    graph = build.graph
    twin = graph.add_node(
        "RandomNormal",
        "again",
        [x],
        [value.desc],
        origin=("value",),
        before=graph.node("sum"),
    )
    graph.rewire(graph.node("sum").inputs[1], twin.outputs[0])
    assert found(graph, original=original) == [("reads", "sum")]


def test_constants_are_compared_by_value(found: Found) -> None:
    """Two constants of equal bytes may become one; of different bytes, not."""
    for last, expected in ((0, []), (1, [("reads", "sum")])):
        build = GraphBuilder()
        one = build.const("one", bytes(8000), (2000,))
        two = build.const("two", bytes(7999) + bytes([last]), (2000,))
        build.net_output(build.op("Add", one, two, name="sum"))
        original = clone(build.graph)
        graph = build.graph
        graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
        graph.remove(graph.node("two"))
        assert found(graph, original=original) == expected


def test_equal_constants_may_lie_in_one_place(found: Found) -> None:
    """Constants that begin at one address are compared by their bytes."""
    for last, expected in ((0, []), (1, [("reads", "sum")])):
        build = GraphBuilder()
        one = build.const("one", bytes(8000), (2000,))
        two = build.const("two", bytes(7999) + bytes([last]), (2000,))
        build.net_output(build.op("Add", one, two, name="sum"))
        assert found(build.graph, {"two:0": ("CONST", 0)}) == expected


def test_one_fault_is_reported_once(prove: Prove) -> None:
    """What follows from a wrong read is not reported again by everything behind it."""
    graph = chain(6, "Mul")
    build = GraphBuilder(graph=graph)
    first = graph.node("r0").outputs[0]
    late = build.graph.add_node("Relu", "late", [first], [first.desc], before=graph.node("r3"))
    graph.add_control(graph.node("r2"), late)
    places = {f"r{at}:0": 64 * (at + 1) for at in range(6)} | {"r2:0": 64, "late:0": 640}
    result = prove(graph, places, original=clone(graph))
    assert [(v.check, v.node) for v in result.violations] == [("reads", "late")]


def test_a_tensor_without_a_place_has_memory_of_its_own(found: Found) -> None:
    """What the plan leaves out is apart from everything, views of it included."""
    build = GraphBuilder()
    value = build.op("Relu", build.data("x"), name="value")
    view = build.op("Reshape", value, name="view", shape=(16,), reuse_input=0)
    build.net_output(build.op("Mul", view, name="reader"))
    assert found(build.graph, unplanned=("value",)) == []


def test_tensors_of_unknown_size_are_compared_as_a_whole(found: Found) -> None:
    """Without a size nothing can be planned; the proof still tells one value from another."""
    build = GraphBuilder()
    x = build.data("x", (-1, 4))
    one = build.op("Mul", x, name="one", shape=(-1, 4))
    two = build.op("Relu", x, name="two", shape=(-1, 4))
    build.net_output(build.op("Add", one, two, name="sum", shape=(-1, 4)))
    original = clone(build.graph)
    assert found(build.graph, original=original) == []
    graph = build.graph
    graph.rewire(graph.node("sum").inputs[1], graph.node("one").outputs[0])
    assert found(graph, original=original) == [("reads", "sum")]


def test_an_inserted_copy_must_hold_what_it_copies(found: Found) -> None:
    """A node that the original lacks is compared with the compiled graph's own meaning."""
    build = GraphBuilder()
    x = build.data("x")
    value = build.op("Relu", x, name="value")
    reader = build.node("Mul", value, name="reader")
    build.net_output(reader.outputs[0])
    original = clone(build.graph)
    graph = build.graph
    copy = graph.add_node("Identity", "extra", [value], [value.desc], origin=(), before=reader)
    graph.rewire(reader.inputs[0], copy.outputs[0])
    assert found(graph, original=original) == []
    dead = graph.add_node("Mul", "dead", [x], [value.desc], origin=(), before=copy)
    places = {"value:0": 64, "dead:0": 64, "extra:0": 128, "reader:0": 192}
    assert dead.name == "dead"
    assert found(graph, places, original=original) == [("reads", "extra")]


def test_a_read_before_the_write_is_found(found: Found) -> None:
    """A tensor that no step has written holds what was there before the run."""
    build = GraphBuilder()
    x = build.data("x")
    kept = build.op("Relu", x, name="kept", attrs={"_no_task": True})
    build.net_output(build.op("Mul", kept, name="reader"))
    assert found(build.graph) == [("reads", "reader")]


def test_the_rewrite_that_touched_a_node_last_is_named(prove: Prove) -> None:
    """A violation carries the last pass in the log that touched reader or writer."""
    build = GraphBuilder()
    first = build.op("Relu", build.data("x"), name="first")
    second = build.op("Relu", first, name="second")
    build.net_output(build.op("Add", first, second, name="late"))
    log = [Rewrite("A", ["late"]), Rewrite("B", ["second"]), Rewrite("C", ["x"])]
    places = {"first:0": 64, "second:0": 64, "late:0": 128}
    result = prove(build.graph, places, rewrites=log)
    assert [violation.since_pass for violation in result.violations] == ["B"]


def test_a_violation_reads_as_a_sentence_and_as_a_record() -> None:
    """Both forms name check, node, bytes, what was expected, what was found and by whom."""
    violation = Violation("reads", "a/b", 1, ("HBM", 0, 8), "x:0[0:8]", "y:0[0:8]", "y", "P")
    assert str(violation) == (
        "reads: a/b@1 [HBM 0..8]: expected x:0[0:8], found y:0[0:8], written by y, since pass P"
    )
    assert violation.to_json() == {
        "check": "reads",
        "node": "a/b",
        "input": 1,
        "range": ["HBM", 0, 8],
        "expected": "x:0[0:8]",
        "found": "y:0[0:8]",
        "written_by": "y",
        "since_pass": "P",
        "differs": None,
        "from_pass": None,
        "up_to_pass": None,
    }
