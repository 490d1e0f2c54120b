"""Memory: the plan, the planning problem, the lower bound and the registries around them."""

from __future__ import annotations

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

__all__ = [
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
]
