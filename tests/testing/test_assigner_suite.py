"""`assigner_conformance`: a good assigner passes, and each bad one fails in what it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.testing import assigner_conformance
from tests.testing import bad_assigners as bad

test_a_good_assigner_is_fine = assigner_conformance(bad.Good)

BAD: list[tuple[type[Any], set[str], str]] = [
    (bad.NeedsClusters, {"test_nothing_is_placed_nowhere"}, "IndexError"),
    (bad.AsksHashes, {"test_other_processes_give_equal_plans"}, "answers otherwise"),
    (bad.Alternates, {"test_equal_problems_give_equal_plans"}, "answers one problem in two ways"),
    (bad.Renames, {"test_problems_are_left_alone"}, "changed the problem"),
    (bad.NeverTires, {"test_time_that_is_over_ends_the_search"}, "goes on searching"),
    (bad.HidesItsHaste, {"test_time_that_is_over_ends_the_search"}, "cut_short"),
    (bad.Boasts, {"test_optimal_means_optimal"}, "bytes optimal, and"),
]


@pytest.mark.parametrize(("work", "aspects", "words"), BAD, ids=[w.__name__ for w, _, _ in BAD])
def test_a_bad_assigner_fails_in_its_aspect(
    work: type[Any], aspects: set[str], words: str, run_suite: Any
) -> None:
    """The message says what was wrong, and shows the problem where it matters."""
    failed = run_suite(assigner_conformance(work, problems=6, graphs=2)).failed
    assert aspects <= set(failed)
    assert all(name.partition("[")[0] in TOUCHED[work] for name in failed), failed
    for aspect in aspects:
        assert words in failed[aspect]
        assert work.__name__ in failed[aspect]


TOUCHED = {
    bad.NeedsClusters: {"test_nothing_is_placed_nowhere"},
    bad.AsksHashes: {"test_other_processes_give_equal_plans", "test_plans_are_valid"},
    # Answers that differ show wherever two are compared.
    bad.Alternates: {
        "test_equal_problems_give_equal_plans",
        "test_other_processes_give_equal_plans",
        "test_any_number_of_steps_will_do",
        "test_time_that_is_over_ends_the_search",
    },
    # The kernel looks as well.
    bad.Renames: {"test_problems_are_left_alone", "test_compiles_with_it_are_proved"},
    bad.NeverTires: {"test_time_that_is_over_ends_the_search"},
    bad.HidesItsHaste: {"test_time_that_is_over_ends_the_search"},
    bad.Boasts: {"test_optimal_means_optimal"},
}


def test_plans_that_clash_are_shown(run_suite: Any) -> None:
    """The kernel's own words, and the problem with sizes and lives."""
    failed = run_suite(assigner_conformance(bad.AllAtZero, problems=3, graphs=2)).failed
    text = failed["test_plans_are_valid[ordinary]"]
    assert "share bytes, but are needed at the same time" in text
    assert "bytes at multiples of 64 in HBM, life" in text


def test_an_answer_of_another_type_is_said_so(run_suite: Any) -> None:
    """What to answer instead is told."""
    failed = run_suite(assigner_conformance(bad.Lists, problems=2, graphs=1)).failed
    assert "answer a Placement" in failed["test_plans_are_valid[ordinary]"]
    compiled = failed["test_compiles_with_it_are_proved"]
    assert "answered list" in compiled
    assert "code under test" in compiled


def test_a_name_nobody_has_is_answered_with_near_ones(run_suite: Any) -> None:
    """As everywhere."""
    failed = run_suite(assigner_conformance("bests")).failed
    assert "best (graph-engine-memassign" in failed["test_nothing_is_placed_nowhere"]
