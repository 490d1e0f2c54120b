"""Remarks: why a copy went or stayed, one record each, and the rule that every copy ends with one.

The nodes that must be explained (`subjects`) are those whose traits say move, join, pack, split or
slice. Passes give remarks through their context; what no pass spoke about is closed by the
kernel's own two codes (`ge_core.passes.closing`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import IO, Any

from ge_core.foreign import shortened
from ge_core.ir import InputAnchor, Node, OutputAnchor

SCHEMA = "ge-remark/1"


class RemarkKind(StrEnum):
    """What a remark says about its node."""

    APPLIED = "applied"
    MISSED = "missed"
    ANALYSIS = "analysis"
    FAILED = "failed"


_WEIGHT = {
    RemarkKind.ANALYSIS: 0,
    RemarkKind.FAILED: 1,
    RemarkKind.MISSED: 1,
    RemarkKind.APPLIED: 2,
}


HINTS = ("set", "edge", "cut", "unmark", "text")
"""The kinds of hints."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The one change that would remove the copy.

    Attributes:
        kind: `set`, an option: `name=value`; `edge`, a control edge to add: `one -> other`, or
            the data edge in the way: `one:0 -> other@0`; `cut`, a control edge to take out;
            `unmark`, a node and its attribute to take off: `node attribute`; `text`, a sentence.
    """

    kind: str
    value: str

    def __post_init__(self) -> None:
        if self.kind not in HINTS:
            known = ", ".join(map(repr, HINTS))
            raise ValueError(f"a hint is one of {known}, not {self.kind!r}")
        if not isinstance(self.value, str):
            raise TypeError(f"a hint's words are a text, not {shortened(self.value)}")

    @classmethod
    def of(cls, hint: Hint | Mapping[str, str] | str | None) -> Hint | None:
        """A hint from the forms that passes write: a sentence, `{"set": "..."}`, or a Hint."""
        if hint is None or isinstance(hint, Hint):
            return hint
        if isinstance(hint, str):
            return cls("text", hint)
        given: object = hint
        if not isinstance(given, Mapping) or len(given) != 1:
            raise TypeError(
                f"hint={shortened(hint)} is no sentence and no {{'set': ...}}, {{'edge': ...}}"
            )
        ((kind, value),) = hint.items()
        return cls(kind, value)


@dataclass(frozen=True, slots=True)
class Blame:
    """A node, or one of its anchors (`node:0` an output, `node@0` an input), in the way."""

    node: str
    anchor: str | None = None

    @classmethod
    def of(cls, what: Node | InputAnchor | OutputAnchor | Blame | str) -> Blame:
        """What a pass points at."""
        if isinstance(what, Blame):
            return what
        if isinstance(what, str):
            return cls(what)
        if isinstance(what, Node):
            return cls(what.name)
        if not isinstance(what, (InputAnchor, OutputAnchor)):
            raise TypeError(f"blame={shortened(what)} is no node and no anchor")
        return cls(what.node.name, repr(what))


def blame_two(copy: Node, blame: Any = None) -> list[Blame]:
    """Whom a remark on a copy blames: those given and, below two nodes, what it stands between.

    Args:
        copy: its feeds and first readers are added, as far as two nodes need it.
        blame: as a pass gives it; the copy itself is no news, and left out.
    """
    given = () if blame is None else blame if isinstance(blame, (list, tuple)) else (blame,)
    blames = [found for one in given if (found := Blame.of(one)) != Blame(copy.name)]
    nodes = {found.node for found in blames}
    feeds = (anchor.source for anchor in copy.inputs)
    readers = (reader for output in copy.outputs for reader in output.readers[:1])
    for anchor in (*feeds, *readers):
        if len(nodes) < 2 and anchor is not None and anchor.node.name not in nodes:
            nodes.add(anchor.node.name)
            blames.append(Blame.of(anchor))
    return blames


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing said about one node.

    Attributes:
        kind: applied, missed, analysis or failed.
        pass_name, owner: who says it; `owner` is package and version.
        graph, node, op: what it is about, as it was then.
        code: the stable reason code; `reason` says it in words.
        blame: what stands in the way.
        bytes: saved or lost by it, None where a size is not known.
        hint: the one change that would remove the copy, where there is one.
        rule: what case files call `kept_reason`.
        data: the fields that the reason was filled from.
    """

    kind: RemarkKind
    pass_name: str
    owner: str
    graph: str
    node: str
    op: str
    code: str
    reason: str
    blame: tuple[Blame, ...] = ()
    bytes: int | None = 0
    hint: Hint | None = None
    rule: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.bytes is not None and (type(self.bytes) is not int or self.bytes < 0):
            raise TypeError(f"bytes={shortened(self.bytes)} is no number of bytes")
        if not isinstance(self.reason, str):
            raise TypeError(f"reason={shortened(self.reason)} is no text")

    def to_json(self) -> dict[str, Any]:
        """The record of `ge-remark/1`."""
        record: dict[str, Any] = {
            "schema": SCHEMA,
            "kind": str(self.kind),
            "pass": self.pass_name,
            "owner": self.owner,
            "graph": self.graph,
            "node": self.node,
            "op": self.op,
            "code": self.code,
            "reason": self.reason,
            "blame": [{"node": b.node, "anchor": b.anchor} for b in self.blame],
            "bytes": self.bytes,
            "hint": None if self.hint is None else {self.hint.kind: self.hint.value},
        }
        if self.rule is not None:
            record["rule"] = self.rule
        if self.data:
            record["data"] = {name: _plain(self.data[name]) for name in sorted(self.data)}
        return record


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


class Remarks:
    """All remarks of a compile in the order they were given."""

    def __init__(self) -> None:
        self._all: list[Remark] = []
        self._final: dict[str, Remark] = {}
        self._reopened: list[tuple[int, str]] = []

    def add(self, remark: Remark) -> None:
        """Keep a remark. A node's last decisive one is its final one.

        What was applied stays so whatever other passes say; only its own pass may take it back.
        """
        self._all.append(remark)
        if _WEIGHT[remark.kind] == 0:
            return
        before = self._final.get(remark.node)
        stronger = before is None or _WEIGHT[remark.kind] >= _WEIGHT[before.kind]
        if stronger or (before is not None and before.pass_name == remark.pass_name):
            self._final[remark.node] = remark

    def mark(self) -> int:
        """How many there are: what `take_back` returns to."""
        return len(self._all)

    def take_back(self, mark: int) -> None:
        """Forget the remarks since `mark`: what they spoke of was rolled back."""
        kept, reopened = self._all[:mark], self._reopened
        self._all, self._final, self._reopened = [], {}, []
        for at, remark in enumerate(kept):
            while reopened and reopened[0][0] <= at:
                self.reopen(reopened.pop(0)[1])
            self.add(remark)

    def reopen(self, node: str) -> None:
        """Nothing is decided about a node any more: what was done to it was undone."""
        self._reopened.append((len(self._all), node))
        self._final.pop(node, None)

    def since(self, mark: int) -> Sequence[Remark]:
        """The remarks given after `mark`."""
        return self._all[mark:]

    def final(self, node: str) -> Remark | None:
        """The final remark on a node, or None while nobody decided."""
        return self._final.get(node)

    def last_word(self, node: str) -> Remark | None:
        """The final remark or, where nobody decided, what was said last; None for nothing."""
        said = self.of(node)
        return self.final(node) or (said[-1] if said else None)

    def of(self, node: str) -> list[Remark]:
        """Everything said about a node, in order."""
        return [remark for remark in self._all if remark.node == node]

    def finals(self) -> list[Remark]:
        """The final remarks, in the order in which their nodes were first decided."""
        return list(self._final.values())

    def count(self, kind: RemarkKind) -> int:
        """How many nodes ended with a remark of this kind."""
        return sum(1 for remark in self._final.values() if remark.kind is kind)

    def __iter__(self) -> Iterator[Remark]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def write_json_lines(remarks: Iterable[Remark], stream: IO[str]) -> None:
    """One `ge-remark/1` record per line."""
    for remark in remarks:
        stream.write(json.dumps(remark.to_json(), ensure_ascii=False) + "\n")
