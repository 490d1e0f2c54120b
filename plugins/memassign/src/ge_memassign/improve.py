"""Better orders for first fit, found by moving forward what does not fit.

A ceiling below the best peak is set, and clusters are placed by first fit; the first that would
reach above the ceiling moves forward in the order, to a place behind or before what stands in its
way, and the placement begins anew. Attempts are cheap, as they end where they fail. After some
failures another order is taken, after some orders another ceiling. Random numbers come from a
generator with a fixed seed, and work is counted in pairs looked at, so that answers are the same
everywhere.
"""

from __future__ import annotations

import random
from typing import Final

from ge_core.api import Budget
from ge_memassign.conflicts import Conflicts
from ge_memassign.firstfit import FirstFit
from ge_memassign.orders import by_offset, orders
from ge_memassign.pools import Pool

STEPS: Final = 12_000_000
"""Pairs of interfering buffers that may be looked at, by default."""
ATTEMPTS: Final = 6000
"""Attempts in all, so that small problems take little time."""
FAILURES: Final = 60
"""Attempts with one order and one ceiling."""
CEILINGS: Final = (4, 8, 2, 1)
"""How far below the best peak to aim: this part of its distance from the bound, in turn."""


def improve(
    pool: Pool, conflicts: Conflicts, best: list[int], seeds: list[list[int]], budget: Budget
) -> list[int]:
    """An answer that is at least as good as `best`; other answers may serve as starts."""
    fit = FirstFit(pool, conflicts)
    limit = STEPS if budget.steps is None else budget.steps
    chance = random.Random(len(pool.clusters))
    peak = pool.peak(best)
    starts = [by_offset(offsets) for offsets in (best, *seeds)]
    starts += [order for _, order in orders(pool)]
    turn = 0
    while peak > pool.bound and not fit.is_spent(limit, ATTEMPTS) and not budget.expired():
        part = CEILINGS[turn // len(starts) % len(CEILINGS)]
        ceiling = max(pool.bound, peak - max(pool.align, (peak - pool.bound) // part))
        order = list(starts[turn % len(starts)])
        found = _attempts(fit, order, ceiling, limit, chance)
        # Clusters with fixed places are in no order, and may be what reaches above the ceiling.
        if found is None or pool.peak(found) >= peak:
            turn += 1
            continue
        best, peak = found, pool.peak(found)
        # The order that did it is the first to be tried with the next ceiling.
        starts[0] = order
        turn = 0
    return best


def _attempts(
    fit: FirstFit, order: list[int], ceiling: int, limit: int, chance: random.Random
) -> list[int] | None:
    """Place below the ceiling, changing the order after each failure; None where that fails."""
    for _ in range(FAILURES):
        found, failed = fit.place(order, ceiling)
        if found is not None:
            return found
        if fit.is_spent(limit, ATTEMPTS):
            return None
        number = order[failed]
        blockers = fit.blockers(number)
        first = next((at for at, other in enumerate(order[:failed]) if other in blockers), 0)
        place = first if chance.random() < 0.25 else chance.randrange(first, failed + 1)
        del order[failed]
        order.insert(place, number)
    return None
