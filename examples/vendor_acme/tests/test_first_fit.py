"""`acme.first_fit`: where it places what, and that it is chosen by name.

That its plans are valid, proved and the same on every run is in `test_conformance.py`.
"""

from __future__ import annotations

from acme_ge.first_fit import FirstFit
from graphs import branches

from ge_core.api import ARENA, Budget, Buffer, Cluster, MemoryProblem

ASSIGNER = "acme.first_fit"


def problem(*lives: tuple[int, int, int]) -> MemoryProblem:
    """Buffers by (size, first, last), each a cluster of its own."""
    return MemoryProblem(
        Cluster.of(Buffer(f"b{at}", size, first, last))
        for at, (size, first, last) in enumerate(lives)
    )


def test_the_lowest_free_offset_is_taken():
    """The third buffer lies where the first one was; the second is in nobody's way."""
    placement = FirstFit().assign(problem((100, 0, 1), (100, 1, 3), (100, 2, 4)), Budget())
    assert placement.offsets == (0, 128, 0)


def test_a_compile_with_it_is_proved(compiled):
    """The plan says who made it, and takes no less than the bound and no more than no reuse."""
    result = compiled(branches(), assigner=ASSIGNER)
    arena = result.plan.pools[ARENA]
    assert result.assigner == ASSIGNER
    assert arena.lower_bound <= arena.bytes <= arena.no_reuse
