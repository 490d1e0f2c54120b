"""Nested work without nested calls: the depth of a graph costs no Python stack."""

from __future__ import annotations

from collections.abc import Iterator

Work = Iterator["Work"]
"""A piece of work, as a generator; what it yields is done before it goes on."""


def drive(work: Work) -> None:
    """Do a piece of work and everything that it yields."""
    stack = [work]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        else:
            stack.append(inner)
