"""The read/write matrix: may a reader of this kind stand at an output of that kind?

GE's table: rows are what the output's memory allows, columns what the reader does to it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from ge_core.api import InputKind, OutputKind


class Verdict(Enum):
    """What GE does where an output of one kind meets an input of another."""

    FINE = "fine"
    IDENTITY = "identity"
    """The reader gets a copy."""
    WRONG_GRAPH = "wrong graph"
    """One of the kinds can't be told, or contradicts itself."""


_COPIES: Final = frozenset(
    {
        (OutputKind.READ_ONLY_CONST, InputKind.WRITEABLE),
        (OutputKind.READ_ONLY_CONST, InputKind.SCOPE_WRITEABLE),
        (OutputKind.READ_ONLY, InputKind.SCOPE_WRITEABLE),
        (OutputKind.WRITEABLE, InputKind.SCOPE_WRITEABLE),
    }
)


class ReadWriteMatrix:
    """The registered read/write checker."""

    def verdict(self, output: OutputKind, reader: InputKind) -> Verdict:
        """The entry of the matrix."""
        if output is OutputKind.INVALID or reader is InputKind.INVALID:
            return Verdict.WRONG_GRAPH
        return Verdict.IDENTITY if (output, reader) in _COPIES else Verdict.FINE

    def conflict(self, output: OutputKind, reader: InputKind) -> bool:
        """Whether the reader can't simply stand there."""
        return self.verdict(output, reader) is not Verdict.FINE
