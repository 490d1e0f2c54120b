"""Names for nodes: unique in the whole graph, which ONNX's are not."""

from __future__ import annotations

from collections.abc import Iterable


class NameTable:
    """Hands out names; reserved ones only to those who ask for them as their own."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._reserved = set(reserved)
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def own(self, name: str) -> str:
        """`name` itself where nobody has it, else with a number behind."""
        if name and name not in self._taken:
            self._taken.add(name)
            return name
        return self._numbered(name or "node")

    def take(self, stem: str) -> str:
        """A name like `stem` that is neither taken nor reserved."""
        stem = stem or "node"
        if stem in self._taken or stem in self._reserved:
            return self._numbered(stem)
        self._taken.add(stem)
        return stem

    def _numbered(self, stem: str) -> str:
        number = self._next.get(stem, 1)
        while (name := f"{stem}_{number}") in self._taken or name in self._reserved:
            number += 1
        self._next[stem] = number + 1
        self._taken.add(name)
        return name
