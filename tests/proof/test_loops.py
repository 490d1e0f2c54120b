"""Loops: slots, memory from outside, bytes that an earlier turn may have left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ge_core.ir import Graph, GraphBuilder, TensorDesc, clone
from ge_core.ops import OpRegistry, OpTraits
from ge_core.proof import ProofResult

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]

BASE = 1 << 12
BOOL = TensorDesc.make("bool", ())
FLOAT = TensorDesc.make("float32", (1, 16))


def looping(carried: int = 1, op: str = "Mul", *, swap: bool = False) -> GraphBuilder:
    """A While over values that its body computes, or swaps; results go to `end`."""
    build = GraphBuilder()
    starts = [build.op("Relu", build.data(f"x{at}"), name=f"start{at}") for at in range(carried)]
    cond, body = build.subgraph("cond"), build.subgraph("body")
    seen = [cond.data(f"cond/x{at}", index=at) for at in range(carried)]
    test = cond.op("Less", *seen, name="cond/test", outputs=[BOOL])
    cond.net_output(test)
    inner = [body.data(f"body/x{at}", index=at) for at in range(carried)]
    results = [body.op(op, value, name=f"body/y{at}") for at, value in enumerate(inner)]
    body.net_output(*(reversed(inner) if swap else results))
    loop = build.node(
        "While",
        *starts,
        name="loop",
        outputs=[FLOAT] * carried,
        subgraphs={"cond": cond, "body": body},
    )
    ends = [build.op("Mul", out, name=f"end{out.index}") for out in loop.outputs]
    build.net_output(*ends)
    return build


# ---- While --------------------------------------------------------------------------------------


def test_a_loop_holds_in_place_and_with_slots_of_its_own(found: Found) -> None:
    """Slots may be where the initial values lie, or elsewhere; results in the slot or copied."""
    for in_place in (True, False):
        graph = looping().graph
        assert found(graph, while_in_place=in_place) == []
        places = {"start0:0": BASE, "loop:0": BASE, "loop/body/y0:0": 2 * BASE}
        assert found(graph, places) == []
    relu = looping(op="Relu").graph
    assert found(relu, {"start0:0": BASE, "loop/body/y0:0": BASE}) == []


def test_two_slots_in_one_place_are_found(found: Found) -> None:
    """Two carried values can't share a slot."""
    graph = looping(2).graph
    places = {"start0:0": BASE, "start1:0": 2 * BASE, "loop:0": 3 * BASE, "loop:1": 3 * BASE}
    assert found(graph, places, while_in_place=False)[0] == (
        "reads",
        "loop's slot 0 before its first turn",
    )


def test_swapped_values_are_copied_at_once(found: Found) -> None:
    """At the end of a turn all results are read before any slot is written."""
    assert found(looping(2, swap=True).graph) == []


def test_a_body_that_overwrites_a_value_it_still_needs_is_found(found: Found) -> None:
    """A result written into another slot before that is read is wrong in the first turn."""
    build = looping(2)
    assert found(build.graph, {"start1:0": BASE, "loop/body/y0:0": BASE}) == [
        ("reads", "loop/body/y1")
    ]


def test_a_condition_that_destroys_a_slot_is_found(found: Found) -> None:
    """The value behind the loop is what the condition has left."""
    graph = looping().graph
    assert found(graph, {"start0:0": BASE, "loop/cond/test:0": BASE})[0][0] in ("one_op", "reads")


def test_a_body_that_overwrites_a_captured_value_is_found(found: Found) -> None:
    """What a body reads from outside must still be there in the second turn."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    outside = build.op("Mul", build.data("y"), name="outside")
    cond, body = build.subgraph("cond"), build.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("cond/x", index=0), name="cond/test", outputs=[BOOL]))
    cond.data("cond/y", index=1)
    value, weight = body.data("body/x", index=0), body.data("body/w", index=1)
    product = body.op("MatMul", value, weight, name="body/product")
    body.net_output(body.op("Mul", product, name="body/y"), weight)
    loop = build.node(
        "While",
        start,
        outside,
        name="loop",
        outputs=[FLOAT, FLOAT],
        subgraphs={"cond": cond, "body": body},
    )
    build.net_output(build.op("Mul", loop.outputs[0], name="end"))
    graph = build.graph
    assert found(graph) == []
    places = {"outside:0": BASE, "loop/body/y:0": BASE}
    assert ("reads", "loop/body/NetOutput") in found(graph, places)


def test_a_value_that_passes_a_loop_unchanged_is_that_value(found: Found) -> None:
    """Readers behind a loop may take a carried value that no turn changes from in front of it."""
    build = looping(2)
    graph = build.graph
    out = graph.node("body/NetOutput")
    graph.rewire(out.inputs[1], graph.node("body/x1").outputs[0])
    original = clone(graph)
    for read, expected in (("start1", []), ("start0", [("reads", "end1")])):
        compiled = clone(original)
        start = compiled.node(read).outputs[0]
        node = compiled.add_node(
            "TensorMove", "kept", [start], [start.desc], origin=(), before=compiled.node("loop")
        )
        compiled.rewire(compiled.node("end1").inputs[0], node.outputs[0])
        assert found(compiled, original=original) == expected


def test_bytes_that_a_turn_has_used_are_unknown_behind_the_loop(found: Found) -> None:
    """A value that lies where a body works is gone, however often the loop turns."""
    build = looping()
    graph = build.graph
    kept = graph.node("start0").outputs[0]
    build.op("MatMul", kept, kept, name="late")
    other = graph.add_node("MatMul", "early", [kept], [FLOAT], origin=(), before=graph.node("loop"))
    reader = build.node("MatMul", other.outputs[0], name="late_reader")
    assert reader.name == "late_reader"
    places = {"early:0": BASE, "loop/body/y0:0": BASE}
    assert found(graph, places)[-1][0] == "reads"


def test_a_loop_body_with_another_result_is_found(found: Found) -> None:
    """Bodies that compute something else make another loop."""
    assert found(looping(op="MatMul").graph, original=looping(op="Mul").graph)[0] == (
        "reads",
        "loop/body/NetOutput",
    )


def test_random_numbers_of_a_turn_are_not_those_of_the_last(found: Found) -> None:
    """A value left in memory by an earlier turn is never taken for this turn's."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    cond, body = build.subgraph("cond"), build.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("cond/x", index=0), name="cond/test", outputs=[BOOL]))
    value = body.data("body/x", index=0)
    early = body.op("Add", value, value, name="body/early")
    noise = body.op("RandomNormal", early, name="body/noise")
    body.net_output(body.op("Add", noise, early, name="body/y"))
    loop = build.op("While", start, name="loop", subgraphs={"cond": cond, "body": body})
    build.net_output(loop)
    original = clone(build.graph)
    assert found(build.graph, original=original) == []
    graph = build.graph
    # The noise is made behind its reader: in the second turn there is something to read.
    reader = graph.node("body/y")
    graph.rewire(reader.inputs[0], graph.node("body/early").outputs[0])
    order = [n for n in graph.subgraphs["body"].nodes if n.name not in ("body/noise", "body/y")]
    tail = [graph.node("body/y"), graph.node("body/noise")]
    graph.subgraphs["body"].reorder([*order[:-1], *tail, order[-1]])
    places = {"loop/body/early:0": BASE, "loop/body/noise:0": 2 * BASE}
    assert ("reads", "loop/body/y") in found(graph, places, original=original)


def updating(*, copied: bool) -> Graph:
    """A body that adds to a variable in each turn and reads what it held."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    variable = build.node("Variable", name="v", shape=(1, 16)).outputs[0]
    call = build.subgraph("body")
    cond = build.subgraph("cond")
    cond.net_output(cond.op("Less", cond.data("cond/x", index=0), name="cond/test", outputs=[BOOL]))
    inner = call.node("Variable", name="w", shape=(1, 16)).outputs[0]
    value = call.data("body/x", index=0)
    old = call.op("TensorMove", inner, name="body/old") if copied else inner
    update = call.node("Update", inner, value, name="body/update", reuse_input=0)
    call.net_output(call.op("Add", old, value, name="body/y", control=[update]))
    loop = build.op("While", start, name="loop", subgraphs={"cond": cond, "body": call})
    build.net_output(build.op("Add", loop, variable, name="end"))
    return build.graph


def test_memory_that_a_loop_updates_is_one_more_carried_value(found: Found) -> None:
    """A variable updated in a body changes from turn to turn; a copy of the old value matters."""
    assert found(updating(copied=True)) == []
    graph = updating(copied=True)
    graph.subgraphs["body"].bypass(graph.node("body/old"))
    assert found(graph, original=updating(copied=True)) == [("reads", "loop/body/y")]


def stored_back() -> Graph:
    """A body that updates a copy of a variable and stores the result in the variable."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    cond, body = build.subgraph("cond"), build.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("cond/x", index=0), name="cond/test", outputs=[BOOL]))
    variable = body.op("Variable", name="v", shape=(1, 16))
    value = body.data("body/x", index=0)
    copy = body.op("TensorMove", variable, name="body/copy")
    update = body.op("Update", copy, value, name="body/update", reuse_input=0)
    body.op("Assign", variable, update, name="body/store", reuse_input=0)
    body.net_output(body.op("Mul", update, name="body/y"))
    loop = build.op("While", start, name="loop", subgraphs={"cond": cond, "body": body})
    build.net_output(build.op("Mul", loop, name="end"))
    return build.graph


def test_another_node_may_write_the_variable_that_a_body_updates(found: Found) -> None:
    """The variable is the same, whoever writes it; what it holds behind a turn still counts."""
    graph = stored_back()
    graph.subgraphs["body"].bypass(graph.node("body/copy"))
    graph.subgraphs["body"].bypass(graph.node("body/store"), input=1)
    assert found(graph, original=stored_back()) == []
    kept = stored_back()
    kept.subgraphs["body"].bypass(kept.node("body/store"), input=1)
    assert found(kept, original=stored_back()) != []


def written_again(*, added: bool = False) -> Graph:
    """A body that stores in a variable what that holds already, or more, and reads it."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    cond, body = build.subgraph("cond"), build.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("cond/x", index=0), name="cond/test", outputs=[BOOL]))
    variable = body.op("Variable", name="v", shape=(1, 16))
    value = body.data("body/x", index=0)
    copy = body.op("TensorMove", variable, name="body/copy")
    stored = body.op("Mul", copy, name="body/more") if added else copy
    store = body.node("Assign", variable, stored, name="body/store", reuse_input=0)
    body.net_output(body.op("Add", variable, value, name="body/y", control=[store]))
    loop = build.op("While", start, name="loop", subgraphs={"cond": cond, "body": body})
    build.net_output(build.op("Mul", loop, name="end"))
    return build.graph


def test_memory_that_a_turn_leaves_as_it_was_is_what_it_was(found: Found) -> None:
    """Stored or not, what a variable holds already changes nothing, in whatever turn."""
    for added in (False, True):
        graph = written_again(added=added)
        assert found(graph) == []
        graph.subgraphs["body"].remove(graph.node("body/store"))
        assert (found(graph, original=written_again(added=added)) == []) != added


def test_an_outer_value_updated_in_nested_loops_is_followed(found: Found) -> None:
    """An update two loops deep is seen by both, and behind both."""
    build = GraphBuilder()
    start = build.op("Relu", build.data("x"), name="start")
    inner_cond, inner_body = build.subgraph("c1"), build.subgraph("b1")
    outer_cond, outer_body = build.subgraph("c0"), build.subgraph("b0")
    for cond, name in ((inner_cond, "c1"), (outer_cond, "c0")):
        cond.net_output(
            cond.op("Less", cond.data(f"{name}/x", index=0), name=f"{name}/t", outputs=[BOOL])
        )
    variable = inner_body.node("Variable", name="v", shape=(1, 16)).outputs[0]
    value = inner_body.data("b1/x", index=0)
    update = inner_body.node("Update", variable, value, name="update", reuse_input=0)
    inner_body.net_output(inner_body.op("Add", update.outputs[0], value, name="b1/y"))
    inner = outer_body.op(
        "While",
        outer_body.op("Relu", outer_body.data("b0/x", index=0), name="b0/copy"),
        name="inner",
        subgraphs={"cond": inner_cond, "body": inner_body},
    )
    outer_body.net_output(inner)
    loop = build.op(
        "While", start, name="outer", subgraphs={"cond": outer_cond, "body": outer_body}
    )
    build.net_output(loop)
    assert found(build.graph) == []


# ---- ONNX Loop and Scan -------------------------------------------------------------------------


def onnx_loop(*, scan_output: bool = True) -> GraphBuilder:
    """A Loop with one carried value, one captured value and one collected output."""
    build = GraphBuilder(source="onnx")
    trips, go = build.data("trips", (), "int64"), build.data("go", (), "bool")
    start = build.op("Relu", build.data("x"), name="start")
    weight = build.op("Mul", build.data("w"), name="weight")
    body = build.subgraph("body")
    body.data("turn", (), "int64", index=0)
    seen = body.data("go_in", (), "bool", index=1)
    value = body.data("carried", index=2)
    captured = body.data("captured", index=3)
    product = body.op("MatMul", value, captured, name="product")
    results = [seen, body.op("Relu", product, name="next")]
    if scan_output:
        results.append(body.op("Mul", product, name="element"))
    body.net_output(*results)
    outputs = [FLOAT, FLOAT.replace(shape=(4, 1, 16))] if scan_output else [FLOAT]
    loop = build.node(
        "Loop",
        trips,
        go,
        start,
        weight,
        name="loop",
        outputs=outputs,
        attrs={"captured": 1},
        subgraphs={"body": body},
    )
    build.net_output(*(build.op("Relu", out, name=f"end{out.index}") for out in loop.outputs))
    return build


def test_an_onnx_loop_holds(found: Found) -> None:
    """Slots, captured values, the values made per turn and collected outputs in their places."""
    assert found(onnx_loop().graph) == []
    assert found(onnx_loop().graph, {"start:0": BASE, "loop:0": BASE}) == []


def test_a_captured_value_that_the_body_overwrites_is_found(found: Found) -> None:
    """A captured value is read in every turn."""
    graph = onnx_loop().graph
    assert ("reads", "loop/product") in found(graph, {"weight:0": BASE, "loop/next:0": BASE})


def test_a_collected_output_must_survive_the_turns(found: Found) -> None:
    """What has been collected so far may not be a body's working memory."""
    graph = onnx_loop().graph
    places = {"loop:1": BASE, "loop/product:0": BASE}
    assert ("reads", "loop:1 while it is collected") in found(graph, places)


def test_values_made_per_turn_have_bytes_of_their_own(found: Found) -> None:
    """The turn's number written over the carried value destroys it."""
    graph = onnx_loop().graph
    assert ("reads", "loop/product") in found(graph, {"loop:0": BASE, "loop/turn:0": BASE})


def test_a_body_with_another_element_collects_something_else(found: Found) -> None:
    """The pieces of a collected output are results like any other."""
    graph = onnx_loop().graph
    original = clone(graph)
    out = graph.node("body/NetOutput")
    graph.rewire(out.inputs[2], graph.node("product").outputs[0])
    assert ("reads", "loop/body/NetOutput") in found(graph, original=original)


def scanning() -> GraphBuilder:
    """A Scan with one state, one scanned input and one collected output."""
    build = GraphBuilder(source="onnx")
    state = build.op("Relu", build.data("s"), name="state")
    rows = build.op("Mul", build.data("x", (4, 1, 16)), name="rows")
    body = build.subgraph("body")
    held, row = body.data("held", index=0), body.data("row", index=1)
    total = body.op("Add", held, row, name="total")
    body.net_output(total, body.op("Mul", total, name="element"))
    scan = build.node(
        "Scan",
        state,
        rows,
        name="scan",
        outputs=[FLOAT, FLOAT.replace(shape=(4, 1, 16))],
        attrs={"onnx.num_scan_inputs": 1},
        subgraphs={"body": body},
    )
    build.net_output(*(build.op("Relu", out, name=f"end{out.index}") for out in scan.outputs))
    return build


def test_a_scan_holds(found: Found) -> None:
    """States in slots, one element per turn, outputs collected."""
    assert found(scanning().graph) == []


def test_a_scanned_input_must_survive_the_turns(found: Found) -> None:
    """Each turn reads the next element of the scanned input."""
    graph = scanning().graph
    assert ("reads", "scan") in found(graph, {"rows:0": BASE, "scan/element:0": BASE})


def test_loops_without_sizes_are_proved_too(found: Found) -> None:
    """A collected output of unknown length has memory of its own."""
    build = onnx_loop()
    graph = build.graph
    loop, end = graph.node("loop"), graph.node("end1")
    unknown = FLOAT.replace(shape=(-1, 1, 16))
    graph.set_desc(loop.outputs[1], unknown)
    graph.set_desc(end.outputs[0], unknown)
    assert found(graph) == []


def test_a_captured_value_in_an_onnx_branch(found: Found, ops: OpRegistry) -> None:
    """Arms read captured values where they lie, also of the enclosing loop's body."""
    build = GraphBuilder(source="onnx")
    test = build.data("test", (), "bool")
    value = build.op("Relu", build.data("x"), name="value")
    arms: dict[str, Any] = {}
    for label, op in (("then_branch", "Mul"), ("else_branch", "Relu")):
        arm = build.subgraph(label)
        arm.net_output(arm.op(op, arm.data(f"{label}/v", index=1), name=f"{label}/y"))
        arms[label] = arm
    branch = build.node(
        "If",
        test,
        value,
        name="branch",
        outputs=[FLOAT],
        attrs={"captured": 1},
        subgraphs=arms,
    )
    build.net_output(branch.outputs[0])
    assert ops.of("If", "onnx") == OpTraits("If", kind="if")
    assert found(build.graph) == []
