"""Nested timing: how long passes, checks and analyses took, as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any


class Timing:
    """A tree of spans; equal names under one parent are added up. Only `to_json` is for output."""

    def __init__(self, name: str = "total", seconds: float = 0.0) -> None:
        self.name = name
        self.seconds = seconds
        self.count = 0
        self.children: dict[str, Timing] = {}
        self._open: list[Timing] = [self]

    @contextmanager
    def span(self, name: str) -> Iterator[Timing]:
        """Measure what happens inside, below the span that is open now."""
        parent = self._open[-1]
        child = parent.children.setdefault(name, Timing(name))
        self._open.append(child)
        start = perf_counter()
        try:
            yield child
        finally:
            child.seconds += perf_counter() - start
            child.count += 1
            self._open.pop()

    def add(self, *spans: Timing) -> None:
        """Put spans below this one that were measured elsewhere; it takes as long as they do."""
        for span in spans:
            self.children[span.name] = span
            self.seconds += span.seconds

    @property
    def own_seconds(self) -> float:
        """What is not explained by the spans below."""
        return self.seconds - sum(child.seconds for child in self.children.values())

    def to_json(self) -> dict[str, Any]:
        """The tree, spans in the order in which they first began."""
        record: dict[str, Any] = {
            "name": self.name,
            "seconds": self.seconds,
            "count": self.count,
        }
        if self.children:
            record["children"] = [child.to_json() for child in self.children.values()]
        return record

    def lines(self, depth: int = 0) -> list[str]:
        """The tree for people, one span per line."""
        text = f"{self.seconds:9.3f} s  {'  ' * depth}{self.name}"
        below = [line for child in self.children.values() for line in child.lines(depth + 1)]
        return [text if self.count < 2 else f"{text} ({self.count}x)", *below]
