"""Read/write conflicts: Identity nodes are put in, taken apart and taken out where kinds say so."""

from __future__ import annotations

from typing import Any

from ge_core.api import Level, Stage
from ge_memconflict.readwrite.codes import CHECK_CODES, CODES, COUNTERS, GUARD_CODES


def register_passes(passes: Any) -> None:
    """Declare the passes that judge by kinds of reading and writing."""
    passes.add(
        "ge_memconflict.readwrite.handle_pass:HandleMemoryRWConflict",
        levels=Level.O0.and_above(),
        stage=Stage.MEM_CONFLICT,
        before=("MemLayoutConflictOptimizer",),
        requires=("read_write",),
        handles=("Identity", "ReadVariableOp"),
        codes=CODES,
        counters=COUNTERS,
        summary="Puts Identity nodes where reading and writing clash, and takes out needless ones.",
    )
    passes.add(
        "ge_memconflict.readwrite.scribbles:ScribbleGuardPass",
        levels=Level.O0.and_above(),
        stage=Stage.MEM_CONFLICT,
        after=("HandleMemoryRWConflict",),
        before=("WriteBackRemovePass", "TensorMoveCoalescePass", "MemLayoutConflictOptimizer"),
        codes=GUARD_CODES,
        summary="Copies what a node destroys where exact accesses say that somebody would see it.",
    )
    passes.add(
        "ge_memconflict.readwrite.check_pass:CheckRWConflict",
        levels=Level.O0.and_above(),
        stage=Stage.CHECK,
        codes=CHECK_CODES,
        summary="Reports reads and writes whose kind can't be told.",
    )
