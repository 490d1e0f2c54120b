"""Whole compiles of random joins and splits: proven, executed, equal to the original."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ge_core
from ge_core.api import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc
from ge_core.testing import DrawnChoices

pytest.importorskip("ge_runtime", reason="executes in the arena of graph-engine-runtime")
pytest.importorskip("ge_memassign", reason="plans with graph-engine-memassign")


def _flat(size: int) -> TensorDesc:
    return TensorDesc.make("int8", (size,))


class _Maker:
    """Graphs of joins, splits, views, copies, calls and branches over small byte tensors."""

    def __init__(self, choices: DrawnChoices) -> None:
        self.pick = choices
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def graph(self) -> Graph:
        b = GraphBuilder()
        pool = [b.data("x", desc=_flat(8)), b.data("y", desc=_flat(12))]
        pool += [b.op("Relu", source, name=self.name("relu")) for source in tuple(pool)]
        self.body(b, pool, self.pick.integer(2, 10), 0)
        results = [self.pick.pick(pool) for _ in range(self.pick.integer(1, 2))]
        b.net_output(*results, b.op("Relu", self.pick.pick(pool), name="late"))
        return b.graph

    def body(self, b: GraphBuilder, pool: list[OutputAnchor], count: int, depth: int) -> None:
        kinds = ["relu", "join", "join", "fresh", "split", "view", "move"]
        if depth < 1:
            kinds += ["PartitionedCall", "If"]
        for _ in range(count):
            kind, source = self.pick.pick(kinds), self.pick.pick(pool)
            size = source.desc.elements or 0
            if kind in ("join", "fresh") and size <= 48:
                parts = [source, *(self.pick.pick(pool) for _ in range(self.pick.integer(0, 2)))]
                if kind == "fresh":
                    parts = [b.op("Relu", part, name=self.name("part")) for part in parts]
                total = sum(part.desc.elements or 0 for part in parts)
                made = b.node("ConcatD", *parts, name=self.name("join"), outputs=[_flat(total)])
            elif kind == "split" and size >= 2:
                halves = [_flat(size // 2), _flat(size - size // 2)]
                made = b.node("SplitD", source, name=self.name("split"), outputs=halves)
            elif kind == "view":
                made = b.node("Reshape", source, name=self.name("view"))
            elif kind == "move":
                made = b.node("TensorMove", source, name=self.name("move"))
            elif kind in ("PartitionedCall", "If"):
                made = self.call(b, kind, source, depth)
            else:
                made = b.node("Relu", source, name=self.name("relu"))
            for axis in ("concat_dim", "split_dim"):
                if made.op in ("ConcatD", "SplitD"):
                    b.graph.set_attr(made, axis, 0)
            pool.extend(made.outputs)

    def call(self, b: GraphBuilder, op: str, source: OutputAnchor, depth: int) -> Node:
        labels = ("f",) if op == "PartitionedCall" else ("then_branch", "else_branch")
        first = 0 if op == "PartitionedCall" else 1
        subs = {}
        for label in labels:
            sub = b.subgraph(self.name("g"))
            seen = sub.data(self.name("d"), index=first, desc=_flat(source.desc.elements or 0))
            pool = [sub.op("Relu", seen, name=self.name("relu")), seen]
            self.body(sub, pool, self.pick.integer(1, 4), depth + 1)
            fitting = [p for p in pool if p.desc.elements == source.desc.elements]
            sub.net_output(self.pick.pick(fitting))
            subs[label] = sub
        switch = [b.op("Relu", source, name=self.name("switch"))] if first else []
        return b.node(
            op,
            *switch,
            source,
            name=self.name("call"),
            outputs=[_flat(source.desc.elements or 0)],
            subgraphs=subs,
        )


@settings(max_examples=100)
@given(
    data=st.data(),
    level=st.sampled_from(("O3", "O4")),
    target=st.sampled_from(("generic", "ascend")),
)
def test_compiles_are_proven_and_compute_the_same(
    data: st.DataObject, level: str, target: str
) -> None:
    """The proof accepts the plan; running it in a poisoned arena gives the original's results."""
    graph = _Maker(DrawnChoices(data.draw)).graph()
    result = ge_core.compile(graph, level=level, target=target, objective="copies")
    assert result.proof is not None and result.proof.violations == ()
    assert [o.name for o in result.check().outputs if not o.bit_exact] == []


@pytest.mark.parametrize(
    "pipeline",
    [
        "ConcatNotaskPass,PackNotaskPass,SplitNotaskPass",
        "PackNotaskPass,SplitNotaskPass",
        "repeat{limit=3}(ConcatNotaskPass,SplitNotaskPass)",
    ],
)
def test_a_split_behind_joins_leaves_their_operands_where_they_are(pipeline: str) -> None:
    """In an order of a user's own, what a join without a task has placed is no part of a split."""
    build = GraphBuilder("root")
    made = build.op("Exp", build.data("x", (1, 128)), name="made")
    half = made.desc.replace(shape=(1, 64), origin_shape=(1, 64))
    split = build.node(
        "SplitD", made, name="split", outputs=[half] * 2, attrs={"num_split": 2, "split_dim": 1}
    )
    first, second = split.outputs
    shared = {"name": "cat", "shape": (1, 128), "attrs": {"concat_dim": 1}}
    cat = build.op("ConcatD", second, first, **shared)
    pack = build.op(
        "Pack",
        *(second, build.op("Relu", first, name="relu")),
        name="pack",
        shape=(2, 1, 64),
        attrs={"axis": 0, "N": 2},
    )
    build.net_output(build.op("Exp", cat, name="a"), build.op("Exp", pack, name="b"))
    result = ge_core.compile(build.graph, level="O4", pipeline=pipeline)
    assert result.proof is not None
    assert () == result.proof.violations
    assert "VIRTUAL_READER" in {remark.code for remark in result.remarks}
    assert result.check().ok
