"""Expectations about memory: places in the plan, the relation behind it, pools and tasks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ge_core.cases.model import Failure
from ge_core.cases.outcome import Outcome
from ge_core.memory import Plan, PlanTensor, PlanWorkspace

Check = Callable[[Any, Outcome], Iterator[Failure]]
ARENA: Final = "HBM"


def _place(outcome: Outcome, name: str) -> PlanTensor | PlanWorkspace | None:
    plan = _plan(outcome)
    node, _, index = name.rpartition(":")
    places: list[PlanTensor | PlanWorkspace]
    if index.startswith("ws"):
        places = [w for w in plan.workspace if w.node == node and w.index == int(index[2:])]
    else:
        places = [t for t in plan.tensors if t.node == node and t.output == int(index)]
    return places[0] if places else None


def _plan(outcome: Outcome) -> Plan:
    return outcome.plan if outcome.plan is not None else Plan()


def _overlap(outcome: Outcome, a: str, b: str) -> bool | None:
    """Whether two places share a byte; None where one has no place."""
    one, other = _place(outcome, a), _place(outcome, b)
    if one is None or other is None:
        return None
    if one.pool != other.pool or one.bytes == 0 or other.bytes == 0:
        return False
    return max(one.offset, other.offset) < min(one.end, other.end)


def _disjoint(pairs: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs of tensors that share no byte in the plan."""
    for a, b in pairs:
        shared = _overlap(outcome, a, b)
        # Without a plan the relation alone is asked, by the check below.
        planned = outcome.plan is not None or outcome.may_share is None
        if planned and shared is not False:
            yield Failure(f"{a} and {b} disjoint", _both(outcome, a, b))


def _must_not_share(pairs: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs that share no byte, and that no plan may let share one."""
    yield from _disjoint(pairs, outcome)
    for a, b in pairs:
        if outcome.may_share is not None and outcome.may_share(a, b):
            yield Failure(f"{a} and {b} must not share", "the relation allows it")


def _may_share(pairs: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs that a plan may let share bytes."""
    for a, b in pairs:
        if outcome.may_share is None or not outcome.may_share(a, b):
            yield Failure(f"{a} and {b} may share", "the relation forbids it")


def _same_offset(groups: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Groups of tensors at one place."""
    for group in groups:
        places = [_place(outcome, name) for name in group]
        if None in places or len({p and (p.pool, p.offset) for p in places}) != 1:
            yield Failure(f"one offset for {', '.join(group)}", _all(outcome, group))


def _contiguous(runs: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Tensors that lie one right behind the other."""
    for run in runs:
        places = [_place(outcome, name) for name in run]
        for left, right in itertools.pairwise(places):
            if left is None or right is None or left.end != right.offset:
                yield Failure(f"contiguous {', '.join(run)}", _all(outcome, run))
                break


def _offset_delta(rows: list[list[Any]], outcome: Outcome) -> Iterator[Failure]:
    """Triples: a tensor, another one, and how many bytes the first lies behind it."""
    for a, b, delta in rows:
        one, other = _place(outcome, a), _place(outcome, b)
        if one is None or other is None or one.offset - other.offset != delta:
            yield Failure(f"{a} lies {delta} bytes behind {b}", _both(outcome, a, b))


def _aligned(step: int, outcome: Outcome) -> Iterator[Failure]:
    """What the offsets of separate buffers are multiples of, in bytes."""
    places: list[PlanTensor | PlanWorkspace] = [*_plan(outcome).tensors, *_plan(outcome).workspace]
    for place in places:
        in_run = isinstance(place, PlanTensor) and (place.run is not None or place.alias_of)
        if not in_run and place.offset % step:
            yield Failure(f"multiples of {step}", f"{place.name} at {place.offset}")


def _not_planned(names: list[str], outcome: Outcome) -> Iterator[Failure]:
    """Tensors that take no byte of the arena."""
    for name in names:
        place = _place(outcome, name)
        if place is not None and place.pool == ARENA and place.bytes > 0:
            yield Failure(f"{name} takes no byte of the arena", _all(outcome, [name]))


def _not_io(names: list[str], outcome: Outcome) -> Iterator[Failure]:
    """Tensors that aren't the caller's."""
    for name in names:
        place = _place(outcome, name)
        if isinstance(place, PlanTensor) and place.io is not None:
            yield Failure(f"{name} is not the caller's", f"io is {place.io}")


def _separate_pools(pairs: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs of tensors in two pools."""
    for a, b in pairs:
        one, other = _place(outcome, a), _place(outcome, b)
        if one is None or other is None or one.pool == other.pool:
            yield Failure(f"{a} and {b} in separate pools", _both(outcome, a, b))


def _mem_type(wanted: Mapping[str, str], outcome: Outcome) -> Iterator[Failure]:
    """By tensor, the pool that it lies in."""
    for name, pool in wanted.items():
        place = _place(outcome, name)
        if place is None or place.pool != pool:
            yield Failure(f"{name} in {pool}", _all(outcome, [name]))


def _pool_bytes(wanted: Mapping[str, int], outcome: Outcome) -> Iterator[Failure]:
    """By pool, its size in bytes."""
    for pool, size in wanted.items():
        totals = _plan(outcome).pools.get(pool)
        got = 0 if totals is None else totals.bytes
        if got != size:
            yield Failure(f"{pool} takes {size} bytes", str(got))


def _offsets(wanted: Mapping[str, int], outcome: Outcome) -> Iterator[Failure]:
    """By tensor, its offset in bytes."""
    for name, offset in wanted.items():
        place = _place(outcome, name)
        if place is None or place.offset != offset:
            yield Failure(f"{name} at {offset}", _all(outcome, [name]))


def _peak(outcome: Outcome) -> int:
    totals = _plan(outcome).pools.get(ARENA)
    return 0 if totals is None else totals.bytes


def _peak_bytes(wanted: int, outcome: Outcome) -> Iterator[Failure]:
    """The size of the arena in bytes."""
    if _peak(outcome) != wanted:
        yield Failure(f"peak of {wanted} bytes", str(_peak(outcome)))


def _max_peak_bytes(wanted: int, outcome: Outcome) -> Iterator[Failure]:
    """What the arena takes at most, in bytes."""
    if _peak(outcome) > wanted:
        yield Failure(f"peak of at most {wanted} bytes", str(_peak(outcome)))


def _conflicts(pairs: list[list[str]], outcome: Outcome) -> Iterator[Failure]:
    """Pairs of tensors that the judge of the case's own plan reports."""
    found = {frozenset(pair) for pair in outcome.conflicts}
    for a, b in pairs:
        if frozenset((a, b)) not in found:
            yield Failure(f"{a} and {b} reported", "they are not")


def _tasks(names: list[str], outcome: Outcome) -> Iterator[Failure]:
    """Nodes that are launched."""
    launched = _launched(outcome)
    for name in names:
        if name not in launched:
            yield Failure(f"a task for {name}", "there is none")


def _no_tasks(names: list[str], outcome: Outcome) -> Iterator[Failure]:
    """Nodes that aren't."""
    launched = _launched(outcome)
    for name in names:
        if name in launched:
            yield Failure(f"no task for {name}", "there is one")


def _launched(outcome: Outcome) -> set[str]:
    tasks = () if outcome.tasks is None else outcome.tasks.tasks
    return {task.node for task in tasks if not task.is_event}


PLAN_CHECKS: Final[Mapping[str, Check]] = {
    "disjoint": _disjoint,
    "must_not_share": _must_not_share,
    "may_share": _may_share,
    "same_offset": _same_offset,
    "contiguous": _contiguous,
    "offset_delta": _offset_delta,
    "aligned": _aligned,
    "not_planned": _not_planned,
    "not_io": _not_io,
    "separate_pools": _separate_pools,
    "mem_type": _mem_type,
    "pool_bytes": _pool_bytes,
    "offsets": _offsets,
    "peak_bytes": _peak_bytes,
    "max_peak_bytes": _max_peak_bytes,
    "conflicts": _conflicts,
    "tasks": _tasks,
    "no_tasks": _no_tasks,
}


def _all(outcome: Outcome, names: list[str]) -> str:
    return ", ".join(_at(name, _place(outcome, name)) for name in names)


def _both(outcome: Outcome, a: str, b: str) -> str:
    return _all(outcome, [a, b])


def _at(name: str, place: PlanTensor | PlanWorkspace | None) -> str:
    if place is None:
        return f"{name} has no place"
    return f"{name} in {place.pool} [{place.offset}, {place.end})"
