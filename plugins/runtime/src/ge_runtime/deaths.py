"""Which bytes die where: what the plan's lives allow to be filled after the last access.

Positions are the plan's: the expanded listing order, nodes counted from 1. Bytes die with the last
of the tensors that lie on them. What is older than a loop and dies inside it is read in every turn,
so it dies with the loop. Runs are made of pieces that live as long as the whole; a strided piece
therefore never dies on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ge_core.api import CONSTANTS, VARIABLES, Call, Graph, Node, OpRegistry, Plan, listed_order

Place = tuple[Call, str]
Bytes = tuple[str, int, int]
"""Pool, first byte, one past the last."""

_LOOPS: Final = frozenset({"while", "loop", "scan"})
_MAY_NOT_RUN: Final = _LOOPS | {"if", "case"}


@dataclass(slots=True)
class Deaths:
    """Bytes to fill, by place.

    Attributes:
        at_node: bytes whose last access is that of a node instance.
        at_end: bytes that died anywhere in a conditional arm or loop body and are still dead when
            its node has ended, whichever part has run.
    """

    at_node: dict[Place, list[Bytes]] = field(default_factory=dict)
    at_end: dict[Place, list[Bytes]] = field(default_factory=dict)


@dataclass(slots=True)
class _Visit:
    """A node instance with the positions it spans; what it calls lies inside the span."""

    place: Place
    position: int
    end: int
    kind: str
    caller: _Visit | None

    def goes_on(self, born: int) -> bool:
        """Whether it lies in a loop that began after `born`."""
        around = self.caller
        while around is not None and around.position >= born:
            if around.kind in _LOOPS:
                return True
            around = around.caller
        return False


def find_deaths(graph: Graph, ops: OpRegistry, plan: Plan) -> Deaths:
    """Where bytes of the plan's pools die."""
    visits = _visits(graph, ops)
    deaths = Deaths()
    for pool in plan.pools:
        if pool not in (CONSTANTS, VARIABLES):
            _sweep(pool, plan, visits, deaths)
    return deaths


def _visits(graph: Graph, ops: OpRegistry) -> list[_Visit]:
    """Node instances by position. A stack of our own, as calls may nest deeply."""
    visits: list[_Visit] = []
    stack: list[tuple[Call, Iterator[Node], _Visit | None]] = []

    def open_graph(part: Graph, call: Call, owner: _Visit | None) -> None:
        stack.append((call, iter(listed_order(part)), owner))

    open_graph(graph.root, (), None)
    while stack:
        call, nodes, owner = stack[-1]
        node = next(nodes, None)
        if node is None:
            stack.pop()
            if owner is not None:
                owner.end = len(visits)
            continue
        at = len(visits) + 1
        visit = _Visit((call, node.name), at, at, ops.kind(node), owner)
        visits.append(visit)
        for inner in reversed(list(node.subgraphs.values())):
            open_graph(inner, (*call, node.name), visit)
    return visits


def _sweep(pool: str, plan: Plan, visits: list[_Visit], deaths: Deaths) -> None:
    """Walk the positions, keeping for every stretch of the pool how long it is in use."""
    lives = [
        (t.life[0], t.life[1], t.offset, t.end, t.strided is None)
        for t in plan.tensors
        if t.pool == pool and t.end > t.offset
    ]
    if not lives:
        return
    edges = np.unique(np.array([x for life in lives for x in (life[2], life[3])], np.int64))
    expiry = np.full(len(edges) - 1, -1, np.int64)
    spans = [
        (int(np.searchsorted(edges, low)), int(np.searchsorted(edges, high)))
        for _, _, low, high, _ in lives
    ]
    births: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for at, (first, last, _, _, whole) in enumerate(lives):
        births.setdefault(first, []).append(at)
        if whole:
            ends.setdefault(last, []).append(at)
    closing: dict[int, list[_Visit]] = {}
    for visit in visits:
        if visit.kind in _MAY_NOT_RUN:
            closing.setdefault(visit.end, []).append(visit)
    log: list[tuple[int, int, int]] = []
    for at in births.get(0, ()):
        _extend(expiry, spans[at], lives[at][1])
    for visit in visits:
        for at in births.get(visit.position, ()):
            _extend(expiry, spans[at], lives[at][1])
        for at in ends.get(visit.position, ()):
            for low, high in _stretches(expiry, spans[at], visit.position):
                expiry[low:high] = -1
                log.append((visit.position, low, high))
                if visit.goes_on(lives[at][0]):
                    continue
                dead = (pool, int(edges[low]), int(edges[high]))
                deaths.at_node.setdefault(visit.place, []).append(dead)
        for owner in closing.get(visit.position, ()):
            found = deaths.at_end.setdefault(owner.place, [])
            found.extend(
                (pool, int(edges[low]), int(edges[high]))
                for low, high in _still_dead(expiry, log, owner.position)
            )


def _extend(expiry: np.ndarray, span: tuple[int, int], last: int) -> None:
    part = expiry[span[0] : span[1]]
    np.maximum(part, last, out=part)


def _stretches(
    expiry: np.ndarray, span: tuple[int, int], position: int
) -> Iterable[tuple[int, int]]:
    """Runs within a span that are in use up to this position and no longer."""
    low, high = span
    if high - low == 1:
        return [span] if expiry[low] == position else []
    return _runs(expiry[low:high] == position, low)


def _still_dead(
    expiry: np.ndarray, log: list[tuple[int, int, int]], since: int
) -> Iterator[tuple[int, int]]:
    for at in range(len(log) - 1, -1, -1):
        position, low, high = log[at]
        if position <= since:
            return
        yield from _runs(expiry[low:high] == -1, low)


def _runs(mask: np.ndarray, base: int) -> list[tuple[int, int]]:
    """The stretches where a mask holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False]))))
    return [(base + int(a), base + int(b)) for a, b in edges.reshape(-1, 2)]
