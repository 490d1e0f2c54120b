"""Who may write constants and graph inputs, and which outputs may be an input's memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.ir import Graph, GraphBuilder, clone
from ge_core.proof import ProofResult
from ge_core.proof.options import INPUTS, PAIRS, Lent, lent_memory

Found = Callable[..., list[tuple[str, str]]]
Prove = Callable[..., ProofResult]


def two_inputs() -> Graph:
    """x is dead after `a`; b is the graph's output."""
    build = GraphBuilder()
    a = build.op("Mul", build.data("x"), build.data("y"), name="a")
    build.net_output(build.op("Mul", a, name="b"), build.op("Relu", a, name="c"))
    return build.graph


def test_a_dead_input_is_still_the_callers(prove: Prove) -> None:
    """An input's bytes are not the arena's, also when nobody reads them any more."""
    result = prove(two_inputs(), {"x:0": 0, "b:0": 0})
    assert [(v.check, v.node, v.range) for v in result.violations] == [
        ("permission", "NetOutput", ("HBM", 0, 64)),
        ("permission", "b", ("HBM", 0, 64)),
    ]


@pytest.mark.parametrize(
    ("options", "ok"),
    [
        ({INPUTS: "0"}, True),
        ({INPUTS: "1"}, False),
        ({PAIRS: "0,0"}, True),
        ({PAIRS: "0,1"}, False),
        ({PAIRS: "1,0"}, False),
        ({PAIRS: "1,1|0,0"}, True),
    ],
)
def test_callers_lend_inputs_and_pairs(prove: Prove, options: dict[str, str], ok: bool) -> None:
    """An input may be written where it is listed, or by the output that shares its address."""
    assert prove(two_inputs(), {"x:0": 0, "b:0": 0}, options=options).ok == ok


def test_a_pair_lends_the_bytes_to_its_output_only(prove: Prove) -> None:
    """An address shared by input and output is not a temporary's."""
    graph = two_inputs()
    places = {"x:0": 0, "b:0": 0, "c:0": 1024}
    options = {PAIRS: "0,0"}
    assert prove(graph, places, options=options).ok
    temporary = graph.add_node(
        "MatMul", "t", [graph.node("y").outputs[0]], [graph.node("a").outputs[0].desc], origin=()
    )
    order = [node for node in graph.nodes if node is not temporary]
    graph.reorder([*order[:3], temporary, *order[3:]])
    original = clone(graph)
    result = prove(graph, {**places, "t:0": 0, "b:0": 2048}, original=original, options=options)
    assert [(v.check, v.node) for v in result.violations] == [("permission", "t")]


def test_an_input_that_the_original_updates_may_be_updated(found: Found) -> None:
    """What the original does to an input is the caller's wish; the result must be the same."""
    build = GraphBuilder()
    x = build.data("x")
    build.net_output(build.op("Update", x, build.data("y"), name="update", reuse_input=0))
    assert found(build.graph) == []


def test_an_update_that_loses_its_copy_is_found(found: Found) -> None:
    """Removing the copy in front of an update makes it the input's: nobody permitted that."""
    build = GraphBuilder()
    x = build.data("x")
    copy = build.op("TensorMove", x, name="copy")
    build.net_output(build.op("Update", copy, build.data("y"), name="update", reuse_input=0))
    original = clone(build.graph)
    build.graph.bypass(build.graph.node("copy"))
    assert found(build.graph, original=original) == [
        ("permission", "NetOutput"),
        ("permission", "update"),
    ]


def test_a_pair_lends_its_input_to_updates(prove: Prove) -> None:
    """What the input held is lost anyway, as an output's bytes come to its address."""
    build = GraphBuilder()
    x, y = build.data("x"), build.data("y")
    copy = build.op("TensorMove", x, name="copy")
    update = build.op("Update", copy, y, name="update", reuse_input=0)
    build.net_output(build.op("Mul", update, name="a"), build.op("Mul", y, name="b"))
    original = clone(build.graph)
    build.graph.bypass(build.graph.node("copy"))
    assert prove(build.graph, original=original, options={PAIRS: "0,1"}).ok
    assert not prove(build.graph, original=original, options={PAIRS: "1,0"}).ok


@pytest.mark.parametrize(
    ("options", "ok"),
    [({}, False), ({INPUTS: "0"}, True), ({INPUTS: "1"}, False), ({PAIRS: "0,1"}, True)],
)
@pytest.mark.parametrize("op", ["Data", "RefData"])
def test_nobody_looks_at_a_lent_input_after_the_run(
    prove: Prove, options: dict[str, str], ok: bool, op: str
) -> None:
    """What the original stores into it is lost where it is lent; a RefData keeps its value."""
    build = GraphBuilder()
    y = build.data("y", index=1)
    x = build.node(op, name="x", shape=(1, 16), attrs={"index": 0}).outputs[0]
    store = build.op("Update", x, y, name="store", reuse_input=0)
    copy = build.op("TensorMove", store, name="copy")
    update = build.op("Update", copy, y, name="update", reuse_input=0)
    build.net_output(build.op("Mul", y, name="a"), build.op("Mul", update, name="b"))
    original = clone(build.graph)
    build.graph.bypass(build.graph.node("copy"))
    result = prove(build.graph, original=original, options=options)
    expected = [] if ok and op == "Data" else [("reads", "x at the end")]
    assert expected == [(v.check, v.node) for v in result.violations]


def test_an_output_may_be_an_input_where_it_was(found: Found, prove: Prove) -> None:
    """An input handed straight to an output stays so; one that was copied must be copied."""
    build = GraphBuilder()
    build.net_output(build.data("x"), build.op("TensorMove", build.data("y"), name="copy"))
    original = clone(build.graph)
    graph = build.graph
    assert found(graph, original=original) == []
    graph.bypass(graph.node("copy"))
    assert found(graph, original=original) == [("permission", "NetOutput")]
    assert prove(graph, original=original, options={PAIRS: "1,1"}).ok
    assert prove(graph, original=original, options={INPUTS: "1"}).ok
    assert not prove(graph, original=original, options={PAIRS: "1,0"}).ok


@pytest.mark.parametrize("how", ["update", "scribble", "overlap"])
def test_nobody_writes_a_constant(prove: Prove, how: str) -> None:
    """No update, no scribbler and no plan may touch a constant's bytes."""
    build = GraphBuilder()
    constant = build.const("c", bytes(64), (1, 16))
    attrs = {"_input_mutable": True} if how == "scribble" else {}
    if how == "update":
        value = build.op("Update", constant, build.data("y"), name="bad", reuse_input=0)
    else:
        value = build.op("Mul", constant, name="bad", attrs=attrs)
    build.net_output(build.op("MatMul", value, name="reader"))
    places = {"bad:0": ("CONST", 0)} if how == "overlap" else {}
    result = prove(build.graph, places)
    assert ("permission", "bad") in [(v.check, v.node) for v in result.violations]


def test_a_copy_in_front_of_a_scribbler_protects_its_source(found: Found) -> None:
    """What a scribbler destroys must be a copy where its source is a constant or an input."""
    for source in ("constant", "input"):
        build = GraphBuilder()
        value = build.const("c", bytes(64), (1, 16)) if source == "constant" else build.data("x")
        copy = build.op("Identity", value, name="copy")
        out = build.op("Mul", copy, name="scribbler", attrs={"_input_mutable": True})
        build.net_output(build.op("Relu", out, name="end"))
        original = clone(build.graph)
        assert found(build.graph, original=original) == []
        build.graph.bypass(build.graph.node("copy"))
        assert found(build.graph, original=original) == [("permission", "scribbler")]


def test_updatable_inputs_are_like_variables(found: Found) -> None:
    """A RefData is an input that is meant to be updated."""
    build = GraphBuilder()
    ref = build.node("RefData", name="ref", shape=(1, 16), attrs={"index": 0}).outputs[0]
    build.net_output(build.op("Update", ref, build.data("y"), name="update", reuse_input=0))
    assert found(build.graph) == []


def test_updatable_inputs_keep_what_nobody_updates(found: Found) -> None:
    """An output that lies over a RefData loses what the next run starts from."""
    build = GraphBuilder()
    build.node("RefData", name="ref", shape=(1, 16), attrs={"index": 0})
    build.net_output(build.op("Mul", build.data("y"), name="out"))
    assert found(build.graph) == []
    assert ("reads", "ref at the end") in found(build.graph, {"ref:0": 0, "out:0": 0})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, Lent()),
        ({INPUTS: "", PAIRS: ""}, Lent()),
        ({INPUTS: "0, 2"}, Lent(frozenset({0, 2}))),
        ({INPUTS: "x,-1,1"}, Lent(frozenset({1}))),
        ({PAIRS: "0,1|2,3"}, Lent(pairs=frozenset({(0, 1), (2, 3)}))),
        ({PAIRS: "0|1,2,3|4,x|5,6"}, Lent(pairs=frozenset({(5, 6)}))),
    ],
)
def test_options_permit_what_they_spell_out(options: dict[str, str], expected: Lent) -> None:
    """Indices and pairs are read as GE spells them; what is malformed permits nothing."""
    assert lent_memory(options) == expected
