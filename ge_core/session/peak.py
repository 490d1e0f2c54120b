"""Fewer copies must not cost a higher peak than O1's, unless that was asked for.

A join without a task reserves its buffer from its first operand on, which may raise the peak. The
passes that make such placements say how to take each back; here the ones that cost too much are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ge_core.ir import Graph
from ge_core.memory import ARENA, Plan
from ge_core.memory.bound import lower_bound
from ge_core.passes.environment import Environment, Retraction
from ge_core.session.planning import Planner

MAX_PLANS: Final = 48
"""How often the graph is planned anew at most while looking for the placements to take back."""


def keep_peak(
    plan: Plan, env: Environment, planner: Planner, baseline: Callable[[], Graph]
) -> Plan:
    """The plan, or that of the graph with some placements taken back, at most as high as O1's.

    Args:
        baseline: makes the graph as O1 leaves it.
    """
    reached = _peak(plan)
    reference = baseline()
    problem, _ = planner.problem(reference)
    # Cheap in the usual case: what is below O1's lower bound is below its plan.
    if reached <= lower_bound(problem, ARENA):
        return plan
    allowed = _peak(planner.plan(reference))
    if reached <= allowed:
        return plan
    return _Search(env, planner, allowed, plan).run()


class _Search:
    """Finds few placements whose retraction brings the peak down; every answer is planned."""

    def __init__(self, env: Environment, planner: Planner, allowed: int, plan: Plan) -> None:
        self.env = env
        self.planner = planner
        self.allowed = allowed
        self.plan = plan
        self.plans = 0
        # The cheapest first: what saves fewest bytes is given up first.
        self.order = sorted(env.retractions, key=lambda item: (item.bytes, item.node.name))

    def run(self) -> Plan:
        """Take back a prefix of the order that suffices, then give back what was not needed."""
        everything = len(self.order)
        low, high = 0, everything
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits(self.order[:middle]):
                high = middle
            else:
                low = middle
        taken = list(self.order[:high])
        for item in reversed(list(taken)):
            if self.plans >= MAX_PLANS:
                break
            rest = [other for other in taken if other is not item]
            if self._fits(rest):
                taken = rest
        return self._settle(taken)

    def _fits(self, retracted: Sequence[Retraction]) -> bool:
        self.plans += 1
        root = self.env.root
        with root.transaction() as trial:
            for item in retracted:
                item.undo()
            fits = _peak(self.planner.plan(root)) <= self.allowed
            trial.rollback()
        self.env.analyses.drop()
        return fits

    def _settle(self, taken: Sequence[Retraction]) -> Plan:
        for item in taken:
            item.undo()
            self.env.remarks.add(replace(item.remark, bytes=item.bytes))
        self.env.analyses.drop()
        plan = self.planner.plan(self.env.root)
        if _peak(plan) > self.allowed:
            self.env.warn(
                f"the peak is {_peak(plan)} bytes, above the {self.allowed} of level O1:"
                " removing copies alone raised it"
            )
        return plan


def _peak(plan: Plan) -> int:
    totals = plan.pools.get(ARENA)
    return 0 if totals is None else totals.bytes
