"""Memory: the planning problem, plans, the lower bound, and the registries around them.

The kernel builds problems and checks answers; which offsets are good is the business of assigners,
which plugins bring.
"""

from __future__ import annotations

from ge_core.memory.anchor_types import Anchor, AnchorType, AnchorTypeRegistry
from ge_core.memory.assemble import plan_from
from ge_core.memory.assigners import AssignerRegistry
from ge_core.memory.bound import lower_bound, without_reuse
from ge_core.memory.build import build_problem
from ge_core.memory.checkers import CheckerRegistry, PairRule
from ge_core.memory.facts import PlanFacts
from ge_core.memory.judge import Judge
from ge_core.memory.options import PlanOptions
from ge_core.memory.plan import (
    ARENA,
    CONSTANTS,
    VARIABLES,
    Explanation,
    Plan,
    PlanTensor,
    PlanWorkspace,
    PoolTotals,
    Run,
    Strided,
    scratch_name,
    tensor_name,
)
from ge_core.memory.problem import Assigner, Budget, Buffer, Cluster, MemoryProblem, Placement
from ge_core.memory.reuse import Bytes, Obstacle, ReuseRule
from ge_core.memory.validate import check_placement

__all__ = [
    # the plan
    "ARENA",
    "CONSTANTS",
    "VARIABLES",
    "Explanation",
    "Plan",
    "PlanTensor",
    "PlanWorkspace",
    "PoolTotals",
    "Run",
    "Strided",
    "scratch_name",
    "tensor_name",
    # the problem
    "Assigner",
    "Budget",
    "Buffer",
    "Cluster",
    "MemoryProblem",
    "Placement",
    # from graph to problem to plan
    "Judge",
    "PlanFacts",
    "PlanOptions",
    "build_problem",
    "check_placement",
    "lower_bound",
    "plan_from",
    "without_reuse",
    # the rule of reuse, asked of a graph
    "Bytes",
    "Obstacle",
    "ReuseRule",
    # what plugins register
    "Anchor",
    "AnchorType",
    "AnchorTypeRegistry",
    "AssignerRegistry",
    "CheckerRegistry",
    "PairRule",
]
