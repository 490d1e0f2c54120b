"""What the proof's tests share: op traits, plans with some places given, and proving them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from ge_core.ir import Graph, clone
from ge_core.memory import Plan, PlanTensor, PoolTotals, Strided
from ge_core.ops import OpRegistry, OpTraits, register_builtin_ops
from ge_core.proof import ProofResult, verify_compile
from ge_core.tasks import generate_tasks
from ge_core.testing import disjoint_plan

Places = Mapping[str, Any]
"""Per tensor an offset, a (pool, offset), or an (offset, Strided)."""
Planned = Callable[..., Plan]
Prove = Callable[..., ProofResult]


class Declared(OpRegistry):
    """A registry in which the tests' own words on an op count more than the built-in ones."""

    own: ClassVar[dict[str, OpTraits]] = {
        traits.op: traits
        for traits in (
            OpTraits("Relu", inplace=((0, 0),), strided_in=True, strided_out=True),
            OpTraits("Add", inplace=((0, 0), (0, 1))),
            OpTraits("Mul"),
            OpTraits("MatMul"),
            OpTraits("Less"),
            OpTraits("TopK"),
            OpTraits("RandomNormal", nondeterministic=True),
            OpTraits("Update", writes=(0,), aliases=((0, 0),)),
            OpTraits("Print", side_effect=True),
        )
    }

    def of(self, op: str, source: str) -> OpTraits:
        """The traits of an op type."""
        return self.own.get(op) or super().of(op, source)


@pytest.fixture
def ops() -> OpRegistry:
    """GE's own ops and a few that compute."""
    registry = Declared()
    register_builtin_ops(registry)
    return registry


@pytest.fixture
def planned(ops: OpRegistry) -> Planned:
    """Makes a plan: tensors named are where they are put, all others have bytes of their own."""

    def make(graph: Graph, places: Places | None = None, **facts: Any) -> Plan:
        plan = disjoint_plan(graph, ops, align=64, **facts)
        given = dict(places or {})
        by_name = {tensor.name: tensor for tensor in plan.tensors}
        assert [name for name in given if name not in by_name] == []
        moved: list[PlanTensor] = []
        for tensor in plan.tensors:
            # What shares a moved tensor's memory moves with it, unless it has a place of its own.
            head: PlanTensor = tensor
            while head.name not in given and head.alias_of is not None:
                head = by_name[head.alias_of]
            moved.append(_moved(tensor, given[head.name]) if head.name in given else tensor)
        ends: dict[str, int] = {}
        spans = [(t.pool, t.end) for t in moved] + [(w.pool, w.end) for w in plan.workspace]
        for pool, end in spans:
            ends[pool] = max(end, ends.get(pool, 0))
        pools = {pool: PoolTotals(end, 0, end, False) for pool, end in ends.items()}
        return replace(plan, tensors=moved, pools=pools)

    return make


def _moved(tensor: PlanTensor, place: Any) -> PlanTensor:
    if isinstance(place, int):
        return replace(tensor, offset=place)
    first, second = place
    if isinstance(second, Strided):
        return replace(tensor, offset=first, strided=second)
    return replace(tensor, pool=str(first), offset=int(second))


@pytest.fixture
def prove(ops: OpRegistry, planned: Planned) -> Prove:
    """Proves a graph in a plan; with its task list unless `tasks` says otherwise.

    The original is the graph itself unless another one is given.
    """

    def run(
        graph: Graph,
        places: Places | None = None,
        *,
        original: Graph | None = None,
        tasks: Any = "generated",
        plan: Plan | None = None,
        while_in_place: bool = True,
        unplanned: tuple[str, ...] = (),
        **facts: Any,
    ) -> ProofResult:
        if plan is None:
            plan = planned(graph, places, while_in_place=while_in_place, unplanned=unplanned)
        if tasks == "generated":
            tasks = generate_tasks(graph, ops, plan)
        before = clone(graph) if original is None else original
        return verify_compile(before, graph, plan, tasks, ops=ops, **facts)

    return run


@pytest.fixture
def found(prove: Prove) -> Callable[..., list[tuple[str, str]]]:
    """(check, node) of the violations, with the task list and without one; both must agree."""

    def run(graph: Graph, places: Places | None = None, **facts: Any) -> list[tuple[str, str]]:
        answers: list[list[tuple[str, str]]] = [
            [(violation.check, violation.node) for violation in result.violations]
            for result in (
                prove(graph, places, **facts),
                prove(graph, places, **{**facts, "tasks": None}),
            )
        ]
        assert answers[0] == answers[1]
        return answers[0]

    return run
