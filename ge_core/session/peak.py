"""Fewer copies must not cost a higher peak than O1's, unless that was asked for.

A join without a task reserves its buffer from its first operand on, which may raise the peak. The
passes that make such placements say how to take each back; here the ones that cost too much are.

A removed move may raise it too: of two moves in a loop's body the first then has to be where the
turn ends. A removal can't be taken back, so the graph is compiled again with some moves kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from ge_core.errors import LayoutConflict
from ge_core.ir import Graph
from ge_core.memory import ARENA, Plan
from ge_core.memory.bound import lower_bound
from ge_core.passes.environment import Environment, Retraction
from ge_core.session.planning import Planner

MAX_WORK: Final = 24_000
"""Clusters placed in all trials together, at most: bounds the search, the same on every machine."""
TRIAL_STEPS: Final = 300_000
"""Steps that the assigner may search in one trial; the plan that is kept gets its full search."""
MIN_TRIALS: Final = 8
"""Trials that are made in any case."""
MAX_ATTEMPTS: Final = 16
"""Compiles that are made to find the moves to keep, at most."""

T = TypeVar("T")


def keep_peak(
    plan: Plan, env: Environment, planner: Planner, baseline: Callable[[], Graph]
) -> tuple[Plan, int | None]:
    """The plan, or that of the graph with some placements taken back, at most as high as O1's.

    Args:
        baseline: makes the graph as O1 leaves it.

    Returns:
        The plan, and O1's peak where it is still higher than that.
    """
    reached = _peak(plan)
    reference = baseline()
    problem, _ = planner.problem(reference)
    # Cheap in the usual case: what is below O1's lower bound is below its plan.
    if reached <= lower_bound(problem, ARENA):
        return plan, None
    allowed = _peak(planner.plan(reference))
    if reached > allowed and env.retractions:
        plan = _Search(env, planner, allowed, plan).run()
    return plan, allowed if _peak(plan) > allowed else None


def keep_moves(
    removed: Sequence[str], attempt: Callable[[frozenset[str]], T], fits: Callable[[T], bool]
) -> T | None:
    """Keep few of the removed moves, so that the peak is low enough.

    Args:
        removed: names, the ones to keep first in front.
        attempt: compiles with these kept.
        fits: whether the peak of an attempt is low enough.

    Returns:
        The attempt with the fewest kept that was found; None where keeping all doesn't suffice.
    """
    best = attempt(frozenset(removed))
    attempts = 1
    if not fits(best):
        return None
    taken = list(removed)
    group = len(taken) // 2
    while group >= 1:
        at = len(taken)
        while at > 0 and len(taken) > 1:
            low = max(0, at - group)
            rest = taken[:low] + taken[at:]
            if attempts == MAX_ATTEMPTS:
                return best
            if rest:
                attempts += 1
                trial = attempt(frozenset(rest))
                if fits(trial):
                    taken, best = rest, trial
            at = low
        group //= 2
    return best


class _Search:
    """Finds few placements whose retraction brings the peak down; every answer is planned."""

    def __init__(self, env: Environment, planner: Planner, allowed: int, plan: Plan) -> None:
        self.env = env
        self.planner = planner
        self.allowed = allowed
        self.plan = plan
        self.trials = 0
        self.work = 0
        original = env.extras.get("original") or env.root
        self.known = {node.name for node in original.all_nodes()}
        # The cheapest first: what saves fewest bytes is given up first.
        self.order = sorted(env.retractions, key=lambda item: (item.bytes, item.node.name))

    def run(self) -> Plan:
        """Take back a prefix of the order that suffices, then give back what was not needed."""
        low, high = 0, len(self.order)
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits(self.order[:middle]):
                high = middle
            else:
                low = middle
        return self._settle(self._minimised(self.order[:high]))

    def _minimised(self, taken: list[Retraction]) -> list[Retraction]:
        """Give back ever smaller groups, the dearest first, while the peak stays low enough."""
        group = len(taken) // 2
        while group >= 1:
            at = len(taken)
            while at > 0 and len(taken) > 1:
                low = max(0, at - group)
                rest = taken[:low] + taken[at:]
                if self._exhausted:
                    return taken
                if rest and self._fits(rest):
                    taken = rest
                at = low
            group //= 2
        return taken

    @property
    def _exhausted(self) -> bool:
        return self.trials >= MIN_TRIALS and self.work >= MAX_WORK

    def _fits(self, retracted: Sequence[Retraction]) -> bool:
        self.trials += 1
        root = self.env.root
        with root.transaction() as trial:
            for item in retracted:
                item.undo()
            fits = self._low_enough()
            trial.rollback()
        self.env.analyses.drop()
        return fits

    def _low_enough(self) -> bool:
        try:
            problem, facts = self.planner.problem(self.env.root)
        except LayoutConflict:
            # Placements that hold each other up can't be taken back one by one.
            return False
        # A bound costs next to nothing beside a plan, and settles the hopeless trials.
        if lower_bound(problem, ARENA) > self.allowed:
            return False
        self.work += len(problem.clusters)
        plan = self.planner.place(problem, facts, steps=TRIAL_STEPS)
        return _peak(plan) <= self.allowed

    def _settle(self, taken: Sequence[Retraction]) -> Plan:
        for item in taken:
            item.undo()
            self.env.remarks.add(replace(item.remark, bytes=item.bytes))
        for remark in self.env.remarks.finals():
            # Copies that were put in for the sake of what is taken back are gone with it.
            if remark.node not in self.known and self.env.root.find(remark.node) is None:
                self.env.remarks.reopen(remark.node)
        self.env.analyses.drop()
        return self.planner.plan(self.env.root)


def _peak(plan: Plan) -> int:
    totals = plan.pools.get(ARENA)
    return 0 if totals is None else totals.bytes
