"""The kernel checks placements itself, against the rule and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import PlanError
from ge_core.memory import Buffer, Cluster, MemoryProblem, Placement, check_placement

spans = st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda s: (s[0], s[0] + s[1]))


@st.composite
def placed(draw: st.DrawFn) -> tuple[MemoryProblem, Placement]:
    """A small problem and any offsets at all."""
    clusters, offsets = [], []
    for number in range(draw(st.integers(1, 7))):
        pieces, at = [], 0
        for piece in range(draw(st.integers(1, 2))):
            size = draw(st.integers(1, 4))
            pieces.append((at, Buffer(f"b{number}.{piece}", size, *draw(spans))))
            at += size
        owned = draw(st.integers(0, 7)) == 0
        clusters.append(Cluster(f"c{number}", tuple(pieces), 1, owned=owned))
        offsets.append(draw(st.integers(0, 12)))
    return MemoryProblem(clusters, align=1), Placement(tuple(offsets))


def clash(problem: MemoryProblem, offsets: tuple[int, ...]) -> bool:
    """Every pair of clusters, every pair of pieces."""
    for a in problem.clusters:
        for b in problem.clusters[: a.index]:
            low, high = offsets[a.index], offsets[b.index]
            if low + a.size <= high or high + b.size <= low:
                continue
            if (a.owned and b.owned) or any(
                owner.owned
                and not (
                    offsets[owner.index] <= offsets[guest.index]
                    and offsets[guest.index] + guest.size <= offsets[owner.index] + owner.size
                )
                for owner, guest in ((a, b), (b, a))
            ):
                return True
            for da, one in a.pieces:
                for db, other in b.pieces:
                    if (
                        low + da < high + db + other.size
                        and high + db < low + da + one.size
                        and one.first <= other.last
                        and other.first <= one.last
                    ):
                        return True
    return False


@given(placed())
def test_a_placement_is_accepted_exactly_when_no_pair_clashes(
    case: tuple[MemoryProblem, Placement],
) -> None:
    """The sweep agrees with looking at all pairs."""
    problem, placement = case
    if clash(problem, placement.offsets):
        with pytest.raises(PlanError) as caught:
            check_placement(problem, placement, "somebody 1.0")
        assert caught.value.owner == "somebody 1.0"
    else:
        check_placement(problem, placement)


def _problem(**facts: int) -> MemoryProblem:
    clusters = [
        Cluster("a", ((0, Buffer("a", 40, 0, 2)),), 64),
        Cluster("b", ((0, Buffer("b", 40, 2, 3)),), 64, fixed=facts.get("fixed")),
    ]
    capacity = {"HBM": facts["capacity"]} if "capacity" in facts else None
    return MemoryProblem(clusters, capacities=capacity)


@pytest.mark.parametrize(
    ("problem", "offsets", "message"),
    [
        (_problem(), (0,), "1 offsets for 2 clusters"),
        (_problem(), (0, -64), "cluster 'b' can't be placed at offset -64: it is negative"),
        (_problem(), (0, 40), "'b' can't be placed at offset 40: it is no multiple of 64"),
        (_problem(fixed=128), (0, 64), "'b' can't be placed at offset 64: it is not the fixed 128"),
        (_problem(), (0, 1 << 70), "'b' can't be placed at offset .*: its end doesn't fit in 63"),
        (_problem(), (0, 0), "'a' at \\[0, 40\\) and 'b' at \\[0, 40\\)"),
        (_problem(capacity=64), (0, 64), "pool HBM needs 128 bytes and has 64"),
    ],
)
def test_errors_say_what_is_wrong_and_whose_it_is(
    problem: MemoryProblem, offsets: tuple[int, ...], message: str
) -> None:
    """Each kind of wrong answer has a message with names, numbers and the owner."""
    with pytest.raises(PlanError, match=message) as caught:
        check_placement(problem, Placement(offsets), "acme 2.0")
    assert caught.value.owner == "acme 2.0"
