"""`MemLayoutConflictOptimizer`: what it leaves, what it says, and what GE's own pass gets wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import (
    AliasClasses,
    Graph,
    GraphBuilder,
    InputAnchor,
    LayoutChecks,
    OutputAnchor,
    Scheme,
    TensorDesc,
    clone,
    structural_hash,
)
from ge_core.passes.remarks import Remarks
from ge_core.session.kernel import default_kernel
from ge_core.testing import GraphKnobs, pass_conformance

from .layout_graphs import DESC, JOIN, PACKED, PACKED_OUT, PASS, SPLIT, demanding_graph, optimized

COPIES = ("Identity", "MemcpyAsync", "MemcpyAddrAsync")
WILD = ("results", "collectives", "calls", "copies", "stores", "sources")

test_conformance = pass_conformance(PASS, ops=(), knobs=GraphKnobs(nodes=16, rare=WILD))
test_conformance_on_streams = pass_conformance(
    PASS, ops=(), knobs=GraphKnobs(nodes=14, streams=2, rare=WILD[:2]), samples=8
)


def test_whoever_sees_an_update_sees_it_behind_the_copy() -> None:
    """An output's copy is updated in its stead, so that other copies are made of that."""
    b = GraphBuilder()
    spread = b.node("Foo", act(b, "a"), name="spread", outputs=[DESC, DESC], attrs=PACKED_OUT)
    value = spread.outputs[0]
    stored = b.op("Assign", value, act(b, "v"), name="store", reuse_input=0)
    gather = b.op("Foo", value, value, name="gather", attrs=PACKED)
    b.graph.add_control(stored.node, gather.node)
    optimized(b.graph)
    sources = {str(port.source) for port in gather.node.inputs}
    (copy,) = (reader.node for reader in value.readers)
    assert "Identity" == copy.op
    assert str(value) not in sources


def left_over(graph: Graph, **options: str) -> list[str]:
    """Clashes that are not there because of a copy that stands where one would have to stand."""
    kernel = default_kernel()
    types = kernel.registries.anchor_types.of
    classes = AliasClasses(graph, kernel.ops, Scheme.SYMBOLS, types)
    checks = LayoutChecks(kernel.registries.checkers, graph, kernel.ops, options.get)
    found = []
    for root in classes.classes():
        for clash in checks.clashes(classes, root):
            at = clash.isolate
            if isinstance(at, InputAnchor) and at.source is not None:
                alone = at.source.node.op in COPIES and len(at.source.readers) == 1
            elif isinstance(at, OutputAnchor):
                alone = all(reader.node.op in COPIES for reader in at.readers)
            else:
                alone = True
            if not alone:
                found.append(f"{clash.first} {clash.second} {clash.code} at {at}")
    return found


@pytest.mark.parametrize("seed", range(60))
def test_a_second_run_changes_nothing(seed: int) -> None:
    """Copies that are there are recognised, whoever put them in."""
    graph = demanding_graph(seed)
    optimized(graph, featureBaseRefreshable="1")
    once = structural_hash(graph)
    counts = optimized(graph, featureBaseRefreshable="1")
    assert (once, 0) == (structural_hash(graph), counts["conflicts"])


@pytest.mark.parametrize("seed", range(60))
def test_no_clash_is_left(seed: int) -> None:
    """But where a copy stands between the two already."""
    graph = demanding_graph(seed)
    optimized(graph, featureBaseRefreshable="1")
    assert [] == left_over(graph, **{"ge.featureBaseRefreshable": "1"})


@pytest.mark.parametrize("seed", range(10))
def test_copies_are_clean_and_explained(seed: int) -> None:
    """Each has one remark, two anchors to blame, its bytes, GE's marks, and no mark of memory."""
    graph = demanding_graph(seed)
    remarks = Remarks()
    optimized(graph, remarks)
    made = [node for node in graph.nodes if node.origin == () and node.op == "Identity"]
    said = {remark.node for remark in remarks if str(remark.kind) == "missed"}
    assert {node.name for node in made} == {name for name in said if "_MemLayoutConflict_" in name}
    for node in made:
        (remark,) = remarks.of(node.name)
        assert ("missed", True, 64) == (str(remark.kind), len(remark.blame) > 1, remark.bytes)
        assert {"_cannot_be_deleted": True, "no_need_constant_folding": False} == dict(node.attrs)
        assert (None, {}) == (node.outputs[0].desc.reuse_input, dict(node.outputs[0].desc.attrs))


def test_a_group_that_reads_a_tensor_twice_gets_a_copy() -> None:
    """It can lie at one place of the group only."""
    b = GraphBuilder()
    a = act(b, "a")
    b.op("Foo", a, act(b, "c"), a, name="gather", attrs=PACKED)
    assert ["gather@2"] == isolated(b.graph)


# ---- where GE goes wrong (section 16 of its description) ----------------------------------------


def act(b: GraphBuilder, name: str) -> OutputAnchor:
    """A private value."""
    return b.op("Relu", b.data(f"in_{name}"), name=name)


def isolated(graph: Graph, **options: str) -> list[str]:
    """Inputs of other nodes that inserted copies feed."""
    optimized(graph, **options)
    return [
        str(reader)
        for node in graph.all_nodes()
        if node.op == "Identity" and node.origin == ()
        for output in node.outputs
        for reader in output.readers
        if reader.node.origin != ()
    ]


def test_a_third_join_is_compared_too() -> None:
    """GE judges the first two joins of a tensor only: two that agree hide a third."""
    b = GraphBuilder()
    a, c = act(b, "a"), act(b, "c")
    for name, operands in (("one", (a, c)), ("two", (a, c)), ("three", (c, a))):
        b.op("Exp", b.op("ConcatD", *operands, name=name, attrs=JOIN))
    assert ["three@1", "three@0"] == isolated(b.graph)


def test_ordinary_readers_behind_a_second_group_get_no_copy() -> None:
    """GE isolates every reader from the second packed one on."""
    b = GraphBuilder()
    a = act(b, "a")
    b.op("Foo", a, act(b, "c"), name="one", attrs=PACKED)
    b.op("Foo", a, act(b, "d"), name="two", attrs=PACKED)
    b.op("Exp", a, name="ordinary")
    assert ["two@0"] == isolated(b.graph)


def test_groups_behind_different_views_are_compared() -> None:
    """GE looks at the readers of one output at a time, and misses these."""
    b = GraphBuilder()
    a = act(b, "a")
    for name in ("one", "two"):
        seen = b.op("Reshape", a, name=f"view_{name}", reuse_input=0)
        b.op("Foo", seen, act(b, f"other_{name}"), name=name, attrs=PACKED)
    assert ["two@0"] == isolated(b.graph)


def test_an_optional_input_may_be_left_out() -> None:
    """GE wants every input of a packed producer connected, and gives up otherwise."""
    b = GraphBuilder()
    first = b.node("Foo", act(b, "a"), name="first", outputs=[DESC, DESC], attrs=PACKED_OUT)
    shared = DESC.replace(reuse_input=1)
    b.node("Foo", None, first.outputs[0], name="second", outputs=[shared, DESC], attrs=PACKED_OUT)
    assert ["second@1"] == isolated(b.graph)


@pytest.mark.parametrize(("variable", "copied"), [("w", "gather@0"), ("v", "store@1")])
def test_a_store_elsewhere_is_no_store_into_the_variable(variable: str, copied: str) -> None:
    """GE asks only whether a store feeds the constrained node, not what it stores into.

    Into the given memory itself: the copy stands in front of the packed op, so that the store goes
    on updating it. Into another one: the memory is copied like any other.
    """
    b = GraphBuilder()
    held = b.data("w")
    others = {"w": held, "v": b.op("Variable", name="v")}
    at = 0 if variable == "w" else 1
    stored = b.op("Assign", others[variable], held, name="store", reuse_input=at)
    b.op("Foo", stored, act(b, "a"), name="gather", attrs=PACKED)
    found = [name for name in isolated(b.graph) if name in ("gather@0", "store@1")]
    assert [copied] == found


def test_names_are_the_same_in_every_run() -> None:
    """GE numbers copies by a counter of the process."""
    first, second = demanding_graph(3), demanding_graph(3)
    optimized(first)
    optimized(second)
    assert [node.name for node in first.nodes] == [node.name for node in second.nodes]
    assert any(node.name.endswith("MemLayoutConflict_0") for node in first.nodes)


def test_top_graphs_know_nothing_of_each_other() -> None:
    """GE keeps the memory of variables from one graph to the next: no name is seen in another.

    What names a graph input of the first graph is ordinary memory in the second one, and a switch
    there can't read it where it lies.
    """
    b = GraphBuilder()
    b.graph.set_graph_attr("_graph_unknown_flag", True)
    for name in ("g", "h"):
        sub = b.subgraph(name)
        given = sub.data(f"{name}/x", index=0)
        sub.op("RefData", name=f"{name}/state")
        mark = DESC.with_attr("ref_var_src_var_name", "g/state")
        made = sub.op("Foo", sub.op("Exp", given), name=f"{name}/made", outputs=[mark])
        sub.op("StreamSwitch", made, name=f"{name}/switch")
        sub.net_output(sub.op("Exp", given))
        b.op("PartitionedCall", act(b, f"a_{name}"), subgraphs={"f": sub})
    remarks = Remarks()
    optimized(b.graph, remarks)
    switches = {
        remark.node[len("identity_0_") :][:8]: remark.code
        for remark in remarks
        if "switch" in remark.node and str(remark.kind) == "missed"
    }
    expected = {
        "g/switch": "USER_INPUT_READ_AT_A_FIXED_ADDRESS",
        "h/switch": "READ_AT_A_FIXED_ADDRESS",
    }
    assert expected == switches


def test_a_name_opens_no_memory_of_its_own() -> None:
    """GE counts a result that is a graph input by name only as one memory more.

    Then a loop's body of two memories would be taken for one of three, which needs no copy.
    """
    b = GraphBuilder()
    body = b.subgraph("body")
    given = body.data("body/x", index=0)
    body.op("RefData", name="body/state")
    mark = DESC.with_attr("ref_var_src_var_name", "body/state")
    made = body.op("Foo", given, name="body/made", outputs=[mark])
    body.net_output(made)
    classes = AliasClasses(body.graph, default_kernel().ops, Scheme.SYMBOLS, below=True)
    members = [sorted(str(anchor) for anchor in classes.members(c)) for c in classes.classes()]
    assert [2, 3] == sorted(map(len, members))
    cond = b.subgraph("cond")
    cond.net_output(
        cond.op("Less", cond.data("cond/x", index=0), cond.graph.node("cond/x").outputs[0])
    )
    b.net_output(b.op("While", act(b, "a"), subgraphs={"cond": cond, "body": body}))
    assert ["body/NetOutput@0"] == isolated(b.graph)


# ---- marks --------------------------------------------------------------------------------------


def test_marks_of_graph_ends_move_to_the_copy() -> None:
    """Stream labels come from the reader; what is said of being next to an end is moved."""
    b = GraphBuilder()
    weight = b.op("Const", name="k")
    end = b.net_output(weight)
    graph = b.graph
    graph.set_attr(weight.node, "_is_connected_to_netoutput", [0])
    graph.set_attr(weight.node, "_batch_label", "batch_1")
    graph.set_attr(end, "is_input_const", [True])
    graph.set_attr(end, "_stream_label", "late")
    graph.set_desc(end.inputs[0], DESC.with_attr("data_offset", 64))
    optimized(graph)
    copy = end.inputs[0].source
    assert copy is not None
    expected: dict[str, Any] = {
        "_is_connected_to_netoutput": [0],
        "_batch_label": "batch_1",
        "is_input_const": [True],
        "_stream_label": "late",
        "_cannot_be_deleted": True,
        "no_need_constant_folding": False,
    }
    assert expected == dict(copy.node.attrs)
    offset, own = copy.node.inputs[0].desc, end.inputs[0].own_desc
    assert offset is not None and own is not None
    assert 64 == offset.attrs["data_offset"]
    assert "_is_connected_to_netoutput" not in weight.node.attrs
    assert [False] == end.attrs["is_input_const"]
    assert "data_offset" not in own.attrs


def test_a_copy_for_one_reader_waits_for_whom_the_reader_waits() -> None:
    """A store that the reader comes after has happened when the copy is made."""
    b = GraphBuilder()
    a = act(b, "a")
    b.op("Foo", a, act(b, "c"), name="one", attrs=PACKED)
    stored = b.op("Assign", a, act(b, "v"), name="store", reuse_input=0)
    two = b.op("Foo", a, act(b, "d"), name="two", attrs=PACKED)
    b.graph.add_control(stored.node, two.node)
    optimized(b.graph)
    copy = two.node.inputs[0].source
    assert copy is not None
    assert (stored.node,) == copy.node.control_inputs


def test_a_copy_of_a_result_waits_for_updates_by_other_names() -> None:
    """The end of a graph waits for all that is in it, a copy in front of it for its edges only."""
    b = GraphBuilder()
    arms = {}
    for label in ("then_branch", "else_branch"):
        arm = arms[label] = b.subgraph(label)
        given = arm.data(f"{label}/x", index=1)
        view = arm.op("Reshape", given, name=f"{label}/view", reuse_input=0)
        arm.op("Assign", view, arm.op("Const"), name=f"{label}/store", reuse_input=0)
        arm.op("Exp", given, name=f"{label}/reader")
        arm.net_output(given)
    b.net_output(b.op("If", b.data("c", (), dtype="bool"), act(b, "a"), subgraphs=arms))
    optimized(b.graph)
    for label, arm in arms.items():
        end = arm.graph.net_output
        assert end is not None and end.inputs[0].source is not None
        waits = [node.name for node in end.inputs[0].source.node.control_inputs]
        assert [f"{label}/store"] == waits


def test_tensors_of_unknown_shape_get_no_copy() -> None:
    """Nobody lays them out before the run."""
    b = GraphBuilder()
    a = b.op("Relu", b.data("x"), name="a", outputs=[TensorDesc.make(shape=(-1, 4))])
    for name in ("one", "two"):
        b.op("Foo", a, act(b, f"o{name}"), name=name, attrs=PACKED)
    assert [] == isolated(b.graph)


# ---- levels and sources -------------------------------------------------------------------------


def constant_and_arms() -> Graph:
    """A constant and a branch whose arms hand out what they got, as results."""
    b = GraphBuilder()
    x, choice = b.data("x"), b.data("c", (), dtype="bool")
    arms = {}
    for label in ("then_branch", "else_branch"):
        arm = arms[label] = b.subgraph(label)
        arm.net_output(arm.data(f"{label}/x", index=1))
    chosen = b.op("If", choice, x, name="if", subgraphs=arms)
    b.net_output(chosen, b.op("Const", name="k"))
    return b.graph


@pytest.mark.parametrize(("level", "copies"), [("O0", 3), ("O3", 3), ("O4", 0)])
def test_beyond_ge_only_what_is_needed_is_copied(level: str, copies: int) -> None:
    """What callers' buffers and arms' ends need the planner does; at GE's levels it is as in GE."""
    assert copies == optimized(constant_and_arms(), level=level)["conflicts"]


def test_graphs_of_other_sources_don_t_get_copies_for_ge_s_runtime() -> None:
    """An ONNX graph's ends are copied by the planner where they have to be."""
    graph = Graph("root", source="onnx")
    weight = graph.add_node("Constant", "k", outputs=[DESC])
    graph.add_node("NetOutput", "out", [weight.outputs[0]])
    assert 0 == optimized(graph)["conflicts"]


def test_a_join_that_a_pass_has_placed_is_not_asked_about() -> None:
    """It has answered for its operands; in a file the same marks are asked about."""
    b = GraphBuilder()
    whole = act(b, "a")
    cut = b.node("SplitD", whole, name="cut", outputs=[DESC, DESC], attrs=SPLIT)
    b.net_output(b.op("Exp", b.op("ConcatD", *cut.outputs, name="join", attrs=JOIN)))
    assert 2 == optimized(clone(b.graph))["conflicts"]
