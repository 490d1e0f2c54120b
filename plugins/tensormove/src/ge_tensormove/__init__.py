"""Removal of TensorMove nodes whose copy nobody can see."""

from typing import Any

from ge_core.api import Level, Stage, hookimpl
from ge_tensormove.coalesce.codes import CODES as COALESCE_CODES
from ge_tensormove.codes import CODES
from ge_tensormove.trace_rules import register_trace_rules
from ge_tensormove.writeback.codes import CODES as WRITE_BACK_CODES


@hookimpl
def ge_register_passes(passes: Any) -> None:
    """Declare the pass."""
    # It goes with the pass: nobody asks it later, and one made anew would say the same of less.
    passes.add_analysis("ge_tensormove", same=None, summary="What the removal of copies knows.")
    passes.add(
        "ge_tensormove.delete_pass:TensorMoveDeletePass",
        levels=Level.O3.and_above(),
        stage=Stage.TENSOR_MOVE,
        preserves=("ge_tensormove",),
        handles=("TensorMove",),
        codes=CODES,
        summary="Removes TensorMove nodes whose copy nobody can see.",
    )
    passes.add(
        "ge_tensormove.writeback.write_back_pass:WriteBackRemovePass",
        levels=Level.O4.and_above(),
        stage=Stage.MEM_CONFLICT,
        after=("HandleMemoryRWConflict",),
        before=("TensorMoveCoalescePass", "MemLayoutConflictOptimizer"),
        handles=("TensorMove", "Assign", "AssignVariableOp"),
        codes=WRITE_BACK_CODES,
        summary="Has ops that update a copy of a variable work on the variable itself.",
    )
    passes.add(
        "ge_tensormove.coalesce.coalesce_pass:TensorMoveCoalescePass",
        levels=Level.O4.and_above(),
        stage=Stage.MEM_CONFLICT,
        after=("HandleMemoryRWConflict",),
        before=("MemLayoutConflictOptimizer",),
        handles=("TensorMove", "Identity"),
        codes=COALESCE_CODES,
        summary="Removes copies that nobody can see by all accesses to their memory.",
    )


@hookimpl
def ge_register_trace_rules(rules: Any) -> None:
    """Declare how a trace leaves and enters subgraphs, follows views, and where it stops."""
    register_trace_rules(rules)
