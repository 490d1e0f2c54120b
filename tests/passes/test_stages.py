"""Stages and the places around them."""

from __future__ import annotations

import pytest

from ge_core.errors import UnknownNameError
from ge_core.passes import PLACES, Place, Stage


def test_every_stage_has_a_place_before_and_after() -> None:
    """Three places per stage, in running order."""
    names = [str(place) for place in PLACES]
    assert 3 * len(Stage) == len(names)
    assert ["before_PREPARE", "PREPARE", "after_PREPARE", "before_OPTIMIZE_STAGE1"] == names[:4]
    assert sorted(PLACES, key=lambda place: place.rank) == list(PLACES)


def test_places_read_back_from_their_names() -> None:
    """Each by its own, `before_BEFORE_BUILD` too."""
    assert list(PLACES) == [Place.of(str(place)) for place in PLACES]
    assert Stage.CHECK.before == Place.of("before_CHECK")


def test_an_unknown_stage_names_near_ones() -> None:
    """A misspelled stage is an error."""
    with pytest.raises(UnknownNameError) as raised:
        Place.of("TENSORMOVE")
    assert "TENSOR_MOVE" in raised.value.near
