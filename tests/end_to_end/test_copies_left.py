"""O4 leaves no copy that could go: compared with a search over everything, by the proof alone."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.ir import Graph, clone
from ge_core.session.result import Result
from ge_core.testing import GraphKnobs, random_graph
from tests.end_to_end.campaign import knobs, options
from tests.end_to_end.oracle import COPIES, Oracle, size

MOST = 8
"""Copies of a graph that all sets are searched of."""
SMALL, LARGE = 200, 60
CAMPAIGN = 4000


def small(seed: int) -> GraphKnobs:
    """Few nodes, so that most graphs can be searched; joins are another pass's business."""
    return knobs(seed, nodes=6, joins=False, rare=_rare(seed))


def large(seed: int) -> GraphKnobs:
    """More copies than can be searched."""
    return knobs(seed, nodes=16, moves=45, joins=False, rare=_rare(seed))


def _rare(seed: int) -> tuple[str, ...]:
    # Values that lie side by side are about places, and the oracle gives each its own.
    return tuple(name for name in knobs(seed).rare if name != "collectives") or ("order",)


def compiled(graph: Graph, seed: int) -> Result:
    """What O4 makes of it, whatever that does to the peak."""
    lent = options(seed, graph)
    return ge.compile(
        clone(graph), level="O4", options=lent, assigner="fast", objective="copies", prove=False
    )


def is_shared(graph: Graph) -> bool:
    """Whether a subgraph has several callers: to O4 it stands for all its runs at once."""
    return any(len(part.callers) > 1 for part in graph.all_graphs())


def too_few(seed: int) -> str | None:
    """Whether O4 removes fewer bytes of copies than could be; None where it doesn't."""
    graph = random_graph(seed, small(seed))
    if is_shared(graph):
        return None
    result = compiled(graph, seed)
    assert result.kernel is not None
    oracle = Oracle(graph, graph, result.kernel.ops, options(seed, graph))
    copies = oracle.copies()
    if not 0 < len(copies) <= MOST:
        return None
    gone = [n for n in graph.all_nodes() if n.op in COPIES and result.graph.find(n.name) is None]
    removed, most = sum(map(size, gone)), oracle.most_bytes(copies)
    return None if removed >= most else f"seed {seed}: {removed} of {most} bytes removed"


def could_go(seed: int, facts: GraphKnobs) -> list[str]:
    """Copies that O4 left in a graph and that could go, one by one."""
    graph = random_graph(seed, facts)
    if is_shared(graph):
        return []
    result = compiled(graph, seed)
    assert result.kernel is not None
    oracle = Oracle(graph, result.graph, result.kernel.ops, options(seed, graph))
    return [
        f"seed {seed}: {node.op} {node.name}, {_said(result, node.name)}"
        for node in oracle.copies()
        if size(node) and oracle.may_go([node])
    ]


def _said(result: Result, name: str) -> str:
    final = result.remarks.final(name)
    return "of which nothing is said" if final is None else f"{final.code}: {final.reason}"


@pytest.mark.parametrize("first", range(0, SMALL, 20))
def test_as_many_bytes_go_as_a_search_finds(first: int) -> None:
    """Of graphs with at most eight copies, over all sets of them."""
    found = [too_few(seed) for seed in range(first, first + 20)]
    assert [] == [text for text in found if text is not None]


@pytest.mark.parametrize("first", range(0, LARGE, 10))
def test_no_copy_that_is_left_could_go(first: int) -> None:
    """Of larger graphs, one by one."""
    assert [] == [t for seed in range(first, first + 10) for t in could_go(seed, large(seed))]


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SMALL, CAMPAIGN, 40))
def test_as_many_bytes_go_in_the_campaign(first: int) -> None:
    """The same for many more."""
    found = [too_few(seed) for seed in range(first, first + 40)]
    assert [] == [text for text in found if text is not None]


@pytest.mark.soak
@pytest.mark.parametrize("first", range(LARGE, CAMPAIGN, 40))
def test_no_copy_could_go_in_the_campaign(first: int) -> None:
    """The same for many more."""
    assert [] == [t for seed in range(first, first + 40) for t in could_go(seed, large(seed))]
