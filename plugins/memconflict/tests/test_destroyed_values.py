"""Values that are stored or constant and then destroyed: right at every level, and really run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ge_core
from ge_core.api import GraphBuilder, OutputAnchor
from ge_core.session.execution import execute

LEVELS = ("O0", "O1", "O2", "O3", "O4")
SCRIBBLES = {"_input_mutable": True}
REFERENCE = {"reference": True}

Case = Callable[[GraphBuilder, OutputAnchor], list[OutputAnchor]]


def scribbler(b: GraphBuilder, value: OutputAnchor) -> OutputAnchor:
    """An op that destroys its input."""
    return b.op("Neg", value, name="scribbler", attrs=SCRIBBLES)


def stored_variable(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """What a store into a variable hands on is the variable."""
    v = b.op("Variable", shape=(1, 16), name="v")
    return [scribbler(b, b.op("Assign", v, x, name="store", reuse_input=0))]


def view_of_a_stored_variable(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """So is a view of it."""
    v = b.op("Variable", shape=(1, 16), name="v")
    stored = b.op("Assign", v, x, name="store", reuse_input=0)
    return [scribbler(b, b.op("Reshape", stored, name="view", reuse_input=0))]


def stored_temporary(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """The temporary is read by its own name afterwards."""
    act = b.op("Relu", x, name="act")
    first = scribbler(b, b.op("AssignAdd", act, x, name="store", reuse_input=0))
    return [first, b.op("Exp", act, name="late")]


def stored_in_an_arm(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """One arm stores into the caller's variable and destroys what the store hands on."""
    v = b.op("Variable", shape=(1, 16), name="v")
    one, other = b.subgraph("one"), b.subgraph("other")
    mine, given = one.data("one/v", index=1), one.data("one/x", index=2)
    one.net_output(scribbler(one, one.op("Assign", mine, given, name="store", reuse_input=0)))
    other.net_output(other.op("Exp", other.data("other/v", index=1), name="exp"))
    pred = b.data("pred", (), "bool")
    arms = {"then_branch": one, "else_branch": other}
    return [b.op("If", pred, v, x, name="if", outputs=[x.desc], subgraphs=arms)]


def constant(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """A store into a constant is into a copy of it, whatever the store is marked as."""
    k = b.const("k", bytes(64), (1, 16))
    return [k, b.op("Assign", k, x, name="store", reuse_input=0, attrs=REFERENCE)]


def constant_in_a_call(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """Also where the store is inside a call."""
    k = b.const("k", bytes(64), (1, 16))
    g = b.subgraph("g")
    mine, given = g.data("g/k", index=0), g.data("g/x", index=1)
    g.net_output(g.op("Assign", mine, given, name="store", reuse_input=0, attrs=REFERENCE))
    call = b.op("PartitionedCall", k, x, name="call", subgraphs={"f": g})
    return [call, b.op("Exp", k, name="late")]


def one_value_under_two_names(b: GraphBuilder, x: OutputAnchor) -> list[OutputAnchor]:
    """An arm's call is given one value twice, destroys the one and returns the other."""
    inner, one, other = b.subgraph("inner"), b.subgraph("one"), b.subgraph("other")
    kept, used = inner.data("inner/kept", index=0), inner.data("inner/used", index=1)
    scribbler(inner, used)
    inner.net_output(kept)
    mine = one.data("one/x", index=1)
    one.net_output(mine, one.op("PartitionedCall", mine, mine, name="call", subgraphs={"f": inner}))
    same = other.data("other/x", index=1)
    other.net_output(same, other.op("Exp", same, name="exp"))
    pred = b.data("pred", (), "bool")
    arms = {"then_branch": one, "else_branch": other}
    node = b.node("If", pred, x, name="if", outputs=[x.desc, x.desc], subgraphs=arms)
    return [node.outputs[1]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "case",
    [
        stored_variable,
        view_of_a_stored_variable,
        stored_temporary,
        stored_in_an_arm,
        constant,
        constant_in_a_call,
        one_value_under_two_names,
    ],
)
def test_nobody_misses_a_value(case: Case, level: str) -> None:
    """The proof holds, and the arena gives what the original gives."""
    b = GraphBuilder()
    b.net_output(*case(b, b.data("x")))
    result = ge_core.compile(b.graph, level=level, verify_each=True, audit=True)
    result.check_proof()
    for seed in (1, 2):
        assert all(out.bit_exact for out in execute(result, seed=seed, check=True).outputs)
