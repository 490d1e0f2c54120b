"""Lives in the listed order, against brute force on graphs without nesting, and at boundaries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import AliasClasses, Life, Liveness
from ge_core.ir import GraphBuilder
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.testing.random_graphs import GraphKnobs, random_graph

OPS = OpRegistry()
register_builtin_ops(OPS)


@given(st.integers(0, 10_000))
def test_lives_cover_exactly_the_accesses(seed: int) -> None:
    """From the first producer to the last access; inputs from the start, results to the end."""
    graph = random_graph(seed, GraphKnobs(nodes=14, control_flow=False))
    lives = Liveness(graph, OPS)
    classes = AliasClasses(graph, OPS)
    for node in graph.nodes:
        for output in node.outputs:
            touched: list[int] = []
            for member in classes.members(output):
                touched.append(lives.position(member.node))
                kind = OPS.kind(member.node)
                if kind in ("data", "constant", "variable"):
                    touched.append(0)
                if kind in ("constant", "variable", "net_output"):
                    touched.append(lives.end)
            assert Life(min(touched), max(touched)) == lives.life(output)


@given(st.integers(0, 10_000))
def test_the_peak_is_the_largest_sum_of_live_sizes(seed: int) -> None:
    """Counted position by position."""
    graph = random_graph(seed, GraphKnobs(nodes=14))
    lives = Liveness(graph, OPS)
    totals = [0] * (lives.end + 1)
    for root in lives.classes.classes():
        life = lives.life(root)
        for at in range(life.first, life.last + 1):
            totals[at] += lives.size(root) or 0
    assert (max(totals), totals.index(max(totals))) == lives.peak()


def test_what_a_body_reads_from_outside_lives_until_the_loop_is_done() -> None:
    """A captured tensor is needed in every turn; a turn's own values are not."""
    build = GraphBuilder(source="onnx")
    trips, go, start, seen = (build.op("Relu", build.data(n), name=f"v_{n}") for n in "abcd")
    body = build.subgraph("b")
    body.data("b/i")
    cond, slot, captured = body.data("b/c"), body.data("b/s"), body.data("b/k")
    own = body.op("Add", slot, captured, name="b/own")
    last = body.op("Exp", own, name="b/last")
    body.net_output(cond, last)
    loop = build.op(
        "Loop", trips, go, start, seen, name="loop", subgraphs={"body": body}, attrs={"captured": 1}
    )
    build.net_output(loop)
    lives = Liveness(build.graph, OPS)
    done = lives.done(build.graph.node("loop"))
    assert lives.position(build.graph.node("b/NetOutput")) == done
    assert done == lives.life(seen).last
    assert lives.life(own).last < done
    assert lives.end == lives.life(loop).last


def test_a_shared_subgraph_s_values_live_from_the_first_call_to_the_last() -> None:
    """They are needed in every run of it."""
    build = GraphBuilder()
    sub = build.subgraph("g")
    inner = sub.op("Relu", sub.data("g/d"), name="g/r")
    sub.net_output(sub.op("Exp", inner, name="g/e"))
    x = build.data("x")
    for name in ("one", "other"):
        build.op("PartitionedCall", x, name=name, subgraphs={"f": sub})
    lives = Liveness(build.graph, OPS)
    first, last = (lives.position(build.graph.node(name)) for name in ("one", "other"))
    assert lives.life(inner).first == first
    assert lives.life(inner).last >= last


def test_sizes_cover_all_members() -> None:
    """A task-free join's memory is as large as the join; an unknown size makes it unknown."""
    build = GraphBuilder()
    parts = [build.op("Relu", build.data(f"x{at}", (rows, 4))) for at, rows in enumerate((2, 3))]
    marks = {"_no_padding_continuous_input": True, "_output_reuse_input": True}
    build.op("ConcatD", *parts, shape=(5, 4), attrs=marks)
    unknown = build.op("Foo", parts[0], name="u", shape=(-1,))
    lives = Liveness(build.graph, OPS)
    assert [80, 80, None] == [lives.size(a) for a in (*parts, unknown)]


def test_lives_overlap_where_they_share_a_position() -> None:
    """Both ends belong to a life."""
    assert Life(1, 3).overlaps(Life(3, 5)) and Life(3, 5).overlaps(Life(1, 3))
    assert not Life(1, 2).overlaps(Life(3, 5))
