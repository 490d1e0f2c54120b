"""What anchor types, layout rules and the read/write checker promise, held against this package."""

from __future__ import annotations

from ge_core.testing import OpRecipe, checker_conformance

GROUPS = (
    OpRecipe("HcomAllGather", inputs=2, attrs={"continuous_input": (True,)}),
    OpRecipe("HcomReduceScatter", outputs=2, attrs={"continuous_output": (True,)}),
)

test_anchor_types_and_checkers = checker_conformance("memconflict", ops=GROUPS)
