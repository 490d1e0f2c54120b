"""`plan_from`: an assigner's offsets and the facts become a `Plan`."""

from __future__ import annotations

from ge_core.ir import collector_paused
from ge_core.memory.bound import lower_bound, without_reuse
from ge_core.memory.facts import PlanFacts, Site
from ge_core.memory.judge import Judge
from ge_core.memory.plan import (
    ARENA,
    Plan,
    PlanTensor,
    PlanWorkspace,
    PoolTotals,
    Run,
)
from ge_core.memory.problem import MemoryProblem, Placement
from ge_core.memory.validate import check_placement


def plan_from(
    problem: MemoryProblem,
    placement: Placement,
    facts: PlanFacts,
    *,
    level: str = "",
    owner: str | None = None,
) -> Plan:
    """The plan of a placement, after checking it.

    Args:
        problem, facts: as built together.
        placement: an assigner's answer.
        level: the optimisation level, for the record.
        owner: who gave the placement, for messages.

    Raises:
        PlanError: the placement is wrong; names the owner.
    """
    with collector_paused():
        check_placement(problem, placement, owner)
        return _write(problem, placement, facts, level)


def _write(problem: MemoryProblem, placement: Placement, facts: PlanFacts, level: str) -> Plan:
    offsets = placement.offsets

    def offset(site: Site) -> int:
        return site.delta if site.cluster is None else offsets[site.cluster] + site.delta

    plan = Plan(facts.target, level, {key: facts.options[key] for key in sorted(facts.options)})
    plan.tensors = [
        _tensor(facts, tensor, offset(facts.sites[tensor])) for tensor in sorted(facts.sites)
    ]
    for area, site in facts.scratch:
        region = facts.work.regions[area.instance]
        name = facts.work.nodes[area.instance].name
        plan.workspace.append(
            PlanWorkspace(region.call, name, area.index, site.pool, offset(site), area.size)
        )
    plan.unplanned = [facts.work.name(tensor) for tensor in facts.unplanned]
    plan.warnings = list(facts.warnings)
    plan.pools = _pools(problem, placement, facts)
    plan.judge = Judge(problem, facts, offsets)
    return plan


def _tensor(facts: PlanFacts, tensor: int, offset: int) -> PlanTensor:
    work = facts.work
    instance = work.owner[tensor]
    site = facts.sites[tensor]
    run = facts.runs.get(tensor)
    alias = facts.ultimate(tensor)
    return PlanTensor(
        work.regions[instance].call,
        work.nodes[instance].name,
        tensor - work.base[instance],
        site.pool,
        offset,
        facts.data[tensor],
        facts.strided.get(tensor),
        None if alias is None else work.name(alias),
        None if run is None else Run(run, site.delta),
        facts.io.get(tensor),
        site.life,
    )


def _pools(problem: MemoryProblem, placement: Placement, facts: PlanFacts) -> dict[str, PoolTotals]:
    """The arena first, then the other pools by name."""
    found: dict[str, PoolTotals] = {}
    names = {ARENA, *problem.pools, *facts.fixed_bytes}
    for pool in sorted(names, key=lambda name: (name != ARENA, name)):
        fixed = facts.fixed_bytes.get(pool)
        if fixed is not None:
            found[pool] = PoolTotals(fixed, fixed, fixed, True)
            continue
        total = placement.peak(problem, pool)
        bound = lower_bound(problem, pool)
        optimal = total == bound or pool in placement.optimal
        found[pool] = PoolTotals(total, bound, without_reuse(problem, pool), optimal)
    return found
