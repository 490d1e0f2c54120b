"""Places in range, large enough, aligned; runs that are runs; pools by memory type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ge_core.ir import Graph, GraphBuilder, TensorDesc
from ge_core.memory import Plan, PlanTensor, PlanWorkspace, PoolTotals, Run, Strided
from ge_core.proof import ProofResult
from ge_core.targets import Target

Prove = Callable[..., ProofResult]
Planned = Callable[..., Plan]


def small() -> Graph:
    """x -> a -> b -> output."""
    build = GraphBuilder()
    a = build.op("Mul", build.data("x"), name="a")
    build.net_output(build.op("Mul", a, name="b"))
    return build.graph


def told(result: ProofResult) -> list[tuple[str, str, str]]:
    """(node, expected, found) of the layout violations."""
    return [(v.node, v.expected, v.found) for v in result.violations if v.check == "layout"]


def changed(plan: Plan, name: str, **facts: object) -> Plan:
    """The plan with facts of one tensor changed."""
    tensors = [replace(t, **facts) if t.name == name else t for t in plan.tensors]  # type: ignore[arg-type]
    return replace(plan, tensors=tensors)


def test_a_place_behind_the_end_of_its_pool_is_found(prove: Prove, planned: Planned) -> None:
    """Every byte of a tensor lies inside its pool."""
    plan = planned(small())
    pools = {"HBM": replace(plan.pools["HBM"], bytes=plan.pools["HBM"].bytes - 1)}
    plan = replace(plan, pools=pools)
    assert told(prove(small(), plan=plan)) == [
        ("b:0", "a place inside HBM, up to 192", "191 bytes")
    ]


def test_a_pool_that_does_not_exist_is_found(prove: Prove, planned: Planned) -> None:
    """A tensor's pool must be one of the plan's."""
    plan = replace(planned(small()), pools={})
    assert {found for _, _, found in told(prove(small(), plan=plan))} == {"no such pool"}


def test_too_few_bytes_are_found(prove: Prove, planned: Planned) -> None:
    """A place holds all the data that the description says."""
    plan = changed(planned(small()), "a:0", bytes=32)
    assert ("a:0", "64 bytes", "32") in told(prove(small(), plan=plan))


def test_rows_over_one_another_are_found(prove: Prove, planned: Planned) -> None:
    """A pitch smaller than the row makes rows overlap."""
    plan = changed(planned(small()), "a:0", strided=Strided(16, 8, 4))
    assert ("a:0", "rows apart from each other", str(Strided(16, 8, 4))) in told(
        prove(small(), plan=plan)
    )


@pytest.mark.parametrize(("offset", "ok"), [(256, True), (260, False)])
def test_heads_of_buffers_are_aligned(
    prove: Prove, planned: Planned, offset: int, ok: bool
) -> None:
    """The target's alignment holds for every buffer; without a target none is asked for."""
    plan = planned(small(), {"b:0": offset})
    target = Target("t", align_bytes=64)
    assert prove(small(), plan=plan).ok
    expected = [] if ok else [("b:0", "an offset aligned to 64", "260")]
    assert told(prove(small(), plan=plan, target=target)) == expected


def test_pieces_of_a_run_need_no_alignment(prove: Prove, planned: Planned) -> None:
    """Operands of a task-free join lie where the join needs them, not on buffer boundaries."""
    build = GraphBuilder()
    parts = [build.op("Relu", build.data(f"x{at}", (6,)), name=f"p{at}") for at in range(2)]
    marks = {"_no_task": True, "_no_padding_continuous_input": True, "_output_reuse_input": True}
    join = build.op("ConcatD", *parts, name="join", shape=(12,), attrs={"concat_dim": 0, **marks})
    build.net_output(build.op("Mul", join, name="reader"))
    plan = planned(build.graph, {"p0:0": 1024, "p1:0": 1048, "join:0": 1024})
    assert prove(build.graph, plan=plan, target=Target("t", align_bytes=64)).ok


def test_scratch_is_aligned_and_inside_its_pool(prove: Prove, planned: Planned) -> None:
    """Scratch areas obey the same rules as tensors."""
    plan = planned(small())
    target = Target("t", align_bytes=64)
    for offset, expected in (
        (192, []),
        (200, [("b:ws0", "an offset aligned to 64", "200")]),
        (1024, [("b:ws0", "a place inside HBM, up to 1040", "256 bytes")]),
    ):
        area = PlanWorkspace((), "b", 0, "HBM", offset, 16)
        pools = {"HBM": replace(plan.pools["HBM"], bytes=256)}
        made = replace(plan, workspace=[area], pools=pools)
        assert told(prove(small(), plan=made, target=target)) == expected


def test_members_of_a_run_keep_their_distance(prove: Prove, planned: Planned) -> None:
    """A run's members lie where the run says, in one pool."""
    plan = planned(small())
    for delta, expected in ((64, []), (128, [("b:0", "HBM 192, in run r", "HBM 128")])):
        made = changed(plan, "a:0", run=Run("r", 0))
        made = changed(made, "b:0", run=Run("r", delta))
        assert told(prove(small(), plan=made)) == expected


def test_memory_types_are_pools(prove: Prove, planned: Planned) -> None:
    """A tensor of a special memory type lies in the pool of that name, others do not."""
    build = GraphBuilder()
    desc = TensorDesc.make("float32", (1, 16), mem_type="P2P")
    a = build.node("Mul", build.data("x"), name="a", outputs=[desc]).outputs[0]
    build.net_output(build.op("Mul", a, name="b", outputs=[TensorDesc.make()]))
    graph = build.graph
    assert told(prove(graph, {"a:0": ("P2P", 0)})) == []
    assert told(prove(graph)) == [("a:0", "memory of type P2P", "pool HBM")]
    assert told(prove(graph, {"a:0": ("P2P", 0), "b:0": ("P2P", 64)})) == [
        ("b:0", "memory of type HBM", "pool P2P")
    ]


def test_a_pool_over_its_capacity_is_found(prove: Prove, planned: Planned) -> None:
    """A plan fits the target."""
    target = Target("t", align_bytes=64, pools={"HBM": 128})
    assert told(prove(small(), target=target)) == [("HBM", "at most 128 bytes", "192")]


def test_a_place_of_nothing_and_a_second_place_are_found(prove: Prove, planned: Planned) -> None:
    """A plan is for this graph: one place per tensor, none for others."""
    plan = planned(small())
    stray = PlanTensor((), "gone", 0, "HBM", 0, 64)
    assert told(prove(small(), plan=replace(plan, tensors=[*plan.tensors, stray]))) == [
        ("gone:0", "a tensor of the graph", "no such tensor")
    ]
    twice = replace(plan, tensors=[*plan.tensors, plan.tensors[-1]])
    assert told(prove(small(), plan=twice)) == [
        ("plan", "one place per tensor", "two places for one")
    ]


def test_a_tensor_that_the_plan_forgot_is_found(prove: Prove, planned: Planned) -> None:
    """What has no place must be listed as unplanned; then it has memory of its own."""
    plan = planned(small())
    rest = [tensor for tensor in plan.tensors if tensor.name != "a:0"]
    assert told(prove(small(), plan=replace(plan, tensors=rest))) == [
        ("a:0", "a place, or a mention as unplanned", "neither")
    ]
    assert prove(small(), plan=replace(plan, tensors=rest, unplanned=["a:0"])).ok


@pytest.mark.parametrize("side", ["input", "output"])
def test_packed_members_follow_one_another(prove: Prove, side: str) -> None:
    """Packed inputs and outputs lie in order, each padded to the alignment at most."""
    build = GraphBuilder()
    piece = TensorDesc.make("float32", (6,))
    x = build.data("x", (6,))
    if side == "input":
        parts = [build.node("Mul", x, name=f"p{at}").outputs[0] for at in range(3)]
        attrs = {"continuous_input": True}
        build.net_output(build.op("Add", *parts, name="packed", attrs=attrs))
    else:
        node = build.node(
            "TopK", x, name="p", outputs=[piece] * 3, attrs={"continuous_output": True}
        )
        build.net_output(*(build.op("Mul", out, name=f"r{out.index}") for out in node.outputs))
    names = [f"p{at}:0" if side == "input" else f"p:{at}" for at in range(3)]
    target = Target("t", align_bytes=64)
    base = 1024
    good = {name: base + 64 * at for at, name in enumerate(names)}
    assert told(prove(build.graph, good, target=target)) == []
    apart = {**good, names[2]: base + 256}
    path = "packed" if side == "input" else "p"
    assert told(prove(build.graph, apart, target=target)) == [
        (path, f"{side} 2 right behind 1", "it is not")
    ]


def test_tensors_of_no_bytes_may_lie_anywhere(prove: Prove, planned: Planned) -> None:
    """A tensor without elements overlaps nothing and needs no alignment."""
    build = GraphBuilder()
    empty = build.op("Mul", build.data("x"), name="empty", shape=(0, 4))
    build.net_output(build.op("Mul", empty, name="b", shape=(0, 4)))
    plan = planned(build.graph, {"empty:0": 3, "b:0": 3})
    assert plan.pools["HBM"] == PoolTotals(64, 0, 64, False)
    assert prove(build.graph, plan=plan, target=Target("t", align_bytes=64)).ok
