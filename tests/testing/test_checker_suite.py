"""`checker_conformance`: good checkers pass, and each bad one fails in what it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import UsageError
from ge_core.testing import checker_conformance
from tests.testing import bad_checkers as bad

BANKS: dict[str, Any] = {"attrs": {"bank": (1, 2)}, "samples": 4}

test_good_checkers_are_fine = checker_conformance(
    types=bad.types, checkers=bad.with_check(bad.same_bank), **BANKS
)


@pytest.mark.parametrize(
    ("function", "aspects", "words"),
    [
        (bad.lower_first, ["test_checkers_are_symmetric"], "the other way round"),
        (bad.counts, ["test_checkers_are_pure", "test_checkers_are_symmetric"], "PINNED"),
        (bad.edits, ["test_checkers_are_pure"], "edited random graph"),
        (bad.says_true, ["test_checkers_answer_rightly"], "query.no_conflict()"),
        (bad.gives_other_codes, ["test_checkers_answer_rightly"], "codes=('BECAUSE',)"),
        (
            bad.raises,
            [
                "test_checkers_answer_rightly",
                "test_checkers_are_pure",
                "test_checkers_are_symmetric",
            ],
            "raised KeyError: 'no such attribute'",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_bad_checker_fails_in_its_aspect(
    function: Any, aspects: list[str], words: str, run_suite: Any
) -> None:
    """The message names the rule, its owner, and the anchors."""
    suite = checker_conformance(types=bad.types, checkers=bad.with_check(function), **BANKS)
    failed = run_suite(suite).failed
    assert set(failed) <= set(aspects)
    assert failed, "nothing failed"
    for text in failed.values():
        assert words in text
        assert "code under test" in text


def test_a_marker_that_raises_is_named(run_suite: Any) -> None:
    """With the anchor that it raised on."""
    suite = checker_conformance(types=lambda t: t.add("CARELESS", marks=bad.careless), samples=2)
    failed = run_suite(suite).failed["test_markers_answer_for_every_anchor"]
    assert "anchor type 'under_test.CARELESS' raised AttributeError" in failed
    assert "some@1" in failed


def test_types_that_no_graph_has_are_asked_for(run_suite: Any) -> None:
    """Otherwise the tests would say nothing; what can be done is said."""
    suite = checker_conformance(types=bad.types, samples=2)
    failed = run_suite(suite).failed
    assert ["test_there_is_something_to_check"] == list(failed)
    assert "attrs={'acme.bank': (1, 2)}" in failed["test_there_is_something_to_check"]


def test_rules_about_unknown_types_are_found(run_suite: Any) -> None:
    """A misspelled type would never be asked about."""
    suite = checker_conformance(
        types=bad.types, checkers=lambda c: c.never("PINNED", "NORMAL_INPTU"), **BANKS
    )
    failed = run_suite(suite).failed
    assert ["test_rules_speak_of_known_types"] == list(failed)
    assert "NORMAL_INPUT" in failed["test_rules_speak_of_known_types"]


def test_it_wants_something_to_test() -> None:
    """A plugin, or hooks."""
    with pytest.raises(UsageError, match="needs a plugin"):
        checker_conformance()
