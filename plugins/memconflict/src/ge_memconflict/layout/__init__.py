"""Layout conflicts: finding them, and copying where they are."""

from __future__ import annotations

from typing import Any

from ge_core.api import ALWAYS, Stage
from ge_memconflict.layout.codes import CODES
from ge_memconflict.layout.saying import COUNTERS


def register_layout_passes(passes: Any) -> None:
    """Declare the pass: the last in its stage, as it looks at what all others leave."""
    passes.add(
        "ge_memconflict.layout.optimizer:MemLayoutConflictOptimizer",
        levels=ALWAYS,
        stage=Stage.MEM_CONFLICT,
        after=(
            "HandleMemoryRWConflict",
            "WriteBackRemovePass",
            "TensorMoveCoalescePass",
        ),
        codes=CODES,
        counters=COUNTERS,
        summary="Inserts copies where anchors of one memory contradict each other.",
    )
