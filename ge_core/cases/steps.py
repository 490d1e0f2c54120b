"""The pipelines of case files that are no single pass: the kernel's own steps by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from ge_core.analysis import Effects
from ge_core.cases.outcome import Outcome
from ge_core.errors import UsageError
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.memory import Plan
from ge_core.memory.read_write import read_write_conflict
from ge_core.passes.planning import Schedule
from ge_core.session.kernel import Kernel
from ge_core.session.planning import Planner
from ge_core.session.request import CompileRequest
from ge_core.targets import Target
from ge_core.tasks import generate_tasks, set_marks

Anchor = TypeVar("Anchor", InputAnchor, OutputAnchor)
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


def ask_read_write(outcome: Outcome, kernel: Kernel, schedule: Schedule, target: Target) -> None:
    """The read/write checker's answer to the case's question; a port that isn't there conflicts.

    Raises:
        UsageError: the case asks nothing, or no plugin brings a checker.
    """
    query = outcome.query or {}
    src, dst = (_port(outcome.graph, str(query.get(end, ""))) for end in ("src", "dst"))
    if not {"src", "dst"} <= query.keys():
        raise UsageError("a case for RWConflictQuery says query: {src, dst}")
    checker = kernel.registries.checkers.make_read_write()
    if checker is None:
        raise UsageError("no installed plugin brings a read/write checker")
    output = None if src is None else _at(src[0].outputs, src[1])
    reader = None if dst is None else _at(dst[0].inputs, dst[1])
    outcome.conflict = read_write_conflict(checker, Effects(kernel.ops), output, reader)


def _port(graph: Graph, text: str) -> tuple[Node, int] | None:
    name, _, index = text.rpartition(":")
    node = graph.find(name)
    return None if node is None or not index.isdecimal() else (node, int(index))


def _at(anchors: Sequence[Anchor], index: int) -> Anchor | None:
    return anchors[index] if index < len(anchors) else None


STEPS: Final[Mapping[str, Step]] = {
    "MemoryPlanner": plan_memory,
    "RWConflictQuery": ask_read_write,
    "TaskGenerator": make_tasks,
}
