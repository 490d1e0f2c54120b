"""Better orders for first fit, found by blaming what ends up on top.

Squeaky wheel optimisation (Joslin and Clements, 1999): place in the present order, move what lies
too high to the front, place again. Every few rounds without a better answer the order is shaken.
Random numbers come from a generator with a fixed seed, and work is counted in pairs looked at, so
that answers are the same everywhere.
"""

from __future__ import annotations

import random
from typing import Final

from ge_core.api import Budget
from ge_memassign.conflicts import Conflicts
from ge_memassign.firstfit import first_fit
from ge_memassign.orders import orders
from ge_memassign.pools import Pool

STEPS: Final = 6_000_000
"""Pairs of interfering buffers that may be looked at, by default."""
PATIENCE: Final = 12
"""Rounds without a better answer before the order is shaken."""


def improve(pool: Pool, conflicts: Conflicts, best: list[int], budget: Budget) -> list[int]:
    """An answer that is at least as good as `best`."""
    left = STEPS if budget.steps is None else budget.steps
    cost = 2 * conflicts.pairs + len(pool.clusters) + 1
    chance = random.Random(len(pool.clusters))
    peak = pool.peak(best)
    starts = [order for _, order in orders(pool)][:3]
    # A few buffers have few orders: no point in spending all steps on them.
    rounds = min(max(1, left // cost // len(starts)), 40 + 2 * len(pool.clusters))
    for start in starts:
        order, quiet = start, 0
        for _ in range(rounds):
            if left < cost or peak <= pool.bound or budget.expired():
                return best
            left -= cost
            found = first_fit(pool, conflicts, order)
            assert found is not None
            height = pool.peak(found)
            if height < peak:
                best, peak, quiet = found, height, 0
            else:
                quiet += 1
            order = _blame(pool, order, found, max(pool.bound, (peak + pool.bound) // 2))
            if quiet >= PATIENCE:
                order, quiet = _shaken(order, chance), 0
    return best


def _blame(pool: Pool, order: list[int], offsets: list[int], target: int) -> list[int]:
    """What ends above the target moves forward, by more the higher it ends."""
    clusters = pool.clusters
    keys = {}
    for place, number in enumerate(order):
        over = offsets[number] + clusters[number].size - target
        keys[number] = (place * 0.5 if over > 0 else float(place), place)
    return sorted(order, key=keys.__getitem__)


def _shaken(order: list[int], chance: random.Random) -> list[int]:
    """The order with each place moved a little."""
    width = max(4, len(order) // 16)
    keys = {number: place + chance.random() * width for place, number in enumerate(order)}
    return sorted(order, key=keys.__getitem__)
