"""A pass is on at the levels that it names, which need not be all from one upwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.passes import Level
from ge_core.passes.planning import Catalog, plan_passes
from ge_core.passes.precedence import ARGUMENTS, Source


@pytest.mark.parametrize(("level", "runs"), [("O1", True), ("O2", False), ("O3", True)])
def test_a_pass_may_leave_levels_out(
    catalog: Callable[..., Catalog], level: str, runs: bool
) -> None:
    """On at O1 and O3: at O2 it is off."""
    there = catalog({"A": {"levels": (Level.O1, Level.O3)}})
    schedule = plan_passes(there, [Source(ARGUMENTS, {"ge.oo.level": level})])
    assert runs == schedule.decisions["A"].runs
