"""Random memory problems that can be met: what assigners are tested with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ge_core.memory import ARENA
from ge_core.memory.bound import without_reuse
from ge_core.memory.problem import Buffer, Cluster, MemoryProblem, round_up
from ge_core.testing.choices import Choices, SeededChoices, optionally


@dataclass(frozen=True)
class ProblemKnobs:
    """What a random memory problem may contain.

    Attributes:
        clusters: how many.
        length: positions in time.
        largest: bytes of a buffer, at most.
        pools: names of address spaces.
        aligns: alignments in play, powers of two; pool totals are rounded up to the largest.
        pieces: clusters of several buffers at fixed distances.
        fixed: clusters at fixed offsets, in a pool of their own.
        owned: memory of the caller's.
        capacities: pools are limited, to what they take without reuse and something over.
    """

    clusters: int = 12
    length: int = 12
    largest: int = 200
    pools: tuple[str, ...] = (ARENA, "P2P")
    aligns: tuple[int, ...] = (1, 4, 32, 64)
    pieces: bool = True
    fixed: bool = True
    owned: bool = True
    capacities: bool = True


FIXED_POOL = "FIXED"


def random_problem(choices: Choices | int, knobs: ProblemKnobs | None = None) -> MemoryProblem:
    """A random memory problem that some placement meets; a number is a seed."""
    pick = SeededChoices(choices) if isinstance(choices, int) else choices
    wanted = knobs or ProblemKnobs()
    align = max(wanted.aligns)
    clusters: list[Cluster] = []
    for number in range(wanted.clusters):
        optionally(pick, partial(_add_cluster, pick, wanted, number, clusters))
    clusters.sort(key=lambda cluster: cluster.birth)
    problem = MemoryProblem(clusters, align=align)
    if wanted.capacities and pick.chance(50):
        problem.capacities = {
            # Alignments of single clusters may leave gaps, so there is room for each.
            pool: without_reuse(problem, pool) + align * len(clusters)
            for pool in problem.pools
            if pool != FIXED_POOL
        }
    return problem


def _add_cluster(pick: Choices, knobs: ProblemKnobs, number: int, clusters: list[Cluster]) -> None:
    pieces = _pieces(pick, knobs, number)
    pool, fixed = pick.pick(knobs.pools), None
    step = pick.pick(knobs.aligns)
    if knobs.fixed and pick.chance(10):
        # One behind the other: fixed places that clash can't be met by anybody.
        ends = [c.fixed + c.size for c in clusters if c.fixed is not None]
        pool, fixed = FIXED_POOL, round_up(max(ends, default=0), step)
    owned = knobs.owned and fixed is None and pick.chance(10)
    clusters.append(Cluster(f"c{number}", pieces, step, pool, fixed, owned=owned))


def _pieces(pick: Choices, knobs: ProblemKnobs, number: int) -> tuple[tuple[int, Buffer], ...]:
    pieces, at = [], 0
    count = pick.pick((1, 1, 1, 2, 3)) if knobs.pieces else 1
    for part in range(count):
        size = pick.integer(1, knobs.largest)
        first = pick.integer(0, knobs.length)
        last = first + pick.integer(0, max(1, knobs.length // 2))
        pieces.append((at, Buffer(f"b{number}.{part}", size, first, last)))
        at += size
    return tuple(pieces)
