"""A third party's memory banks: an anchor type, and what it means that two anchors share a bank.

A description with `pinned.bank` pins its tensor. Bank 13 is the one that the author never tried.
"""

from ge_core.api import hookimpl


def is_pinned(anchor):
    """Whether the anchor's description names a bank."""
    return anchor.desc is not None and "pinned.bank" in anchor.desc.attrs


def bank(anchor):
    """The bank's number; the author wrote a table for twelve."""
    return list(range(12))[anchor.desc.attrs["pinned.bank"]]


def same_bank(a, b, query):
    """One memory lies in one bank: the later reader gets a copy."""
    if bank(a) == bank(b):
        return query.no_conflict()
    late = b if query.earlier is a else a
    return query.conflict(code="TWO_BANKS", isolate=late)


def bank_and_caller(a, b, query):
    """Only bank 0 is the caller's too."""
    if bank(a) == 0:
        return query.no_conflict()
    return query.conflict(code="BANK_IS_NOT_THE_CALLERS", isolate=b)


@hookimpl
def ge_register_anchor_types(types):
    """Tensors in a bank."""
    types.add("PINNED_BANK", marks=is_pinned, about="A tensor that lies in a bank.")


@hookimpl
def ge_register_conflict_checkers(checkers):
    """Two checkers; for everything else nothing is said."""
    checkers.check("PINNED_BANK", "PINNED_BANK", same_bank, codes=["TWO_BANKS"])
    checkers.check(
        "PINNED_BANK", "USER_MEMORY_OUTPUT", bank_and_caller, codes=["BANK_IS_NOT_THE_CALLERS"]
    )
