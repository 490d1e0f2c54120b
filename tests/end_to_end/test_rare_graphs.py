"""Random graphs with everything in them: proved, told of, and computing what the original does."""

from __future__ import annotations

import pytest

from tests.end_to_end.campaign import LEVELS, problem, unordered

SAMPLE = 500
CAMPAIGN = 20_000
ONCE_WRONG = (3317, 8131, 11205, 13287, 14423, 14935, 16617)


def check(first: int, last: int, level: str) -> None:
    """All graphs of a range, at one level."""
    found = [problem(seed, level) for seed in range(first, last)]
    assert [] == [text for text in found if text is not None]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", range(0, SAMPLE, 25))
def test_a_sample_holds(first: int, level: str) -> None:
    """No violation, no copy without a word, no bit that differs in any order of the streams."""
    check(first, first + 25, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_what_the_campaign_found_holds(seed: int, level: str) -> None:
    """Graphs behind the sample that were compiled to something else once."""
    check(seed, seed + 1, level)


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_a_removal_leaves_no_store_unordered(first: int) -> None:
    """What GE's lint finds afterwards it found before."""
    assert [] == [text for seed in range(first, first + 25) if (text := unordered(seed))]


@pytest.mark.soak
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", range(SAMPLE, CAMPAIGN, 100))
def test_the_campaign_holds(first: int, level: str) -> None:
    """The same for many more."""
    check(first, min(first + 100, CAMPAIGN), level)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(100, 4000, 100))
def test_no_removal_leaves_a_store_unordered(first: int) -> None:
    """The same for many more."""
    assert [] == [text for seed in range(first, first + 100) if (text := unordered(seed))]
