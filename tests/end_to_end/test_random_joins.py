"""Joins and splits in any combination: proved, bit-exact, no more bytes, no larger arena."""

from __future__ import annotations

import pytest

from tests.end_to_end.random_joins import problem

LEVELS = ("O3", "O4")
SAMPLE = 75
CAMPAIGN = 20_000


def check(first: int, last: int, level: str) -> None:
    """All graphs of a range."""
    found = (problem(seed, level) for seed in range(first, last))
    assert [] == [text for text in found if text is not None]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", range(0, SAMPLE, 25))
def test_a_sample_holds(first: int, level: str) -> None:
    """On targets with and without an alignment of pieces, and with rows that may have gaps."""
    check(first, first + 25, level)


@pytest.mark.soak
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", range(SAMPLE, CAMPAIGN, 50))
def test_the_campaign_holds(first: int, level: str) -> None:
    """The same for many more."""
    check(first, min(first + 50, CAMPAIGN), level)
