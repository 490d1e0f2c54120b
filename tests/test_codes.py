"""Reason codes are a promise. That each is really given by a test, the root conftest checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.passes.closing import KERNEL_CODES
from ge_core.plugin.index import index_plugins
from ge_core.plugin.loading import load_plugins

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[1]


def declared() -> set[str]:
    """Every code of the kernel and of the first-party plugins."""
    registries = load_plugins(index_plugins(environ={"GE_DISABLE_PLUGINS": "*"})).registries
    return {code.name for code in (*KERNEL_CODES, *registries.codes().all())}


def test_there_are_codes() -> None:
    """The list is not empty because nothing was loaded."""
    assert {"NO_RULE_AT_LEVEL", "PASS_OFF", "R2_NOT_DECLARED", "NO_TASK"} <= declared()


@pytest.mark.parametrize(("flags", "code"), [((), 1), (("-k", "one"), 0)])
def test_a_whole_run_in_which_codes_are_not_given_fails(
    flags: tuple[str, ...], code: int, pytester: pytest.Pytester
) -> None:
    """The run names the codes; a run of a part says nothing."""
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.makepyprojecttoml("[tool.pytest.ini_options]\ntestpaths = ['inner']\n")
    pytester.mkdir("inner").joinpath("test_one.py").write_text("def test_one(): pass\n")
    ran = pytester.runpytest_subprocess("-p", "no:randomly", *flags)
    assert code == ran.ret
    said = [line for line in ran.outlines if "reason codes that no test gives" in line]
    assert code == len(said)
    assert all("PASS_OFF" in line and "NO_TASK" in line for line in said)
