"""The undo log that graph, alias classes and order share: a transaction rolls all of them back."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ge_core.ir.node import Node, OutputAnchor


class Bypass(NamedTuple):
    """One `Graph.bypass`: what an analysis that keeps up needs to know of it.

    Attributes:
        before, after: the root's version around it; where they don't follow upon one another, there
            were other edits, or it was taken back.
        node: the node that is gone; source: what its readers read now instead of `output`.
    """

    before: int
    after: int
    node: Node
    source: OutputAnchor
    output: OutputAnchor


class Journal:
    """Undo steps of the open transactions; recording costs nothing while none is open."""

    __slots__ = ("_depth", "_undo", "bypasses", "locks", "rollbacks")

    def __init__(self) -> None:
        self.locks = 0
        """How many callers have asked that nobody edits."""
        self.bypasses: list[Bypass] = []
        """All that the graph has seen, those taken back included: what analyses keep up by."""
        self.rollbacks = 0
        """How often edits were taken back: what was computed from them is stale."""
        self._undo: list[Callable[[], object]] = []
        self._depth = 0

    @property
    def active(self) -> bool:
        """Whether somebody may still want to roll back."""
        return self._depth > 0

    @property
    def depth(self) -> int:
        """How many transactions are open."""
        return self._depth

    def record(self, undo: Callable[[], object]) -> None:
        """Remember how to take the edit back that was just made. Call only while `active`."""
        self._undo.append(undo)

    def begin(self) -> Transaction:
        """Open a transaction; they nest."""
        return Transaction(self)

    def lock(self) -> ReadOnly:
        """Refuse edits inside; such regions nest."""
        return ReadOnly(self)

    def _open(self) -> int:
        self._depth += 1
        return len(self._undo)

    def _close(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._undo.clear()

    def _rollback_to(self, mark: int) -> None:
        if len(self._undo) > mark:
            self.rollbacks += 1
        while len(self._undo) > mark:
            self._undo.pop()()


class Transaction:
    """A context manager: keeps the edits on success, takes all back on an exception."""

    __slots__ = ("_journal", "_mark", "_open")

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._mark = 0
        self._open = False

    def __enter__(self) -> Transaction:
        self._mark = self._journal._open()
        self._open = True
        return self

    def rollback(self) -> None:
        """Take back everything since the transaction began; it stays open."""
        if not self._open:
            raise RuntimeError("the transaction is closed")
        self._journal._rollback_to(self._mark)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._open:
            raise RuntimeError("the transaction is closed already")
        if kind is not None:
            self._journal._rollback_to(self._mark)
        self._open = False
        self._journal._close()


class ReadOnly:
    """A context manager: edits inside are taken back at once and are errors."""

    __slots__ = ("_journal",)

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def __enter__(self) -> None:
        # As in a transaction, so that every edit knows how to take itself back.
        self._journal._open()
        self._journal.locks += 1

    def __exit__(self, *_: object) -> None:
        self._journal.locks -= 1
        self._journal._close()
