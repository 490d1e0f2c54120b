"""The MEM_ASSIGN step: from a graph to a plan, by the assigner that was asked for."""

from __future__ import annotations

from ge_core.errors import PlanError
from ge_core.foreign import foreign
from ge_core.ir import Graph
from ge_core.memory import Plan
from ge_core.memory.assemble import plan_from
from ge_core.memory.build import build_problem
from ge_core.memory.facts import PlanFacts
from ge_core.memory.joining import JoinChecks
from ge_core.memory.options import OPTIONS as PLAN_OPTIONS
from ge_core.memory.problem import Budget, MemoryProblem, Placement
from ge_core.memory.validate import fingerprint
from ge_core.passes.planning import Schedule
from ge_core.session.kernel import Kernel
from ge_core.session.lending import plainly
from ge_core.session.request import CompileRequest
from ge_core.targets import Target

DEFAULT_ASSIGNER = "best"


class Planner:
    """Plans graphs of one compile: the same target, options and assigner each time."""

    def __init__(
        self, kernel: Kernel, target: Target, schedule: Schedule, request: CompileRequest
    ) -> None:
        self.kernel = kernel
        self.target = target
        self.level = schedule.level.name
        self._values = schedule.options
        self.options = self._values.as_dict()
        schedule.options.asked.update(PLAN_OPTIONS)
        self.timeout = request.timeout
        given = request.assigner or kernel.config.assigner or DEFAULT_ASSIGNER
        self.assigner_name, warning = kernel.assigners.current(given)
        self.warnings = [] if warning is None else [warning]
        if self.options.get("ge.exec.disableReuseMemory") == "1" and request.assigner is None:
            self.assigner_name = "bump"

    def plan(self, graph: Graph) -> Plan:
        """A checked plan.

        Raises:
            LayoutConflict: placement constraints contradict each other.
            PlanError: the assigner failed or placed wrongly; names its package.
        """
        return self.place(*self.problem(graph))

    def place(self, problem: MemoryProblem, facts: PlanFacts, *, steps: int | None = None) -> Plan:
        """The checked plan of a problem that was built before; raises as `plan` does.

        Args:
            steps: bound on the assigner's search; its own by default.
        """
        owner = str(self.kernel.assigners.entry(self.assigner_name).owner)
        placement = self._assign(problem, owner, steps)
        try:
            plan = plan_from(problem, placement, facts, level=self.level, owner=owner)
        except PlanError as error:
            # A package may have several.
            said = f"assigner {self.assigner_name!r}: {error.message}"
            raise PlanError(said, owner=error.owner, hint=error.hint) from error
        # The plan's options are read again by the proof, which knows only their plain form.
        plan.options = dict(sorted(plainly(self.options).items()))
        return plan

    def problem(self, graph: Graph) -> tuple[MemoryProblem, PlanFacts]:
        """What is to be placed."""
        registries = self.kernel.registries
        layout = JoinChecks.of(
            registries.checkers,
            registries.anchor_types,
            graph,
            registries.ops,
            self._option,
            self.target,
        )
        return build_problem(graph, self.kernel.ops, self.target, self.options, layout=layout)

    def _option(self, name: str) -> str | None:
        return self._values.get(name)

    def _assign(self, problem: MemoryProblem, owner: str, steps: int | None) -> Placement:
        assigner = self.kernel.assigners.make(self.assigner_name)
        before = fingerprint(problem)
        with foreign(f"assigner {self.assigner_name!r}", owner, error=PlanError):
            placement: object = assigner.assign(problem, Budget(seconds=self.timeout, steps=steps))
        if fingerprint(problem) != before:
            # It would be checked against what it made of the problem.
            raise PlanError(
                f"assigner {self.assigner_name!r} changed the problem that it was given",
                owner=owner,
                hint="place with problem.place(cluster, offset) and change nothing else",
            )
        if not isinstance(placement, Placement):
            raise PlanError(
                f"assigner {self.assigner_name!r} answered {type(placement).__name__}",
                owner=owner,
                hint="answer a Placement, as problem.placement() does",
            )
        return placement
