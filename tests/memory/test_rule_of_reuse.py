"""The rule of reuse on one stream and on several, against reachability computed the plain way."""

from __future__ import annotations

import random
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor
from ge_core.memory import Judge, build_problem
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.targets import GENERIC

OPS = OpRegistry()
register_builtin_ops(OPS)
JOIN = {
    "_no_task": True,
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}


def flat_graph(seed: int, streams: int) -> Graph:
    """A flat graph: ordinary nodes, views, task-free joins, inputs, control edges, NoOps."""
    rng = random.Random(seed)
    build = GraphBuilder()
    pool = [build.data("in0", (16,), attrs={"stream_id": -1})]
    joinable: list[OutputAnchor] = []
    for number in range(rng.randrange(3, 14)):
        stream = {"stream_id": rng.randrange(streams)}
        control = [rng.choice(pool)] if rng.random() < 0.3 else []
        kind = rng.random()
        name = f"n{number}"
        if kind < 0.15:
            pool.append(
                build.op("Reshape", rng.choice(pool), name=name, reuse_input=0, attrs=stream)
            )
        elif kind < 0.25 and len(joinable) > 1:
            a, b = joinable.pop(), joinable.pop()
            build.op("ConcatD", a, b, name=name, shape=(32,), attrs={**JOIN, **stream})
            pool.append(build.graph.node(name).outputs[0])
        elif kind < 0.32:
            noop = build.node("NoOp", name=name, outputs=[], control=control, attrs=stream)
            build.graph.add_control(
                noop, build.node("Gen", name=f"g{number}", shape=(16,)).outputs[0].node
            )
        else:
            feeds = [rng.choice(pool) for _ in range(rng.randrange(3))]
            made = build.op("Foo", *feeds, name=name, shape=(16,), control=control, attrs=stream)
            pool.append(made)
            joinable.append(made)
    build.net_output(rng.choice(pool))
    return build.graph


class Plainly:
    """The rule of a flat graph, from its words: reachability by search, accesses by aliases."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = list(graph.nodes)
        self.runs = {node: self._runs(node) for node in self.nodes}
        self.after: dict[Node, set[Node]] = {}
        last: dict[int, Node] = {}
        streams = {node.stream_id for node in self.nodes if self.runs[node]}
        follow: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for earlier in (*node.in_nodes, *node.control_inputs):
                if earlier.op != "Data":
                    follow[earlier].append(node)
            if self.runs[node] or (self._keeps_place(node) and node.stream_id in streams):
                if node.stream_id in last:
                    follow[last[node.stream_id]].append(node)
                last[node.stream_id] = node
        for node in reversed(self.nodes):
            found: set[Node] = set()
            for other in follow[node]:
                found |= {other} | self.after[other]
            self.after[node] = found

    @staticmethod
    def _runs(node: Node) -> bool:
        taskless = node.op in ("Data", "NetOutput", "NoOp", "Reshape")
        return not taskless and not node.attrs.get("_no_task")

    @staticmethod
    def _keeps_place(node: Node) -> bool:
        named = node.op == "NoOp" and "stream_id" in node.attrs
        return named or bool(node.attrs.get("_keeps_stream_place"))

    def names(self, output: OutputAnchor) -> set[OutputAnchor]:
        """What covers the same bytes: views of it, joins it is an operand of, and theirs."""
        found = {output}
        grown = True
        while grown:
            grown = False
            for node in self.nodes:
                covers = node.op == "Reshape" or node.attrs.get("_no_task")
                feeds = [anchor.source for anchor in node.inputs]
                if covers and node.outputs[0] not in found and any(f in found for f in feeds):
                    found.add(node.outputs[0])
                    grown = True
        return found

    def accesses(self, output: OutputAnchor) -> tuple[set[object], set[object]]:
        """(all accesses, writers); "start" and "end" stand for the caller's."""
        names = self.names(output)
        writers: set[object] = {output.node if self.runs[output.node] else "start"}
        touched: set[object] = set(writers)
        for name in names:
            for reader in name.readers:
                if self.runs[reader.node]:
                    touched.add(reader.node)
                elif reader.node.op == "NetOutput":
                    touched.add("end")
                    writers.add("start")
        if output.node.op == "Data":
            touched.add("end")
        return touched | writers, writers

    def reaches(self, a: object, b: object) -> bool:
        """Whether one access comes before another."""
        if "end" in (a, b) or "start" in (a, b):
            return a != b and (a == "start" or b == "end")
        assert isinstance(a, Node) and isinstance(b, Node)
        return b in self.after[a]

    def may_share(self, a: OutputAnchor, b: OutputAnchor) -> bool:
        """Every access of the one reaches every writer of the other, one way or the other way."""
        (all_a, writers_a), (all_b, writers_b) = self.accesses(a), self.accesses(b)
        return all(self.reaches(x, w) for x, w in product(all_a, writers_b)) or all(
            self.reaches(x, w) for x, w in product(all_b, writers_a)
        )


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_relation_is_the_rule(seed: int, streams: int) -> None:
    """For every pair of separately written tensors the answer is that of plain reachability."""
    graph = flat_graph(seed, streams)
    problem, facts = build_problem(graph, OPS, GENERIC)
    judge, plainly = Judge(problem, facts), Plainly(graph)
    origins = [
        output
        for node in graph.nodes
        for output in node.outputs
        if plainly.runs[node] or node.op == "Data"
    ]
    for a, b in combinations(origins, 2):
        if facts.named()[repr(a)].cluster != facts.named()[repr(b)].cluster:
            assert judge(repr(a), repr(b))[0] == plainly.may_share(a, b), (a, b)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_times_of_several_streams_leave_no_conflict_out(seed: int, streams: int) -> None:
    """Buffers that interfere by their clocks overlap in `first` .. `last` too."""
    problem, _ = build_problem(flat_graph(seed, streams), OPS, GENERIC)
    if problem.order is None:
        return
    for a, b in combinations(problem.buffers, 2):
        assert a.clock is not None and b.clock is not None
        if problem.order.interferes(a.clock, b.clock):
            assert a.first <= b.last and b.first <= a.last


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_what_is_surely_in_use_at_once_interferes(seed: int, streams: int) -> None:
    """The bound of several streams counts only buffers that stand in each other's way."""
    problem, _ = build_problem(flat_graph(seed, streams), OPS, GENERIC)
    if problem.order is None:
        return
    alone = [c for c in problem.clusters if len(c.pieces) == 1]
    for a, b in combinations(alone, 2):
        one, other = a.pieces[0][1].clock, b.pieces[0][1].clock
        assert one is not None and other is not None
        sure = any(
            max(x[0], y[0]) <= min(x[1], y[1]) for x, y in zip(one.sure, other.sure, strict=True)
        )
        if sure:
            assert problem.order.interferes(one, other), (a, b)


def test_a_data_node_carries_no_order() -> None:
    """A path through an input that never runs orders nothing."""
    build = GraphBuilder()
    first = build.op("Relu", name="first", shape=(16,))
    data = build.data("in0", (16,), attrs={"stream_id": -1})
    build.graph.add_control(first.node, data.node)
    build.op("Relu", data, name="second", attrs={"stream_id": 1})
    problem, facts = build_problem(build.graph, OPS, GENERIC)
    assert not Judge(problem, facts)("first:0", "second:0")[0]


def test_a_task_free_node_hands_on_what_it_waits_for() -> None:
    """Its reader waits for its producers. Where its task went late, so does what follows it."""
    build = GraphBuilder()
    old = build.op("Relu", name="old", shape=(64,), attrs={"stream_id": 0})
    a = build.op("Relu", old, name="a", shape=(32,), attrs={"stream_id": 0})
    b = build.op("Gen", name="b", shape=(32,), attrs={"stream_id": 1})
    join = build.op("ConcatD", a, b, name="cat", shape=(64,), attrs={**JOIN, "stream_id": 2})
    build.op("Gen", name="beside", shape=(64,), attrs={"stream_id": 2})
    build.op("Gen", name="elsewhere", shape=(64,), attrs={"stream_id": 3})
    build.op("Relu", join, name="reader", shape=(8,), attrs={"stream_id": 2})
    for place in (False, True):
        build.graph.set_attr(join.node, "_keeps_stream_place", place)
        judge = Judge(*build_problem(build.graph, OPS, GENERIC))
        assert place == judge("beside:0", "old:0")[0]
        assert not judge("elsewhere:0", "old:0")[0]
        assert judge("reader:0", "old:0")[0]
