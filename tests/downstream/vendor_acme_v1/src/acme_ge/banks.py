"""Pinned banks: a tensor whose description names a bank must lie there."""

from __future__ import annotations


def is_pinned(anchor):
    """Whether the anchor's description names a bank."""
    return anchor.desc is not None and "acme.bank" in anchor.desc.attrs


def same_bank(a, b, query):
    """Two pinned anchors in one memory must name the same bank."""
    if a.desc.attrs["acme.bank"] == b.desc.attrs["acme.bank"]:
        return query.no_conflict()
    return query.conflict(code="TWO_BANKS", isolate=b)
