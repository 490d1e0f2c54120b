"""Acme's plugin for the graph engine. This module only registers; nothing heavy is imported."""

from acme_ge.banks import is_pinned, same_bank
from acme_ge.casts import DropNoOpCast
from acme_ge.windows import step_over_window
from ge_core.api import Level, OpTraits, Stage, hookimpl


@hookimpl
def ge_register_ops(ops):
    """AcmeWindow hands its input on as it is."""
    ops.add(OpTraits("AcmeWindow", aliases=((0, 0),)), source="ge")


@hookimpl
def ge_register_passes(passes):
    """One pass, before the joins are looked at."""
    passes.add(
        DropNoOpCast,
        levels=Level.O2.and_above(),
        stage=Stage.OPTIMIZE_STAGE2,
        before=["ConcatNotaskPass"],
        # That a Cast to its own dtype is a copy is this pass's knowledge, not the proof's.
        changes_values=True,
    )


@hookimpl
def ge_register_anchor_types(types):
    """Tensors that a description pins to a memory bank."""
    types.add("acme.PINNED_BANK", marks=is_pinned)


@hookimpl
def ge_register_conflict_checkers(checkers):
    """A bank is not the caller's, and two banks are not one."""
    checkers.always("acme.PINNED_BANK", "USER_MEMORY_OUTPUT", code="BANK_IS_NOT_THE_CALLERS")
    checkers.never("acme.PINNED_BANK", "NORMAL_INPUT")
    checkers.check("acme.PINNED_BANK", "acme.PINNED_BANK", same_bank, codes=("TWO_BANKS",))


@hookimpl
def ge_register_memory_assigners(assigners):
    """Imported when somebody asks for it."""
    assigners.add("acme.first_fit", "acme_ge.first_fit:FirstFit")


@hookimpl
def ge_register_trace_rules(rules):
    """How a source trace steps over AcmeWindow."""
    rules.add("AcmeWindow", step=step_over_window)
