"""Random graphs full of copies, updates and write-backs: what O4 leaves computes the same."""

from __future__ import annotations

from random import Random

import pytest

import ge_core as ge
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc

from .test_write_backs import differences

SAMPLE = 30
CAMPAIGN = 3_000
CHUNK = 5
SHAPE = (4, 16)
KINDS = ("copy", "copy", "update", "update", "new", "new", "store", "store", "store")
OTHERS = ("add", "read", "view", "grow", "call", "if")
INSIDE = ("new", "copy and store", "new and store", "update", "read")


class _Generator:
    """Makes one graph; whatever it makes has a meaning."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.b = GraphBuilder("stored")
        desc = TensorDesc.make("float32", SHAPE)
        self.variables = [
            self.b.op("Variable", name=f"v{at}", outputs=[desc])
            for at in range(self.draw.randint(1, 2))
        ]
        inputs = [self.b.data(f"x{at}", SHAPE) for at in range(2)]
        self.flag = self.b.data("flag", (), "bool")
        self.known = [*self.variables, *inputs]
        self.own = list(self.variables)
        """What may be written: not the caller's inputs."""

    def graph(self) -> Graph:
        """The graph."""
        for number in range(self.draw.randint(4, 16)):
            self._step(self.draw.choice(KINDS + OTHERS), f"n{number}")
        results = [self.b.op("Neg", self._some(self.known), name=f"r{at}") for at in range(2)]
        self.b.net_output(*results)
        return self.b.graph

    def _some(self, among: list[OutputAnchor]) -> OutputAnchor:
        """One of them, the last ones more often."""
        back = int(self.draw.expovariate(0.5))
        return among[-1 - back] if back < len(among) else self.draw.choice(among)

    def _step(self, kind: str, name: str) -> None:
        one, other, own = self._some(self.known), self._some(self.known), self._some(self.own)
        if kind in ("call", "if"):
            made = self._called(kind, name, own, other)
        elif kind == "store":
            target = self.draw.choice(self.variables)
            made = self.b.op("Assign", target, other, name=name, reuse_input=0)
        elif kind == "grow":
            made = self.b.op("AssignAdd", own, other, name=name, reuse_input=0)
        elif kind == "view":
            made = self.b.op("Reshape", own, name=name, shape=SHAPE, reuse_input=0)
        elif kind == "add":
            made = self.b.op("Add", one, other, name=name)
        else:
            made = _told(self.b, kind, own if kind == "update" else one, other, name)
        self.known.append(made)
        self.own.append(made)

    def _called(self, kind: str, name: str, own: OutputAnchor, other: OutputAnchor) -> OutputAnchor:
        if kind == "call":
            body = self._body(f"{name}_f", self.draw.choice(INSIDE), 0)
            return self.b.op("PartitionedCall", own, other, name=name, subgraphs={"f": body})
        arms = {
            label: self._body(f"{name}_{label}", self.draw.choice(INSIDE), 1)
            for label in ("then_branch", "else_branch")
        }
        desc = TensorDesc.make("float32", SHAPE)
        feeds = self.flag, own, other
        return self.b.op("If", *feeds, name=name, outputs=[desc], subgraphs=arms)

    def _body(self, name: str, kind: str, first: int) -> GraphBuilder:
        inner = self.b.subgraph(name)
        own, other = (inner.data(f"{name}_d{at}", SHAPE, index=first + at) for at in range(2))
        how, _, stores = kind.partition(" and ")
        made = own if how != "copy" else inner.op("TensorMove", own, name=f"{name}_copy")
        if how == "copy":
            how = "update"
        made = _told(inner, how, made, other, f"{name}_made")
        if stores:
            inner.op("Assign", own, made, name=f"{name}_store", reuse_input=0)
        inner.net_output(inner.op("Relu", made, name=f"{name}_result"))
        return inner


def _told(
    b: GraphBuilder, kind: str, one: OutputAnchor, other: OutputAnchor, name: str
) -> OutputAnchor:
    if kind == "copy":
        return b.op("TensorMove", one, name=name)
    if kind == "update":
        attrs = {"reference": True}
        return b.op("ScatterUpdate", one, other, name=name, attrs=attrs, reuse_input=0)
    if kind == "new":
        return b.op("TensorScatterUpdate", one, other, name=name)
    return b.op("Tanh", one, name=name)


def check(seed: int) -> None:
    """One graph: proved, and the same in two steps, each with its own variables."""
    graph = _Generator(seed).graph()
    result = ge.compile(graph, level="O4")
    assert result.proof is not None
    assert result.proof.ok, f"seed {seed}: {result.proof.violations[0]}"
    assert [] == differences(result.original, result, seed), f"seed {seed}"
    assert result.after.total.bytes <= result.before.total.bytes, f"seed {seed}"


@pytest.mark.parametrize("first", range(0, SAMPLE, CHUNK))
def test_a_sample_computes_the_same(first: int) -> None:
    """Whatever has been worked in place, stored ahead or saved; and no more is copied."""
    for seed in range(first, first + CHUNK):
        check(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SAMPLE, CAMPAIGN, 50))
def test_the_campaign_computes_the_same(first: int) -> None:
    """The same for many more."""
    for seed in range(first, min(first + 50, CAMPAIGN)):
        check(seed)
