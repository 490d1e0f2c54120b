"""What the pass alone makes of graphs: nobody reads otherwise, and as much goes as can."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import Graph, GraphBuilder, GraphError, Node, clone, listed_order
from ge_core.testing import GraphKnobs, random_graph

from .coalescing import coalesce
from .conftest import OPS
from .test_equivalence import Cell, Simulation, any_order, disagreement, knobs_of

STORE = {"reference": True}
COPIES = ("TensorMove", "Identity")
VALUES = frozenset(
    {
        "O4_SAME_NODE",
        "O4_SOURCE_READ_LATER",
        "O4_COPY_READ_LATER",
        "O4_RESULT_SPOILED",
        "O4_VARIABLE_WRITTEN",
        "O4_LISTED_ORDER",
    }
)
"""Codes that say that somebody would read another value."""


def lent(graph: Graph) -> dict[str, str]:
    """All inputs may be overwritten."""
    indexes = range(len(graph.nodes_of("Data")))
    return {"ge.exec.inputReuseMemIndexes": ",".join(map(str, indexes))}


class Run(Simulation):
    """A run in which an Assign stores the value, so that storing what is there changes nothing."""

    def _plain(self, node: Node, inputs: list[Cell | None]) -> list[Cell]:
        target, value = (*inputs, None, None)[:2]
        if node.op != "Assign" or target is None or value is None:
            return super()._plain(node, inputs)
        if target.constant and not self.compiled:
            target = Cell(target.content)
        target.content = value.content
        return [target]


def matters(key: tuple[tuple[str, ...], str, int], graph: Graph) -> bool:
    """Whether somebody looks at what a run has put down as read.

    What goes into a subgraph matters to who reads it inside, what comes out to who reads it
    outside; an Assign overwrites its target unread.
    """
    call, name, index = key
    node = graph.node(name)
    if OPS.kind(node) in ("call", "if", "case"):
        return index == 0 and OPS.kind(node) != "call"
    return not (node.op == "NetOutput" and call) and not (node.op == "Assign" and index == 0)


def is_right(original: Graph, graph: Graph, streams: int = 1, seed: int = 0) -> bool:
    """Whether all that is in both graphs reads the same, in several runs."""
    for turn in range(3):
        reference = Run(OPS, seed=turn).run(original)
        order = listed_order if streams == 1 else any_order(Random(seed + turn))
        compiled = Run(OPS, order, seed=turn, compiled=True).run(graph)
        for key in [key for key in compiled.reads if not matters(key, graph)]:
            del compiled.reads[key]
        if disagreement(reference, compiled) is not None:
            return False
    return True


@given(seed=st.integers(0, 100_000), streams=st.integers(1, 2), branches=st.booleans())
def test_nobody_reads_another_value(seed: int, streams: int, branches: bool) -> None:
    """In the listed order on one stream; on several in any order that the edges allow."""
    graph = random_graph(seed, knobs_of(Random(seed), streams))
    original = clone(graph)
    coalesce(graph, lent(graph) if seed % 2 else None, original=original, branches=branches)
    assert is_right(original, graph, streams, seed), graph


def without(graph: Graph, names: Iterable[str]) -> Graph:
    """A copy of a graph with some copies taken out, and nothing else done."""
    trial = clone(graph)
    for name in names:
        node = trial.node(name)
        assert node.graph is not None
        node.graph.bypass(node)
    return trial


def size(node: Node) -> int:
    """Bytes of a copy."""
    return node.outputs[0].desc.nbytes or 0


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_as_much_goes_as_in_any_set_of_copies(first: int) -> None:
    """Of small graphs, against all sets of those copies that only order could keep."""
    for seed in range(first, first + 20):
        knobs = GraphKnobs(nodes=8, moves=50, control_flow=False, joins=False)
        graph = random_graph(seed, knobs)
        original = clone(graph)
        env, _ = coalesce(graph, lent(graph), original=original)
        codes = {remark.node: remark.code for remark in env.remarks.finals()}
        gone = [node for node in original.nodes_of(*COPIES) if graph.find(node.name) is None]
        able = [*gone, *(n for n in original.nodes_of(*COPIES) if codes[n.name] in VALUES)]
        if len(able) > 8:
            continue
        most = sum(map(size, gone))
        for count in range(1, len(able) + 1):
            for some in combinations(able, count):
                if sum(map(size, some)) > most:
                    trial = without(original, [node.name for node in some])
                    assert not is_right(original, trial), (seed, some, codes)


def rivals() -> Graph:
    """One copy is overwritten early, which spoils the source for two others that are read late."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    copies = [b.op("TensorMove", act, name=f"m{at}") for at in range(3)]
    stored = b.op("ScatterUpdate", copies[0], name="store", attrs=STORE, reuse_input=0)
    late = [b.op("Add", copy, stored, name=f"late{at}") for at, copy in enumerate(copies[1:])]
    b.net_output(*late)
    return b.graph


def test_the_set_that_saves_most_goes() -> None:
    """Not the first copy that can go, if that keeps two others."""
    graph = rivals()
    env, _ = coalesce(graph)
    assert ["m0"] == [node.name for node in graph.nodes_of("TensorMove")]
    remark = env.remarks.final("m0")
    assert remark is not None
    assert ("O4_SOURCE_READ_LATER", 64) == (remark.code, remark.bytes)


def test_readers_come_before_a_writer_through_edges() -> None:
    """Each reader that nothing puts before the store gets an edge; the others get none."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    early = b.op("Exp", act, name="early")
    moved = b.op("TensorMove", act, name="mv")
    stored = b.op("ScatterUpdate", moved, early, name="store", attrs=STORE, reuse_input=0)
    b.net_output(stored, b.op("Neg", act, name="late"))
    _, counts = coalesce(b.graph)
    assert [] == b.graph.nodes_of("TensorMove")
    assert ["late"] == [node.name for node in b.graph.node("store").control_inputs]
    assert 1 == counts["edges"]


def test_many_waiting_for_many_readers_wait_for_one_node() -> None:
    """More than a thousand pairs are ordered through a node that does nothing."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    moved = b.op("TensorMove", act, name="mv")
    readers = [b.op("Exp", moved, name=f"r{at}") for at in range(40)]
    copy = b.graph.node("mv")
    waiting = [b.op("Neg", act, name=f"w{at}", control=[copy]) for at in range(40)]
    b.net_output(*readers, *waiting)
    coalesce(b.graph)
    assert b.graph.find("mv") is None
    barrier = b.graph.node("mv_order")
    assert (40, 40) == (len(barrier.control_inputs), len(barrier.control_outputs))


@pytest.mark.parametrize(
    ("given", "code", "hint"),
    [
        ({"kept": frozenset({"m1"})}, "O4_RAISES_PEAK", "--objective copies"),
        ({"layout": False}, "O4_NO_CHECKERS", None),
    ],
)
def test_what_surrounds_a_compile_can_keep_a_copy(
    given: dict[str, Any], code: str, hint: str | None
) -> None:
    """Plugins that aren't there, and the memory that a removal would cost."""
    env, _ = coalesce(rivals(), **given)
    remark = env.remarks.final("m1")
    assert remark is not None
    found = None if remark.hint is None else remark.hint.value
    assert (code, hint, 64) == (remark.code, found, remark.bytes)


def test_a_graph_that_refuses_the_edit_keeps_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has changed then, and the reason is told."""

    def refuse(*_: object, **__: object) -> None:
        raise GraphError("not today")

    graph = rivals()
    monkeypatch.setattr(Graph, "bypass", refuse)
    env, _ = coalesce(graph)
    remark = env.remarks.final("m1")
    assert remark is not None
    assert ("O4_REMOVAL_FAILED", "the graph can't be edited here: not today") == (
        remark.code,
        remark.reason,
    )


def called(depth: int) -> Graph:
    """Calls of calls: at each depth a subgraph calls the next one twice."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    moved = b.op("TensorMove", act, name="mv")
    builders = [b.subgraph(f"g{at}") for at in range(depth)]
    ends = [inner.data(f"d{at}", index=0) for at, inner in enumerate(builders)]
    for at, inner in enumerate(builders):
        if at + 1 < depth:
            calls = {"f": builders[at + 1]}
            results = [inner.op("PartitionedCall", ends[at], subgraphs=calls) for _ in range(2)]
            inner.net_output(inner.op("Add", *results))
        else:
            inner.net_output(inner.op("Exp", ends[at]))
    b.op("ScatterUpdate", moved, name="store", attrs=STORE, reuse_input=0)
    b.net_output(b.op("PartitionedCall", act, subgraphs={"f": builders[0]}))
    return b.graph


def test_calls_of_calls_are_given_up_on() -> None:
    """What would have to be played a million times is not looked at."""
    for depth, code in ((3, "O4_SOURCE_READ_LATER"), (20, "O4_TOO_MANY_RUNS")):
        graph = called(depth)
        # The call must come behind the store, or it would be brought forward.
        graph.add_control(graph.node("store"), next(n for n in graph.nodes if n.subgraphs))
        env, _ = coalesce(graph)
        assert code == env.remarks.final("mv").code


def fan(count: int) -> Graph:
    """Copies behind a view of one value, each read, some overwritten after all others."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    view = b.op("Reshape", act, reuse_input=0)
    b.net_output(*[b.op("Exp", b.op("TensorMove", view, name=f"m{at}")) for at in range(count)])
    return b.graph


def chain(count: int) -> Graph:
    """Copies, views and stores in a row, with readers beside each."""
    b = GraphBuilder()
    last = b.op("Relu", b.data("x"))
    for at in range(count):
        side = b.op("Exp", last, name=f"e{at}")
        view = b.op("Reshape", b.op("TensorMove", last, name=f"m{at}"), reuse_input=0)
        stored = b.op("Assign", view, side, name=f"s{at}", reuse_input=0)
        last = b.op("Add", stored, side, name=f"a{at}")
    b.net_output(last)
    return b.graph


def refused(count: int) -> Graph:
    """Stores behind views that must come before readers beside their copies."""
    b = GraphBuilder()
    sides = []
    for at in range(count):
        act = b.op("Relu", b.data(f"x{at}"))
        view = b.op("Reshape", b.op("TensorMove", act, name=f"m{at}"), reuse_input=0)
        stored = b.op("ScatterUpdate", view, name=f"s{at}", attrs=STORE, reuse_input=0)
        sides.append(b.op("Add", act, stored))
    b.net_output(*sides)
    return b.graph


@pytest.mark.parametrize(("build", "goes"), [(fan, True), (chain, True), (refused, False)])
def test_steps_grow_with_the_graph(build: Callable[[int], Graph], goes: bool) -> None:
    """Four times the graph costs about four times the steps, and few per node."""
    steps = []
    for count in (100, 400):
        graph = build(count)
        nodes = len(graph)
        _, counts = coalesce(graph)
        assert goes == (not graph.nodes_of("TensorMove"))
        steps.append(counts["steps"])
        assert steps[-1] < 40 * nodes
    assert steps[1] < 5 * steps[0]
