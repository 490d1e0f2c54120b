"""Random graphs: what is right is accepted, however it is written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.ir import Graph, clone
from ge_core.memory import Plan
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.proof import Rebase, verify_compile
from ge_core.proof.algebra import Algebra
from ge_core.proof.intervals import IntervalMap
from ge_core.tasks import generate_tasks
from ge_core.testing import DrawnChoices, GraphKnobs, disjoint_plan, random_graph

OPS = OpRegistry()
register_builtin_ops(OPS)

knobs = st.builds(
    GraphKnobs,
    nodes=st.integers(1, 14),
    streams=st.integers(1, 3),
    writers=st.booleans(),
    control_flow=st.booleans(),
    joins=st.booleans(),
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A valid graph from GE with every memory effect there is."""
    return random_graph(DrawnChoices(draw), draw(knobs))


@settings(max_examples=120)
@given(graphs(), st.booleans(), st.booleans())
def test_a_plan_in_which_nothing_shares_bytes_holds(
    graph: Graph, in_place: bool, listed: bool
) -> None:
    """Every graph in disjoint memory computes what it computes, with a task list or without."""
    plan = disjoint_plan(graph, OPS, while_in_place=in_place)
    tasks = None if listed else generate_tasks(graph, OPS, plan)
    assert verify_compile(graph, clone(graph), plan, tasks, ops=OPS).violations == ()


@settings(max_examples=60)
@given(graphs())
def test_a_graph_without_a_plan_holds(graph: Graph) -> None:
    """Without a plan every tensor has memory of its own; views and calls still hand it on."""
    nothing = Plan(unplanned=[tensor.name for tensor in disjoint_plan(graph, OPS).tensors])
    assert verify_compile(graph, clone(graph), nothing, None, ops=OPS).violations == ()
    rebase = Rebase(clone(graph), clone(graph), "p")
    plan = disjoint_plan(graph, OPS)
    found = verify_compile(graph, clone(graph), plan, None, ops=OPS, rebases=[rebase])
    assert found.violations == ()


@settings(max_examples=60)
@given(graphs())
def test_names_mean_nothing(graph: Graph) -> None:
    """A graph whose nodes have other names, but the same origins, is the same."""
    renamed = clone(graph)
    for node in list(renamed.all_nodes()):
        if OPS.kind(node) not in ("data", "variable", "net_output"):
            # A pass that rebuilds a node gives it a new name and says where it comes from.
            renamed.set_origin(node, (node.name,))
            _rename(renamed, node.name, f"{node.name}'")
    plan = disjoint_plan(renamed, OPS)
    tasks = generate_tasks(renamed, OPS, plan)
    assert verify_compile(graph, renamed, plan, tasks, ops=OPS).violations == ()


def _rename(graph: Graph, old: str, new: str) -> None:
    node = graph.node(old)
    del graph.root._shared.names[old]
    node.name = new
    graph.root._shared.names[new] = node


@settings(max_examples=40)
@given(graphs())
def test_the_answer_is_the_same_every_time(graph: Graph) -> None:
    """Two proofs of one compile find the same, in the same order and words."""
    plan = disjoint_plan(graph, OPS)
    one = [tensor for tensor in plan.tensors if tensor.pool == "HBM"]
    if len(one) > 1:
        # Something to find: the last tensor lies on the first.
        at = plan.tensors.index(one[-1])
        plan.tensors[at] = replace(one[-1], offset=one[0].offset)
    answers = [verify_compile(graph, clone(graph), plan, None, ops=OPS) for _ in range(2)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("streams", [1, 4])
def test_work_is_in_proportion_to_the_graph(streams: int) -> None:
    """Twice the nodes are at most about twice the evaluations and pieces of memory."""
    counts: list[int] = []
    for size in (1_500, 3_000):
        graph = random_graph(7, GraphKnobs(nodes=size, streams=streams, control_flow=False))
        plan = disjoint_plan(graph, OPS)
        tasks = generate_tasks(graph, OPS, plan)
        work = [0]
        run, pieces = Algebra.run, IntervalMap.pieces

        def counted_run(*given: object, work: list[int] = work, run: object = run) -> object:
            work[0] += 1
            return run(*given)  # type: ignore[operator]

        def counted_pieces(
            *given: object, work: list[int] = work, pieces: object = pieces
        ) -> object:
            found = pieces(*given)  # type: ignore[operator]
            work[0] += len(found)
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Algebra, "run", counted_run)
            patch.setattr(IntervalMap, "pieces", counted_pieces)
            assert verify_compile(graph, clone(graph), plan, tasks, ops=OPS).ok
        counts.append(work[0])
    assert counts[1] < 2.5 * counts[0]
