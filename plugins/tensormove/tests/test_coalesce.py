"""Copies that GE keeps out of caution go at O4, the others stay: compiled, proved and run.

The graphs are GE's unit tests (their numbers stand behind the names), built anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

import ge_core as ge
from ge_core.api import Graph, GraphBuilder, Node, OutputAnchor, listed_order
from ge_core.session.execution import execute

SCRATCH = {"_input_mutable": True}
STORE = {"reference": True}
INPUTS = "ge.exec.inputReuseMemIndexes"


def compiled(
    graph: Graph,
    options: Mapping[str, str] | None = None,
    level: str = "O4",
    disable: Sequence[str] = (),
) -> Any:
    """The result of a whole compile that is proved and computes what the original does."""
    result = ge.compile(
        graph, level=level, options=options, disable=disable, verify_each=True, audit=True
    )
    assert result.proof is not None
    assert result.proof.ok, str(result.proof)
    assert all(output.bit_exact for output in execute(result, seed=1, check=True).outputs)
    return result


def copies(graph: Graph) -> list[Node]:
    """The copies of a graph."""
    return [node for node in graph.all_nodes() if node.op in ("TensorMove", "Identity")]


def start(op: str = "Relu") -> tuple[GraphBuilder, OutputAnchor]:
    """A graph that begins with one computed value."""
    b = GraphBuilder()
    return b, b.op(op, b.data("x"), name="act")


def reader_beside_scribbler() -> Graph:
    """004, 055: a reader beside a copy that its reader scribbles on, listed behind it."""
    b, act = start()
    moved = b.op("TensorMove", act, name="mv")
    scribbled = b.op("HcomAllReduce", moved, name="scribble", attrs=SCRATCH)
    b.net_output(scribbled, b.op("Neg", act, name="side"))
    return b.graph


def behind_a_view(shared: bool) -> Graph:
    """005, 014, 016, 019: the copy hangs behind a view of what has other readers."""
    b, act = start()
    side = b.op("Neg", act, name="side")
    view = b.op("Reshape", act, name="view_a", reuse_input=0)
    moved = b.op("TensorMove", view, name="mv")
    results = [b.op("Reshape", moved, name="view_b", reuse_input=0), side]
    if shared:
        results.append(b.op("Exp", view, name="other"))
    b.net_output(*results)
    return b.graph


def stacked() -> Graph:
    """015: of two copies in a row the lower one hangs behind a view of the upper one."""
    b, act = start()
    upper = b.op("TensorMove", act, name="mv_up", attrs={"_cannot_be_deleted": True})
    view = b.op("Reshape", upper, name="view", reuse_input=0)
    b.net_output(b.op("TensorMove", view, name="mv"), b.op("Neg", upper, name="side"))
    return b.graph


def constant_through_calls() -> Graph:
    """025: the constant of one call comes out of another one's copy."""
    b = GraphBuilder()
    one, other = b.subgraph("one"), b.subgraph("other")
    one.net_output(one.const("k", bytes(range(64)), (1, 16)))
    other.net_output(other.op("TensorMove", other.data("d", index=0), name="mv"))
    first = b.node("PartitionedCall", subgraphs={"f": one}, shape=(1, 16)).outputs[0]
    b.net_output(b.op("Relu", b.op("PartitionedCall", first, subgraphs={"f": other})))
    return b.graph


def scribbler_beside(options: bool) -> Graph:
    """037, 041, 046, 106: a scribbler beside the copy, that no edge puts behind the reader."""
    b = GraphBuilder()
    given = b.data("x")
    source = given if options else b.op("Relu", given, name="act")
    moved = b.op("TensorMove", source, name="mv")
    reader = b.op("Neg", moved, name="reader")
    b.net_output(reader, b.op("HcomAllReduce", source, name="scribble", attrs=SCRATCH))
    return b.graph


def variable_stored_later() -> Graph:
    """041: a variable's copy is read before the variable is updated."""
    b = GraphBuilder()
    var = b.op("Variable", name="var")
    moved = b.op("TensorMove", var, name="mv")
    reader = b.op("Neg", moved, name="reader")
    stored = b.op("Assign", var, b.data("y"), name="store", reuse_input=0)
    b.net_output(reader, b.op("Exp", stored))
    return b.graph


def result_beside() -> Graph:
    """049: the source is a result as well."""
    b, act = start()
    moved = b.op("TensorMove", act, name="mv")
    b.net_output(b.op("Neg", moved), act)
    return b.graph


def variable_through_view() -> Graph:
    """053: a variable's copy is read through a view."""
    b = GraphBuilder()
    moved = b.op("TensorMove", b.op("Variable", name="var"), name="mv")
    b.net_output(b.op("Neg", b.op("Reshape", moved, reuse_input=0)))
    return b.graph


def variable_into_call() -> Graph:
    """054: a call reads the variable's copy."""
    b = GraphBuilder()
    inner = b.subgraph("g")
    inner.net_output(inner.data("d", index=0))
    moved = b.op("TensorMove", b.op("Variable", name="var"), name="mv")
    b.net_output(b.op("Relu", b.op("PartitionedCall", moved, subgraphs={"f": inner})))
    return b.graph


def two_results_of_a_call() -> Graph:
    """233: two results of a call are one inner value."""
    b, act = start()
    inner = b.subgraph("g")
    made = inner.op("Relu", inner.data("d", index=0))
    inner.net_output(made, made)
    call = b.node("PartitionedCall", act, outputs=[act.desc] * 2, subgraphs={"f": inner})
    moved = b.op("TensorMove", call.outputs[0], name="mv")
    b.net_output(moved, b.op("Neg", call.outputs[1], name="side"))
    return b.graph


def store_beside() -> Graph:
    """239: a store beside the copy comes behind its reader already."""
    b, act = start()
    moved = b.op("TensorMove", act, name="mv")
    reader = b.op("Neg", moved, name="reader")
    stored = b.op("Assign", act, b.data("y"), name="store", reuse_input=0, control=[reader])
    b.net_output(reader, stored)
    return b.graph


CAUTION: dict[str, tuple[Callable[[], Graph], dict[str, str]]] = {
    "004, 055": (reader_beside_scribbler, {}),
    "005, 019": (lambda: behind_a_view(False), {}),
    "014": (lambda: behind_a_view(True), {}),
    "015, 016": (stacked, {}),
    "025": (constant_through_calls, {}),
    "037, 106": (lambda: scribbler_beside(False), {}),
    "046": (lambda: scribbler_beside(True), {INPUTS: "0"}),
    "041": (variable_stored_later, {}),
    "049": (result_beside, {}),
    "053": (variable_through_view, {}),
    "054": (variable_into_call, {}),
    "233": (two_results_of_a_call, {}),
    "239": (store_beside, {}),
}


@pytest.mark.parametrize("case", CAUTION)
def test_a_copy_kept_out_of_caution_goes(case: str) -> None:
    """At O3 it stays, or another copy is put beside it, as in GE; at O4 nothing is copied."""
    build, options = CAUTION[case]
    before = compiled(build(), options, "O3")
    after = compiled(build(), options)
    reserved = [node for node in copies(before.original) if node.attrs]
    assert len(copies(before.graph)) > len(reserved)
    assert [node.name for node in reserved] == [node.name for node in copies(after.graph)]


def hidden_store(forced: bool) -> Graph:
    """241 and its like: behind a view the copy is overwritten, beside a reader of the source."""
    b, act = start()
    moved = b.op("TensorMove", act, name="mv")
    view = b.op("Reshape", moved, name="view", reuse_input=0)
    scribbled = b.op("HcomAllReduce", view, name="scribble", attrs=SCRATCH)
    b.net_output(b.op("Add", act, scribbled, name="side") if forced else scribbled)
    if not forced:
        b.graph.add_control(b.op("Neg", act, name="side").node, b.graph.node("NetOutput"))
    return b.graph


def test_a_store_that_must_come_first_keeps_its_copy() -> None:
    """GE removes the copy, and the reader beside it reads what the scribbler left."""
    for level in ("O3", "O4"):
        assert compiled(hidden_store(True), level=level).graph.find("mv") is not None


def test_a_store_that_may_wait_is_made_to() -> None:
    """Where nothing forces the scribbler to come first, it waits for the reader beside the copy."""
    result = compiled(hidden_store(False))
    assert result.graph.find("mv") is None
    order = [node.name for node in listed_order(result.graph)]
    assert order.index("side") < order.index("scribble")


def test_what_gets_the_same_value_twice_stays_two_results() -> None:
    """003: two results share bytes only if they did before, though nobody would read another value.

    GE isolates what a subgraph hands out as it came in, so that one of two copies can go.
    """
    for isolated in (True, False):
        b, act = start()
        inner = b.subgraph("g")
        inner.net_output(inner.data("d", index=0))
        moved = b.op("TensorMove", act, name="mv")
        b.net_output(moved, b.op("PartitionedCall", act, subgraphs={"f": inner}))
        result = compiled(b.graph, disable=() if isolated else ("SubgraphPass",))
        assert 1 == len(copies(result.graph))
        codes = {r.node: r.code for r in result.finals()}
        assert ("O4_REMOVED" if isolated else "O4_TWO_RESULTS") == codes["mv"]


@pytest.mark.parametrize("shape", [(4, 8), (-1, 8)], ids=["planned", "unplanned"])
def test_two_slots_of_a_loop_stay_two(shape: tuple[int, ...]) -> None:
    """They begin with one value; the first one's later values are looked at by nobody."""
    b = GraphBuilder()
    first, second = (b.op("Relu", b.data(name, shape), name=f"{name}_act") for name in "xy")
    carried = [b.op("TensorMove", of, name=f"mv{at}") for at, of in enumerate((first, second))]
    carried.insert(2, b.op("TensorMove", first, name="mv2"))
    cond, body = b.subgraph("cond"), b.subgraph("body")
    asked = [cond.data(f"c{at}", shape, index=at) for at in range(3)]
    cond.net_output(cond.op("Less", asked[1], name="less", shape=(), dtype="bool"))
    slots = [body.data(f"d{at}", shape, index=at) for at in range(3)]
    body.net_output(slots[2], slots[2], slots[1])
    loop = {"cond": cond, "body": body}
    b.node("While", *carried, outputs=[of.desc for of in carried], name="while", subgraphs=loop)
    b.net_output(b.data("z"))
    compiled(b.graph)


@pytest.mark.parametrize("updated", ["beside", "before", "results"])
def test_copies_that_a_subgraph_makes_call_by_call_do_not_become_one(updated: str) -> None:
    """Each call returns a copy of what it is given; one of them is overwritten, the other read."""
    b, act = start()
    inner = b.subgraph("g")
    inner.net_output(inner.op("TensorMove", inner.data("d", index=0), name="mv"))
    one, other = (
        b.op("PartitionedCall", act, name=name, subgraphs={"f": inner}) for name in ("one", "two")
    )
    if updated == "results":
        b.net_output(one, other)
        assert compiled(b.graph).graph.find("mv") is not None
        return
    read = (other,) if updated == "beside" else ()
    stored = b.op("Foo", one, *read, name="store", attrs=STORE, reuse_input=0)
    b.net_output(stored, b.op("Exp", other, name="late", control=[stored]))
    assert compiled(b.graph).graph.find("mv") is not None


def test_a_copy_that_a_subgraph_makes_call_by_call_goes_where_all_only_read() -> None:
    """Each call returns a copy of what it is given, and nobody overwrites one."""
    b, act = start()
    inner = b.subgraph("g")
    inner.net_output(inner.op("TensorMove", inner.data("d", index=0), name="mv"))
    one, other = (
        b.op("PartitionedCall", act, name=name, subgraphs={"f": inner}) for name in ("one", "two")
    )
    b.net_output(b.op("Add", one, other, name="sum"))
    assert compiled(b.graph).graph.find("mv") is None


@pytest.mark.parametrize("disable", [(), ("TensorMoveDeletePass",)])
@pytest.mark.parametrize(
    "lent", [{INPUTS: "0"}, {"ge.exec.outputReuseInputMemIndexes": "0,0"}], ids=["input", "pair"]
)
def test_an_input_that_is_stored_into_and_lent_may_end_as_anything(
    lent: Mapping[str, str], disable: Sequence[str]
) -> None:
    """Unlent it must hold what was stored; lent it may hold the update of the copy."""
    b = GraphBuilder()
    x, y = b.data("x"), b.data("y")
    stored = b.op("Assign", x, y, name="stored", reuse_input=0)
    copy = b.op("TensorMove", stored, name="mv")
    update = b.op("AssignAdd", copy, y, name="update", attrs=STORE, reuse_input=0)
    b.net_output(b.op("Exp", update))
    kept = compiled(b.graph, disable=disable).graph
    assert ["mv"] == [node.name for node in copies(kept)]
    assert [] == copies(compiled(b.graph, lent, disable=disable).graph)
    if not disable:
        assert [] == copies(compiled(b.graph, lent, level="O3").graph)
