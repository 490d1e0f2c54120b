"""What a proof answers: violations, assumptions, and what callers may tell it about rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ge_core.ir import Graph

Check = Literal["reads", "one_op", "order", "layout", "permission", "interface", "effects"]

Range = tuple[str, int, int]
"""Pool, first byte, one past the last."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a compiled graph with its plan is not the original.

    Attributes:
        check: which of the seven checks found it.
        node: the node instance, `call/.../node`.
        input: its input, where one is meant.
        range: the bytes that are wrong.
        expected, found: what the bytes should hold and hold, or what should be and is.
        written_by: the node instance that wrote what was found.
        since_pass: the pass that brought it in, where that is known; else the last rewrite that
            touched one of these nodes.
        differs: in words, what differs where `expected` and `found` have the same name.
        from_pass, up_to_pass: passes that changed values on purpose, where there are some: the
            graph was compared from what the one left, and up to what the other was given.
    """

    check: Check
    node: str
    input: int | None = None
    range: Range | None = None
    expected: str = ""
    found: str = ""
    written_by: str | None = None
    since_pass: str | None = None
    differs: str | None = None
    from_pass: str | None = None
    up_to_pass: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {
            "check": self.check,
            "node": self.node,
            "input": self.input,
            "range": None if self.range is None else list(self.range),
            "expected": self.expected,
            "found": self.found,
            "written_by": self.written_by,
            "since_pass": self.since_pass,
            "differs": self.differs,
            "from_pass": self.from_pass,
            "up_to_pass": self.up_to_pass,
        }

    def __str__(self) -> str:
        where = self.node if self.input is None else f"{self.node}@{self.input}"
        text = f"{self.check}: {where}"
        if self.range is not None:
            pool, start, end = self.range
            text += f" [{pool} {start}..{end}]"
        text += f": expected {self.expected}, found {self.found}"
        if self.differs is not None:
            text += f" ({self.differs})"
        if self.written_by is not None:
            text += f", written by {self.written_by}"
        if self.since_pass is not None:
            text += f", since pass {self.since_pass}"
        if self.from_pass is not None:
            text += f", from pass {self.from_pass} on"
        if self.up_to_pass is not None:
            text += f", up to pass {self.up_to_pass}"
        return text


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The answer.

    Attributes:
        violations: in the order they were found; empty when the proof holds. The first one is the
            cause where others follow from it.
        assumptions: what was taken for granted. A proof with assumptions is no bare "ok".
    """

    violations: tuple[Violation, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.violations

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {
            "ok": self.ok,
            "violations": [violation.to_json() for violation in self.violations],
            "assumptions": list(self.assumptions),
        }


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A step of a pass, for messages: which pass touched which nodes, in the order it happened.

    Attributes:
        part: how many passes had changed values on purpose by then: it is no reason for what is
            wrong before that or behind the next; None, may be one for everything.
    """

    pass_name: str
    nodes: Sequence[str]
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A pass's word that an output computes what an output of the original graph computed.

    Attributes:
        compiled, original: `node:output`.
        by: the pass that says so.
    """

    compiled: str
    original: str
    by: str


@dataclass(frozen=True, slots=True)
class Rebase:
    """A pass that changed values on purpose: `after` is what has to be computed from there on.

    Attributes:
        before, after: the graph when the pass started and when it had ended.
        by: the pass.
    """

    before: Graph
    after: Graph
    by: str


@dataclass(slots=True)
class Findings:
    """Collects violations, a bounded number of each check."""

    rewrites: Sequence[Rewrite] = ()
    most: int = 50
    violations: list[Violation] = field(default_factory=list)
    left_out: int = 0
    part: int | None = None
    from_pass: str | None = None
    up_to_pass: str | None = None
    _counts: dict[str, int] = field(default_factory=dict)
    _table: dict[str, tuple[int, str]] | None = None

    def enter(
        self, part: int | None, from_pass: str | None = None, up_to_pass: str | None = None
    ) -> None:
        """Say what is compared next: the part, and the passes that it lies between."""
        self.part, self.from_pass, self.up_to_pass = part, from_pass, up_to_pass
        self._table = None

    def add(
        self,
        check: Check,
        node: str,
        *,
        input: int | None = None,
        range: Range | None = None,
        expected: str = "",
        found: str = "",
        written_by: str | None = None,
        differs: str | None = None,
        about: Sequence[str] = (),
    ) -> None:
        """Report one; `about` names further nodes that a rewrite may have touched."""
        count = self._counts[check] = self._counts.get(check, 0) + 1
        if count > self.most:
            self.left_out += 1
            return
        names = [name for name in (node, written_by) if name is not None]
        since = self._since([*names, *about])
        self.violations.append(
            Violation(
                check,
                node,
                input,
                range,
                expected,
                found,
                written_by,
                since,
                differs,
                self.from_pass,
                self.up_to_pass,
            )
        )

    def _since(self, paths: Sequence[str]) -> str | None:
        """The latest rewrite that touched one of these node instances."""
        latest: tuple[int, str] | None = None
        for path in paths:
            name = path.rpartition("/")[2] if path not in self._touched() else path
            found = self._touched().get(name)
            if found is not None and (latest is None or found > latest):
                latest = found
        return None if latest is None else latest[1]

    def _touched(self) -> dict[str, tuple[int, str]]:
        if self._table is None:
            self._table = {
                name: (at, rewrite.pass_name)
                for at, rewrite in enumerate(self.rewrites)
                if None in (rewrite.part, self.part) or rewrite.part == self.part
                for name in rewrite.nodes
            }
        return self._table
