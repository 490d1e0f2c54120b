"""Case files of single passes, compiled as a whole: the proof follows what the passes do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ge_core as ge

CASES = Path(__file__).parents[1] / "cases"
NEVER_RUN = {
    "cn-008-consumer-virtual-through-reshape",
    "cn-009-consumer-virtual-no-task",
    "sn-008-producer-no-task",
}
"""They say of a Relu that it has no task: nothing ever writes its result."""


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize("family", ["concat_notask", "tensormove"])
def test_case_files_are_proved_as_a_whole(family: str, level: str, tmp_path: Path) -> None:
    """All of them, in private formats and without a stated axis too."""
    refused = set()
    files = sorted((CASES / family).glob("*.json"))
    assert files
    for file in files:
        path = tmp_path / file.name
        path.write_text(json.dumps(json.loads(file.read_text())["graph"]))
        result = ge.compile(path, level=level, target="ascend")
        assert result.proof is not None
        if not result.proof.ok:
            refused.add(file.stem)
    assert refused == {file.stem for file in files} & NEVER_RUN
