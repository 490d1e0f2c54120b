"""After the pass no reader stands where GE's table forbids it, and a second run does nothing.

The kinds are told here once more, straight from the tables: by recursion, without a thought for
cost, and with nothing of the analysis that the pass uses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

import ge_core
from ge_core.api import (
    Graph,
    GraphBuilder,
    InputAnchor,
    Node,
    OutputAnchor,
    clone,
    read_graph,
    structural_hash,
)
from ge_core.testing import GraphKnobs, pass_conformance, random_graph
from ge_core.testing.random_knobs import RARE
from ge_core.testing.strategies import graphs

PASS = "HandleMemoryRWConflict"
WILD = GraphKnobs(nodes=20, moves=35, guarded=False)

test_handling = pass_conformance(PASS, knobs=GraphKnobs(moves=50))
test_handling_on_streams = pass_conformance(PASS, knobs=GraphKnobs(moves=50, streams=2), samples=8)
test_check = pass_conformance(
    "CheckRWConflict", graphs=lambda seed: with_a_riddle(seed), samples=4, executor=None
)


# ---- the tables, told once more -----------------------------------------------------------------

WHILE = ("While", "_While", "StatelessWhile")
DATA = ("Data", "RefData", "AippData", "AnnData")


def names_matched(node: Node, at: int) -> bool:
    """Whether the convention of case files says that an input is updated in place."""
    if node.op in ("PhonyConcat", "PhonySplit"):
        return False
    marks = node.attrs.get("rw", {}).get("inputs", {})
    reused = any(output.desc.reuse_input == at for output in node.outputs)
    is_assign = node.op.startswith("Assign")
    return marks.get(str(at)) == "write" or (
        reused and bool(node.attrs.get("reference") or (is_assign and at == 0))
    )


def input_kind(anchor: InputAnchor) -> str:
    """Section 3.2, the table of inputs."""
    node = anchor.node
    if node.op in WHILE:
        return "scope"
    if node.subgraphs:
        found = {"read"}
        for graph in node.subgraphs.values():
            for data in graph.data_nodes:
                if data.attrs["_parent_node_index"] == anchor.index:
                    found |= {input_kind(use) for use in data.outputs[0].readers}
        writes = found - {"read"}
        return "read" if not writes else writes.pop() if len(writes) == 1 else "invalid"
    if node.attrs.get("_input_mutable"):
        return "scope"
    return "write" if names_matched(node, anchor.index) else "read"


def output_kind(output: OutputAnchor) -> str:
    """Section 3.2, the table of outputs."""
    node, shared = output.node, len(output.readers) > 1
    if node.op in WHILE:
        return "soft"
    if len(node.subgraphs) == 1:
        (graph,) = node.subgraphs.values()
        out = graph.net_output
        assert out is not None and out.inputs[output.index].source is not None
        inner = output_kind(out.inputs[output.index].source)
        return inner if inner == "writeable" else "shared" if shared else inner
    if node.subgraphs:
        return "shared" if shared else "soft"
    return plain_kind(output)


def plain_kind(output: OutputAnchor) -> str:
    """Rows 4 to 10: nodes with subgraphs are plain nodes there."""
    node = output.node
    if node.op in ("Variable", "VariableV2", "RefData"):
        return "writeable"
    if node.op in DATA:
        if node.graph is not None and node.graph.is_root:
            return "writeable"
        assert node.graph is not None
        ((caller, _),) = node.graph.callers
        feed = caller.inputs[node.attrs["_parent_node_index"]].source
        return "invalid" if feed is None else plain_kind(feed)
    if any(names_matched(node, at) for at in [output.desc.reuse_input] if at is not None):
        return "writeable"
    if node.op in ("Const", "Constant", "ConstPlaceHolder"):
        return "const"
    return "shared" if len(output.readers) > 1 else "soft"


FORBIDDEN = {
    ("const", "write"),
    ("const", "scope"),
    ("shared", "scope"),
    ("writeable", "scope"),
}


def forbidden(root: Graph) -> Iterator[InputAnchor]:
    """Inputs that need a copy, but for what GE passes over and what one node may use up."""
    for node in root.all_nodes():
        assert node.graph is not None
        in_loop = any(caller.op in WHILE for caller, _ in node.graph.callers)
        is_inner_data = node.op in DATA and not node.graph.is_root
        if in_loop or is_inner_data or node.attrs.get("_cannot_be_deleted"):
            continue
        for output in node.outputs:
            kind = output_kind(output)
            direct = [a for a in output.readers if (kind, input_kind(a)) in FORBIDDEN]
            if direct and used_up(output, kind):
                direct.pop()
            yield from direct


def used_up(output: OutputAnchor, kind: str) -> bool:
    """Whether all uses are one node's, be it through Identities, and each destroys the value."""
    users = []
    for reader in output.readers:
        served = reader.node.origin == () and reader.node.op == "Identity"
        users += list(reader.node.outputs[0].readers) if served else [reader]
    one = len({user.node.name for user in users}) == 1
    if not one or any(input_kind(user) != "scope" for user in users):
        return False
    return kind == "shared" or (kind == "writeable" and on_one_path(output))


def on_one_path(output: OutputAnchor) -> bool:
    """Whether nobody else reads the memory, up to where it is made."""
    node = output.node
    if len(output.readers) > 1:
        return False
    if node.op in DATA:
        return node.graph is not None and node.graph.is_root
    reuse = output.desc.reuse_input
    if reuse is None or not names_matched(node, reuse):
        return True
    feed = node.inputs[reuse].source
    return feed is not None and on_one_path(feed)


# ---- properties ---------------------------------------------------------------------------------


def handled(graph: Graph) -> Graph:
    """A graph after the pass."""
    return ge_core.compile(graph, level="O0", pipeline=PASS, target="ascend", prove=False).graph


def check(graph: Graph) -> None:
    """What must be true after one run, and after two."""
    once = handled(clone(graph))
    assert [] == list(forbidden(once))
    again = handled(clone(once))
    assert structural_hash(once) == structural_hash(again)


@settings(max_examples=30)
@given(graphs(WILD))
def test_no_reader_is_left_where_it_must_not_stand(graph: Graph) -> None:
    """With scribblers on anything, and stores into what the graph's caller owns."""
    check(graph)


@pytest.mark.parametrize("seed", range(20))
def test_two_runs_are_one(seed: int) -> None:
    """Nothing that the pass puts in is taken out by the next run, nor is anything put in twice."""
    check(random_graph(seed, WILD))


def with_a_riddle(seed: int) -> Graph:
    """A random graph with one node of which nobody can tell what it allows."""
    graph = random_graph(seed)
    first = next(node for node in graph.nodes if node.op == "Data")
    graph.set_attr(first, "_parent_node_index", 0)
    return graph


def test_copies_that_went_are_asked_no_more() -> None:
    """Two copies of one value: the first goes, the second stands before a store."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    early = b.op("Exp", b.op("Identity", act, name="first"))
    stored = b.op("Assign", b.op("Identity", act, name="second"), early, reuse_input=0)
    b.net_output(stored)
    left = [node.name for node in handled(b.graph).nodes]
    assert "first" not in left
    assert "second" not in left


CASES = sorted((Path(__file__).parents[3] / "tests/cases/rw_conflict").glob("rw-0*.json"))
NEVER_PROVED = {
    "rw-007-inner-input-with-bad-parent-slot": "an inner input stands for nothing",
    "rw-014-in-place-chains-into-scribbler": "a graph input may be used up, as in GE",
    "rw-023-query-variable-scope-write": "a variable's only use may use it up, as in GE",
    "rw-025-query-packed-concat-names-match": "a packed concat whose operands lie elsewhere",
    "rw-028-query-branches-disagree": "one branch stores, the other destroys",
}


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_case_graphs_are_proved(path: Path) -> None:
    """What the pass puts in makes graphs right that would not be without it."""
    document = json.loads(path.read_text())["graph"]
    graph = read_graph(document, tolerant=True)
    result = ge_core.compile(graph, level="O0", pipeline=PASS, target="ascend")
    assert result.proof is not None
    assert result.proof.ok is (path.stem not in NEVER_PROVED)


RICH = GraphKnobs(nodes=18, moves=45, rare=tuple(RARE))


@pytest.mark.parametrize("seed", [3001, 3005, 3023, 5012])
@pytest.mark.parametrize("streams", [1, 2])
def test_a_second_run_does_not_even_touch_the_graph(seed: int, streams: int) -> None:
    """What is asked about changes nothing, though the answer be no."""
    once = handled(random_graph(seed, replace(RICH, streams=streams)))
    again = ge_core.compile(once, level="O0", pipeline=PASS, target="ascend", prove=False)
    assert [False] == [run.changed for run in again.passes]


@pytest.mark.parametrize("many", [False, True])
def test_what_only_the_listing_ordered_is_ordered_by_edges(many: bool) -> None:
    """A reader that comes to stand beside a writer is made to come before it."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    copy = b.op("Identity", act, name="copy")
    early = [b.op("Exp", copy, name=f"early{at}") for at in range(1 + many)]
    stored = b.op("Assign", act, b.data("y"), name="store", reuse_input=0)
    b.net_output(stored, *early)
    graph = handled(b.graph)
    assert graph.find("copy") is None
    assert [out.node.name for out in early] == [n.name for n in graph.node("store").control_inputs]
