"""Which removed moves are kept where their removal raised the peak."""

from __future__ import annotations

import pytest

from ge_core.session.peak import MAX_ATTEMPTS, keep_moves


@pytest.mark.parametrize(
    ("removed", "needed"), [(8, {3}), (9, {0, 8}), (1, {0}), (7, {1, 2, 5}), (40, {39})]
)
def test_only_moves_that_must_be_kept_are(removed: int, needed: set[int]) -> None:
    """The cheapest are kept first, and what turns out not to be needed goes again."""
    names = [f"m{at:02}" for at in range(removed)]
    wanted = frozenset(names[at] for at in needed)
    attempts: list[frozenset[str]] = []

    def attempt(kept: frozenset[str]) -> frozenset[str]:
        attempts.append(kept)
        return kept

    found = keep_moves(names, attempt, lambda kept: kept >= wanted)
    assert found is not None and found >= wanted
    assert len(attempts) <= MAX_ATTEMPTS
    if removed <= 9:
        assert wanted == found


def test_no_answer_where_keeping_all_does_not_help() -> None:
    """One attempt tells."""
    assert None is keep_moves(["m"], lambda kept: kept, lambda kept: False)
