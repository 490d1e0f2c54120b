"""GE's facts about copy removal, one case file each, run with every installed plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.cases import Case, find_cases, run_case
from ge_core.session.kernel import default_kernel

FOLDER = Path(__file__).parents[3] / "tests" / "cases" / "tensormove"
CASES = list(find_cases([FOLDER]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_holds(case: Case) -> None:
    """What the case expects to go has gone, what stays gives the rule that it names."""
    assert [] == run_case(case, default_kernel()).failures


def test_all_cases_are_found() -> None:
    """None is left out because it can't be read."""
    assert len(list(FOLDER.glob("*.json"))) == len(CASES) > 0
