"""Which bytes are filled where, against a byte-by-byte reckoning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ge_core.api import GraphBuilder, Plan, PlanTensor, TensorDesc
from ge_core.memory import PoolTotals, Strided
from ge_runtime.deaths import find_deaths
from ge_runtime.defaults import default_ops

OPS = default_ops()
NODES, BYTES = 6, 12

_tensors = st.lists(
    st.tuples(
        st.integers(0, BYTES - 1),
        st.integers(0, BYTES),
        st.integers(0, NODES + 1),
        st.integers(0, NODES + 1),
    ),
    max_size=8,
)


def _plan(lives: list[tuple[int, int, int, int]]) -> Plan:
    tensors = [
        PlanTensor((), f"t{at}", 0, "HBM", low, min(size, BYTES - low), life=(min(a, b), max(a, b)))
        for at, (low, size, a, b) in enumerate(lives)
    ]
    return Plan(pools={"HBM": PoolTotals(BYTES, 0, BYTES, False)}, tensors=tensors)


@given(_tensors)
def test_bytes_die_with_the_last_tensor_on_them(lives: list[tuple[int, int, int, int]]) -> None:
    """A byte is filled behind a node where the last of those that are on it by then ends."""
    build = GraphBuilder()
    value = build.data("n1")
    for at in range(2, NODES + 1):
        value = build.op("Relu", value, name=f"n{at}")
    plan = _plan(lives)
    expected = {
        (position, byte)
        for position in range(1, NODES + 1)
        for byte in range(BYTES)
        for on in [[t for t in plan.tensors if t.offset <= byte < t.end and t.life[0] <= position]]
        if on and max(t.life[1] for t in on) == position
    }
    found = {
        (int(name[1:]), byte)
        for (_, name), ranges in find_deaths(build.graph, OPS, plan).at_node.items()
        for _, low, high in ranges
        for byte in range(low, high)
    }
    assert expected == found


def test_pieces_with_gaps_never_die_alone() -> None:
    """Rows of a strided piece lie between others that may be in use: it keeps its whole span."""
    build = GraphBuilder()
    build.op("Relu", build.op("Relu", build.data("n1"), name="n2"), name="n3")
    whole = PlanTensor((), "a", 0, "HBM", 0, 8, life=(1, 2))
    piece = PlanTensor((), "b", 0, "HBM", 2, 4, Strided(2, 4, 2), life=(1, 3))
    plan = Plan(pools={"HBM": PoolTotals(8, 0, 8, False)}, tensors=[whole, piece])
    found = find_deaths(build.graph, OPS, plan).at_node
    assert {((), "n2"): [("HBM", 0, 2)]} == found


def test_an_arm_that_did_not_run_leaves_its_bytes_to_the_end() -> None:
    """What dies in either arm is filled behind the If, unless somebody lives there by then."""
    build = GraphBuilder()
    cond = build.data("cond", (), "bool")
    arms = {}
    for label in ("then_branch", "else_branch"):
        arm = build.subgraph(label)
        arm.net_output(arm.op("Foo", name=f"{label}/foo", outputs=[TensorDesc.make()]))
        arms[label] = arm
    build.net_output(build.op("If", cond, name="if", subgraphs=arms, outputs=[TensorDesc.make()]))
    # Positions: cond 1, if 2, then/foo 3, then/out 4, else/foo 5, else/out 6, NetOutput 7.
    plan = Plan(
        pools={"HBM": PoolTotals(24, 0, 24, False)},
        tensors=[
            PlanTensor(("if",), "then_branch/foo", 0, "HBM", 0, 8, life=(3, 4)),
            PlanTensor(("if",), "else_branch/foo", 0, "HBM", 4, 8, life=(5, 6)),
            PlanTensor((), "if", 0, "HBM", 8, 8, life=(6, 8)),
        ],
    )
    deaths = find_deaths(build.graph, OPS, plan)
    assert {
        (("if",), "then_branch/NetOutput"): [("HBM", 0, 8)],
        (("if",), "else_branch/NetOutput"): [("HBM", 4, 8)],
    } == deaths.at_node
    dead = {byte for _, low, high in deaths.at_end[(), "if"] for byte in range(low, high)}
    assert set(range(8)) == dead
