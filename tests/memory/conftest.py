"""What the memory tests share: planning a graph with a plain first fit, and asking the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from ge_core.ir import Graph, GraphBuilder
from ge_core.memory import (
    Judge,
    MemoryProblem,
    Plan,
    PlanFacts,
    PlanTensor,
    PlanWorkspace,
    build_problem,
    plan_from,
)
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.targets import Target

TARGET = Target("test", align_bytes=64)


@dataclass
class Planned:
    """A planned graph."""

    problem: MemoryProblem
    facts: PlanFacts
    plan: Plan

    def at(self, name: str) -> PlanTensor | PlanWorkspace:
        """The place of a tensor or scratch area."""
        return self.plan.find(name)

    def offset(self, name: str) -> int:
        """Where it begins."""
        return self.at(name).offset

    def share(self, a: str, b: str) -> bool:
        """Whether two tensors have bytes in common."""
        return self.plan.explain(a, b).shares

    def may(self, a: str, b: str) -> bool:
        """Whether the rule of reuse lets two tensors have bytes in common."""
        return Judge(self.problem, self.facts)(self.at(a).name, self.at(b).name)[0]


@pytest.fixture(scope="session")
def ops() -> OpRegistry:
    """GE's own ops."""
    registry = OpRegistry()
    register_builtin_ops(registry)
    return registry


PlanGraph = Callable[..., Planned]


@pytest.fixture(scope="session")
def plan_graph(ops: OpRegistry) -> PlanGraph:
    """`plan_graph(builder, options, target=..., ops=...)` -> Planned, by first fit over sizes."""

    def plan(
        graph: Graph | GraphBuilder,
        options: Mapping[str, str] | None = None,
        *,
        target: Target = TARGET,
        registry: OpRegistry = ops,
    ) -> Planned:
        root = graph.graph if isinstance(graph, GraphBuilder) else graph
        problem, facts = build_problem(root, registry, target, options)
        for cluster in sorted(problem.clusters, key=lambda c: (not c.owned, -c.size, c.index)):
            problem.place(cluster, problem.lowest_free(cluster))
        return Planned(problem, facts, plan_from(problem, problem.placement(), facts, level="O3"))

    return plan
