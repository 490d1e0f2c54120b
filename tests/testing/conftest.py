"""Suites are run test by test in this process: what fails, what is left out, and the words."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest.outcomes import Failed, Skipped

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    # The bad examples are imported by name, by other processes too.
    sys.path.append(ROOT)


@dataclass
class Verdict:
    """What came of a suite: texts by test."""

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


def run_suite(suite: type[Any], only: Collection[str] = ()) -> Verdict:
    """Run every test of a suite, each parametrised one for all its values, or for some of them."""
    verdict = Verdict()
    for name in dir(suite):
        if not name.startswith("test_"):
            continue
        test = getattr(suite, name)
        marks = [m for m in getattr(test, "pytestmark", ()) if m.name == "parametrize"]
        values = [(value,) for value in marks[0].args[1]] if marks else [()]
        if only:
            values = [some for some in values if not some or some[0] in only]
        for value in values:
            called = name + "".join(f"[{part}]" for part in value)
            try:
                test(suite(), *value)
            except Failed as failure:
                verdict.failed[called] = str(failure)
            except Skipped as left_out:
                verdict.skipped[called] = str(left_out)
            else:
                verdict.passed.append(called)
    return verdict


@pytest.fixture(name="run_suite")
def run_suite_fixture() -> Any:
    """`run_suite(suite)`: the verdict on every test of it."""
    return run_suite
