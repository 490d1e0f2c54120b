"""The pipelines of case files that are no single pass: the kernel's own steps by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ge_core.cases.outcome import Outcome
from ge_core.memory import Plan
from ge_core.passes.planning import Schedule
from ge_core.session.kernel import Kernel
from ge_core.session.planning import Planner
from ge_core.session.request import CompileRequest
from ge_core.targets import Target
from ge_core.tasks import generate_tasks, set_marks

Step = Callable[[Outcome, Kernel, Schedule, Target], None]


def plan_memory(outcome: Outcome, kernel: Kernel, schedule: Schedule, target: Target) -> None:
    """MEM_ASSIGN and OFFSETS with the default assigner."""
    plan = Planner(kernel, target, schedule, CompileRequest()).plan(outcome.graph)
    outcome.plan = plan
    outcome.may_share = _relation(plan)


def _relation(plan: Plan) -> Callable[[str, str], bool]:
    def may_share(a: str, b: str) -> bool:
        return bool(plan.explain(a, b).may_share)

    return may_share


def make_tasks(outcome: Outcome, kernel: Kernel, schedule: Schedule, target: Target) -> None:
    """TASK_GEN on the graph as it stands; planned first where it is not."""
    if outcome.plan is None:
        plan_memory(outcome, kernel, schedule, target)
    assert outcome.plan is not None
    outcome.tasks = generate_tasks(outcome.graph, kernel.ops, outcome.plan)
    set_marks(outcome.graph, outcome.tasks)


STEPS: Final[Mapping[str, Step]] = {"MemoryPlanner": plan_memory, "TaskGenerator": make_tasks}
