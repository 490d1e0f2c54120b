"""`pipeline_conformance` and `target_conformance`: on those that are there, and on bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ge_core.testing import pipeline_conformance, target_conformance
from tests.testing import bare_target

test_o3 = pipeline_conformance("O3", samples=4)
test_text = pipeline_conformance(
    "OPTIMIZE_STAGE2(SplitNotaskPass,ConcatNotaskPass),TensorMoveDeletePass", samples=4
)
test_generic = target_conformance("generic", samples=4)
test_ascend = target_conformance("ascend", samples=4)


def test_an_unknown_pass_is_found(run_suite: Any) -> None:
    """In every test, with near names."""
    failed = run_suite(pipeline_conformance("ConcatNoTaskPass")).failed
    assert "ConcatNotaskPass" in failed["test_it_can_be_planned"]


def test_what_no_target_file_may_say_is_found(run_suite: Any, tmp_path: Path) -> None:
    """The file is named."""
    path = tmp_path / "odd.toml"
    path.write_text('name = "odd"\nalign_bytes = 48\n')
    failed = run_suite(target_conformance(path)).failed
    assert "48 is not a power of two" in failed["test_compiles_are_proved"]


def test_a_target_that_nothing_is_said_about(run_suite: Any) -> None:
    """Everything else holds; the plugin that registers it need not be installed."""
    suite = target_conformance("bare", plugin=bare_target, samples=1)
    failed = run_suite(suite).failed
    assert ["test_it_is_described"] == list(failed)


def test_a_pipeline_that_runs_nothing(run_suite: Any) -> None:
    """It is parsed and planned, and does nothing at all."""
    failed = run_suite(pipeline_conformance("CHECK()", samples=1)).failed
    assert "runs no pass" in failed["test_it_can_be_planned"]
