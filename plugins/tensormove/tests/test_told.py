"""The pass and a plain telling of its rules agree, copy by copy and over whole walks.

`told` says what the rules are; here every copy of thousands of graphs is judged twice, and
where it goes the edges of the graph are compared as well. The package keeps some copies that the
plain telling lets go: `STRICTER` says why, and they are asked about after all of GE's rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

import pytest

import ge_tensormove.delete_pass
from ge_core.api import Graph, GraphBuilder, Node, OpRegistry, clone
from ge_core.memory.conflict_query import LayoutQuery
from ge_core.testing import GraphKnobs, random_graph
from ge_tensormove.rules.listed_order import ListedOrder

from .conftest import OPS, RULES, TYPES
from .test_equivalence import Simulation, disagreement, knobs_of
from .told.facts import Anchor, following
from .told.graphs import random_options, random_removal_graph
from .told.rules import Clash, Verdict, judge
from .told.walk import Deletion, closes_cycle, edges_after, preceding

STRICTER = {
    "R1_FIXED_INSIDE": "what an opaque call hands through may be a constant, or the caller's",
    "R3_OTHER_NAME": "a block or a variable's name is a way to the memory that no edge shows",
    "R3_LISTED_ORDER": "what only the listing orders would change places",
    "R4_BEHIND_VIEW": "a store behind a merge reaches a constant",
    "R5_TWO_PLACES": "a join would need its operand at two places",
}


class Checkers:
    """The registered layout rules, asked about two anchors at a time."""

    def __init__(self, root: Graph, options: Mapping[str, str]) -> None:
        self._root = root
        self._options = options
        self._rules = [rule for rule in RULES if rule.kind != "never"]

    def between(self, copy: Node) -> Clash:
        """Questions about what would be one memory without a copy."""
        sides = copy.inputs[0], copy.outputs[0]
        return lambda one, other, members: self._clash(one, other, members, sides)

    def _clash(
        self, one: Anchor, other: Anchor, members: list[Anchor], sides: tuple[Anchor, Anchor]
    ) -> bool:
        query = LayoutQuery(self._root, OPS, self._options.get, lambda: iter(members), sides)
        for a, b in ((one, other), (other, one)):
            types = TYPES.of(a), TYPES.of(b)
            for rule in self._rules:
                if rule.types[0] not in types[0] or rule.types[1] not in types[1]:
                    continue
                if rule.kind == "always" or rule(a, b, query).code is not None:
                    return True
        return False


class Comparison:
    """Judges every copy a second time while the pass walks, and keeps what differs."""

    def __init__(self, graph: Graph, options: Mapping[str, str]) -> None:
        self.checkers = Checkers(graph, options)
        self.options = options
        self.differences: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.stricter = 0

    def watch(self, node: Node, visit: Callable[[], None], env: Any) -> None:
        """Judge, let the pass judge, compare."""
        if node.op != "TensorMove":
            visit()
            return
        verdict = judge(node, self.options, self.checkers.between)
        if verdict.rule is None and closes_cycle(node, verdict.planned):
            verdict = Verdict("R3", "a planned edge closes a cycle")
        graph = node.graph
        assert graph is not None
        wanted = _edges_to_come(node, verdict) if verdict.rule is None else None
        visit()
        code = "" if node.graph is None else env.remarks.final(node.name).code
        self.counts[verdict.rule or "", code] += 1
        if code in STRICTER:
            self.stricter += 1
        elif (code.split("_")[0] or None) != verdict.rule:
            self.differences.append(f"{node.name}: {verdict.rule} ({verdict.why}), not {code}")
        elif wanted is not None and wanted != _edges(graph):
            self.differences.append(f"{node.name}: {sorted(wanted ^ _edges(graph))}")


def _edges(graph: Graph) -> set[tuple[str, str]]:
    """All edges by name; a control edge beside a data edge says nothing of its own."""
    data = {(str(a.source), str(a)) for node in graph.nodes for a in node.inputs if a.source}
    beside = {(one.name, two.name) for one in graph.nodes for two in one.out_nodes}
    control = {(one.name, two.name) for one in graph.nodes for two in one.control_outputs}
    return data | (control - beside)


def _edges_to_come(copy: Node, verdict: Verdict) -> set[tuple[str, str]]:
    graph = copy.graph
    assert graph is not None
    old, (data, control) = _edges(graph), edges_after(copy, verdict.planned)
    feed = copy.inputs[0].source
    assert feed is not None
    own = {copy.name, str(copy.inputs[0]), *map(str, copy.outputs)}
    found = {edge for edge in old if not own.intersection(edge)}
    beside = {(one.name, two.name) for one in graph.nodes for two in one.out_nodes}
    beside |= {(feed.node.name, reader.node.name) for _, reader in data}
    found |= {(str(source), str(reader)) for source, reader in data}
    found |= {(one.name, two.name) for one, two in control}
    return found - beside


def compared(graph: Graph, options: Mapping[str, str], delete: Any) -> Comparison:
    """Walk the pass over a graph with the second judge beside it."""
    comparison = Comparison(graph, options)
    delete(graph, options, watch=comparison.watch)
    return comparison


def campaign(graphs: Iterable[tuple[int, Graph]], delete: Any) -> Counter[tuple[str, str]]:
    """Compare on many graphs; how often each pair of answers came."""
    counts: Counter[tuple[str, str]] = Counter()
    for seed, graph in graphs:
        found = compared(graph, random_options(Random(seed)), delete)
        assert [] == found.differences, seed
        counts += found.counts
    return counts


def rich(seeds: Iterable[int]) -> Iterable[tuple[int, Graph]]:
    """Graphs full of fine points."""
    return ((seed, random_removal_graph(seed, nodes=4 + seed % 16)) for seed in seeds)


def usual(seeds: Iterable[int]) -> Iterable[tuple[int, Graph]]:
    """Graphs as all tests have them."""
    for seed in seeds:
        knobs = GraphKnobs(nodes=8 + seed % 20, moves=40, guarded=seed % 2 == 0)
        yield seed, random_graph(seed, knobs)


def test_every_copy_is_judged_as_told(delete: Any) -> None:
    """Verdict, rule, and the edges where it goes; all rules have their say."""
    counts = campaign(rich(range(400)), delete)
    assert {"", "R0", "R1", "R2", "R3", "R4", "R5"} == {rule for rule, _ in counts}


def test_copies_of_usual_graphs_are_judged_as_told(delete: Any) -> None:
    """Graphs that have a meaning."""
    assert campaign(usual(range(150)), delete)["", ""] > 100


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_judgement_campaign(part: int, delete: Any) -> None:
    """Many more."""
    campaign(rich(range(1000 + 4000 * part, 1000 + 4000 * (part + 1))), delete)
    campaign(usual(range(1000 + 1000 * part, 1000 + 1000 * (part + 1))), delete)


# ---- whole walks --------------------------------------------------------------------------------


def walked_alike(graph: Graph, options: Mapping[str, str], delete: Any) -> bool:
    """Whether the pass was no stricter; then it must have ended like the plain walk."""
    told = clone(graph)
    if compared(graph, options, delete).stricter:
        return False
    Deletion(told, options, Checkers(told, options).between).run()
    assert {node.name for node in told.all_nodes()} == {node.name for node in graph.all_nodes()}
    for mine, theirs in zip(told.all_graphs(), graph.all_graphs(), strict=True):
        assert _edges(mine) == _edges(theirs)
    return True


def test_whole_walks_end_alike(delete: Any) -> None:
    """Visits come in GE's order, with its looks back."""
    alike = [walked_alike(g, random_options(Random(s)), delete) for s, g in rich(range(500, 650))]
    assert sum(alike) > 130


@pytest.mark.soak
def test_walk_campaign(delete: Any) -> None:
    """Many more."""
    for seed, graph in rich(range(50_000, 56_000)):
        walked_alike(graph, random_options(Random(seed)), delete)


# ---- where the pass is stricter -----------------------------------------------------------------


@pytest.mark.parametrize("seed", [250, 446, 500, 515, 699, 1080, 1396, 1502])
def test_what_only_the_listing_orders_must_stay(
    seed: int, delete: Any, ops: OpRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the rule a node would read something else on one stream in the listed order."""
    chain = ge_tensormove.delete_pass.CHAIN
    found = []
    for rules in (chain, tuple(rule for rule in chain if not isinstance(rule, ListedOrder))):
        monkeypatch.setattr(ge_tensormove.delete_pass, "CHAIN", rules)
        random = Random(seed)
        graph = random_graph(seed, knobs_of(random, 1))
        original = clone(graph)
        inputs = [str(at) for at in range(len(graph.nodes_of("Data"))) if random.random() < 0.4]
        delete(graph, {"ge.exec.inputReuseMemIndexes": ",".join(inputs)})
        runs = (
            disagreement(
                Simulation(ops, seed=turn).run(original),
                Simulation(ops, seed=turn, compiled=True).run(graph),
            )
            for turn in range(3)
        )
        found.append(any(run is not None for run in runs))
    assert [False, True] == found


# ---- many edges at once -------------------------------------------------------------------------


def test_more_than_a_thousand_pairs_are_ordered_through_one_node(delete: Any) -> None:
    """Forty nodes before a copy and forty behind it: one NoOp between them, as GE does it."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"))
    early = [b.op("Exp", b.data(f"e{at}"), name=f"early{at}") for at in range(40)]
    mv = b.op("TensorMove", act, name="mv", control=early)
    late = [b.op("Tanh", mv, name=f"late{at}").node for at in range(40)]
    preceded, followed = preceding(mv.node), following(mv.node)
    assert (41, 40) == (len(preceded), len(followed))
    delete(b.graph)
    (barrier,) = b.graph.nodes_of("NoOp")
    assert {node.name for node in preceded} == {node.name for node in barrier.control_inputs}
    assert late == list(barrier.control_outputs)
    assert [[act]] * 40 == [[port.source for port in node.inputs] for node in late]
