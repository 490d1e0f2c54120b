"""The choice of bonds that leaves the fewest bytes to copy.

Two searches. The first one drops, of every conflict, the bond that costs least, and takes bonds
back up where that turns out to do no harm: work is linear in the component for each round. The
second one is exact: best first over sets of dropped bonds, where each conflict tells which bonds
may be dropped next. It ends with the optimum, or at its budget with a bound on what is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from ge_concat_notask.placement.layout import Conflict, Layout
from ge_concat_notask.placement.problem import Bond, Component

EXACT_STEPS: Final = 400_000
"""Steps that the exact search may take in one component; steps are counted, never seconds."""
GRAPH_STEPS: Final = 4_000_000
"""Steps that all exact searches of one graph may take together."""
FEW_STATES: Final = 100
"""States that the exact search has to be able to look at to be tried at all."""
LARGE: Final = 200
"""Bonds from which on a component's distances are settled before anything else."""
MOST_RETRIES: Final = 200_000
"""Steps for taking dropped bonds up again."""

Cost = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was found.

    Attributes:
        honoured: by number of the bond.
        cost: bytes copied, and weight of the copies.
        bound: no choice copies fewer bytes than this.
        steps: work done.
    """

    honoured: tuple[bool, ...]
    cost: Cost
    bound: int
    steps: int

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no choice copies fewer bytes."""
        return self.bound >= self.cost[0]


def choose(component: Component, budget: int = EXACT_STEPS) -> Choice:
    """The best choice found; the best there is where `bound` says so.

    Args:
        budget: steps for the exact search.
    """
    start = [bond.banned is None for bond in component.bonds]
    first, steps = _first(component, start)
    cost = component.cost(first)
    floor = component.cost(start)
    if cost == floor:
        return Choice(tuple(first), cost, cost[0], steps)
    if budget < FEW_STATES * len(component.bonds):
        budget = 0  # it would end before it had seen anything
    search = _Exact(component, start, cost, budget)
    better = search.run()
    if better is not None:
        first, cost = better, component.cost(better)
    # In a crowded component the search knew of choices only that give no bytes away twice.
    bound = floor[0] if component.crowded else min(search.bound, cost[0])
    return Choice(tuple(first), cost, bound, steps + search.steps)


def _first(component: Component, start: list[bool]) -> tuple[list[bool], int]:
    """Drop the cheapest bond of each conflict until none is left; then take up what may be."""
    honoured = list(start)
    dropped: list[Bond] = []
    steps = 0
    if len(component.bonds) > LARGE:
        # Each round finds paths anew, and paths that share a bond are dealt with one by one.
        steps = len(component.bonds)
        for bond in _disagreeing(component, honoured):
            dropped.append(bond)
            honoured[bond.number] = False
    while True:
        layout = Layout(component, honoured)
        conflicts = layout.conflicts()
        steps += layout.steps
        if not conflicts:
            break
        now: set[Bond] = set()
        for conflict in conflicts:
            if now.isdisjoint(conflict):
                bond = _cheapest(conflict)
                now.add(bond)
                dropped.append(bond)
                honoured[bond.number] = False
    tried = 0
    for bond in sorted(dropped, key=lambda bond: (-bond.bytes, bond.number)):
        if tried > MOST_RETRIES:
            break
        honoured[bond.number] = True
        layout = Layout(component, honoured)
        if layout.conflicts(1):
            honoured[bond.number] = False
        tried += layout.steps
    return honoured, steps + tried


def _disagreeing(component: Component, honoured: Sequence[bool]) -> Iterator[Bond]:
    """Bonds that want a tensor elsewhere than dearer ones do, round every way.

    As for a spanning tree of greatest weight: the dearest bonds first, each of which is kept where
    it ties two blocks or agrees with what ties them. Of bonds that cost as much the first stays.
    """
    parent = list(range(len(component.tensors)))
    shift = [0] * len(parent)

    def place(number: int) -> tuple[int, int]:
        way = []
        while parent[number] != number:
            way.append(number)
            number = parent[number]
        at = 0
        for one in reversed(way):
            at += shift[one]
            parent[one], shift[one] = number, at
        return number, at

    placing = [b for b in component.bonds if b.kind != "result" and honoured[b.number]]
    for bond in sorted(placing, key=lambda bond: (not bond.required, -bond.bytes, bond.number)):
        (inner, low), (outer, high) = place(bond.inner.number), place(bond.outer.number)
        if inner != outer:
            parent[inner], shift[inner] = outer, high + bond.delta - low
        elif low != high + bond.delta and not bond.required:
            yield bond


def _cheapest(conflict: Conflict) -> Bond:
    return min(conflict, key=lambda bond: (bond.bytes, bond.weight, -bond.number))


class _Exact:
    """Best-first search over sets of dropped bonds."""

    def __init__(self, component: Component, start: list[bool], best: Cost, budget: int) -> None:
        self.component = component
        self.start = start
        self.best = best
        self.budget = budget
        self.steps = 0
        self.bound = component.cost(start)[0]

    def run(self) -> list[bool] | None:
        """The optimum if it is better than what is known; None if not, or if the budget ended."""
        # A state: its cost, a number that keeps the order total, what is dropped, what must stay.
        tie = 0
        heap: list[tuple[Cost, int, frozenset[int], frozenset[int]]] = [
            (self.component.cost(self.start), tie, frozenset(), frozenset())
        ]
        while heap:
            cost, _, dropped, kept = heappop(heap)
            self.bound = cost[0]
            if cost >= self.best:
                break
            if self.steps >= self.budget:
                return None
            honoured = list(self.start)
            for number in dropped:
                honoured[number] = False
            layout = Layout(self.component, honoured)
            conflicts = layout.conflicts()
            self.steps += layout.steps + len(honoured)
            if not conflicts:
                return honoured
            choices = self._narrowest(conflicts, kept)
            stay: list[int] = []
            for bond in choices:
                tie += 1
                more = (cost[0] + bond.bytes, cost[1] + bond.weight)
                if more < self.best:
                    state = (more, tie, dropped | {bond.number}, kept.union(stay))
                    heappush(heap, state)
                stay.append(bond.number)
        else:
            self.bound = self.best[0]
        return None

    @staticmethod
    def _narrowest(conflicts: Iterable[Conflict], kept: frozenset[int]) -> list[Bond]:
        """What may be dropped for the conflict that leaves the least choice, cheapest first."""
        choices = [[b for b in dict.fromkeys(c) if b.number not in kept] for c in conflicts]
        found = min(choices, key=len)
        return sorted(found, key=lambda bond: (bond.bytes, bond.number))
