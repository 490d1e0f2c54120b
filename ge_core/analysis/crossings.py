"""Which pairs of accesses two memories that become one put side by side: what must be ordered."""

from __future__ import annotations

from collections.abc import Sequence

from ge_core.analysis.accesses import NODE
from ge_core.analysis.timed import TimedAccess


def crossings(accesses: Sequence[TimedAccess]) -> list[tuple[TimedAccess, TimedAccess]]:
    """Pairs of accesses, one of either memory, of which the first must come before the second.

    At least one of each pair writes. Pairs that follow from others, and from the order that either
    memory needs by itself, are left out, and so is what the run's caller does.

    Args:
        accesses: of both memories, in the order in which they are to happen.
    """
    bounds = sorted({b for t in accesses for b in (t.low, t.high)})
    if len(bounds) < 3 or any(t.low >= t.high for t in accesses):
        return _of_range(accesses)
    found: dict[tuple[TimedAccess, TimedAccess], None] = {}
    for low in bounds[:-1]:
        there = [t for t in accesses if t.low <= low < t.high]
        found.update(dict.fromkeys(_of_range(there)))
    return list(found)


def _of_range(accesses: Sequence[TimedAccess]) -> list[tuple[TimedAccess, TimedAccess]]:
    found: list[tuple[TimedAccess, TimedAccess]] = []
    last: TimedAccess | None = None
    reads: list[TimedAccess] = []
    for timed in accesses:
        access = timed.access
        if access.moment != NODE and access.graph.is_root:
            continue
        before = reads if access.writes and reads else [] if last is None else [last]
        found += [(one, timed) for one in before if one.side != timed.side]
        if access.writes:
            last, reads = timed, []
        else:
            reads.append(timed)
    return found
