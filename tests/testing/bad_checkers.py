"""Anchor types and checkers that each break one promise, and a set that breaks none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_asked = 0


def is_pinned(anchor: Any) -> bool:
    """Whether a bank is named."""
    return anchor.desc is not None and "bank" in anchor.desc.attrs


def types(registry: Any) -> None:
    """The type that all checkers here are about."""
    registry.add("PINNED", marks=is_pinned)


def same_bank(a: Any, b: Any, query: Any) -> Any:
    """Two banks are not one."""
    if a.desc.attrs["bank"] == b.desc.attrs["bank"]:
        return query.no_conflict()
    return query.conflict(code="TWO_BANKS", isolate=b)


def with_check(function: Any, *codes: str) -> Callable[[Any], None]:
    """A hook that registers one checker."""

    def checkers(registry: Any) -> None:
        registry.check("PINNED", "PINNED", function, codes=codes or ("TWO_BANKS",))

    return checkers


def lower_first(a: Any, b: Any, query: Any) -> Any:
    """Depends on which is asked about first."""
    if a.desc.attrs["bank"] <= b.desc.attrs["bank"]:
        return query.no_conflict()
    return query.conflict(code="TWO_BANKS", isolate=b)


def counts(a: Any, b: Any, query: Any) -> Any:
    """Says something else every third time."""
    global _asked
    _asked += 1
    return query.conflict(code="TWO_BANKS") if _asked % 3 == 0 else query.no_conflict()


def edits(a: Any, b: Any, query: Any) -> Any:
    """Notes in the graph that it was here."""
    a.node.graph.set_attr(a.node, "_asked", int(a.node.attrs.get("_asked", 0)) + 1)
    return query.no_conflict()


def says_true(a: Any, b: Any, query: Any) -> Any:
    """Answers with a truth value."""
    return True


def gives_other_codes(a: Any, b: Any, query: Any) -> Any:
    """Has a reason that is not declared."""
    return query.conflict(code="BECAUSE")


def raises(a: Any, b: Any, query: Any) -> Any:
    """Looks for what isn't there."""
    return a.desc.attrs["no such attribute"]


def careless(anchor: Any) -> bool:
    """Takes for granted that every input is connected."""
    return "bank" in anchor.desc.attrs
