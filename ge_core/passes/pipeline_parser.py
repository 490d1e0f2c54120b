"""Reads pipeline texts; the grammar stands in `ge_core.passes.pipeline_text`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ge_core.digits import whole_number
from ge_core.errors import GeError, UnknownNameError, UsageError, near_matches
from ge_core.passes.pipeline_text import BARE, REPEAT, PassUse, PipelineText, Repeat, point_at
from ge_core.passes.stages import PLACES, Place

_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PLACES: Final = {str(place): place for place in PLACES}
_EXAMPLE: Final = "repeat{limit=10}(A,B)"


def parse_pipeline(text: str) -> PipelineText:
    """A pipeline from its text.

    Raises:
        UsageError: the text is malformed; says the column and points at it.
        UnknownNameError: no such stage.
    """
    return _Parser(text).pipeline()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.groups = 0

    def pipeline(self) -> PipelineText:
        uses: list[PassUse] = []
        if self._peek():
            uses += self._item()
            while self._take(","):
                uses += self._item()
        if self._peek():
            raise self._error("expected ',' or the end")
        return PipelineText(tuple(uses), self.text)

    # ---- items and steps -----------------------------------------------------------------------

    def _item(self) -> list[PassUse]:
        start, name, quoted = self._word("a pass or a stage")
        if quoted or name == REPEAT or self._peek() != "(":
            return self._step(start, name, quoted, None)
        place = _PLACES.get(name)
        if place is None:
            known = [*_PLACES, REPEAT]
            raise self._unknown(f"no stage {name!r}", start, near_matches(name, known))
        self._need("(")
        uses: list[PassUse] = []
        if self._take(")"):
            return uses
        while True:
            uses += self._step(*self._word("a pass"), place)
            if self._take(")"):
                return uses
            self._need(",")

    def _step(self, start: int, name: str, quoted: bool, place: Place | None) -> list[PassUse]:
        if name == REPEAT and not quoted:
            return self._repeat(start, place)
        return [self._use(start, name, place, None)]

    def _repeat(self, start: int, place: Place | None) -> list[PassUse]:
        limit = self._limit(start)
        self.groups += 1
        repeat = Repeat(self.groups, limit)
        self._need("(")
        uses: list[PassUse] = []
        while True:
            at, name, quoted = self._word("a pass")
            if name == REPEAT and not quoted:
                raise self._error("a repeat can't stand in a repeat", at)
            uses.append(self._use(at, name, place, repeat))
            if self._take(")"):
                return uses
            self._need(",")

    def _limit(self, start: int) -> int:
        if self._peek() != "{":
            raise self._error(f"repeat needs a limit, as in {_EXAMPLE},", start)
        options = self._options(of_repeat=True)
        if "limit" not in options:
            raise self._error(f"repeat needs a limit, as in {_EXAMPLE},", start)
        at, text = options["limit"]
        limit = whole_number(text)
        if not limit:
            raise self._error(f"limit {text!r} is not a number of runs, 1 or more,", at)
        return limit

    def _use(self, start: int, name: str, place: Place | None, repeat: Repeat | None) -> PassUse:
        options = self._options() if self._peek() == "{" else {}
        if self._peek() == "(":
            if name in _PLACES:
                raise self._error(f"stage {name} can't stand in brackets", start)
            near = near_matches(name, [REPEAT])
            problem = f"{name!r} is followed by '(' and is no stage or repeat"
            raise self._unknown(problem, start, near)
        if name in _PLACES and self.text[start : start + 1] != '"':
            example = f"{name}(A,B)"
            raise self._error(f"{name} is a stage, written with its passes as in {example},", start)
        written = tuple((field, value) for field, (_, value) in options.items())
        return PassUse(name, written, place, repeat, start)

    def _options(self, of_repeat: bool = False) -> dict[str, tuple[int, str]]:
        """Where each value stands, and the value."""
        self._need("{")
        options: dict[str, tuple[int, str]] = {}
        if self._take("}"):
            return options
        while True:
            start, field, _ = self._word("an option")
            if field in options:
                raise self._error(f"option {field!r} is given twice", start)
            if of_repeat and field != "limit":
                near = near_matches(field, ["limit"])
                raise self._unknown(f"repeat has no option {field!r}", start, near)
            self._need("=")
            at, value, _ = self._word("a value")
            options[field] = at, value
            if self._take("}"):
                return options
            self._need(",")

    # ---- characters ----------------------------------------------------------------------------

    def _word(self, what: str) -> tuple[int, str, bool]:
        """Where it begins, the word, and whether it was quoted."""
        self._peek()
        start = self.at
        quoted = _QUOTED.match(self.text, start)
        if quoted is not None:
            self.at = quoted.end()
            return start, re.sub(r"\\(.)", r"\1", quoted.group(1), flags=re.DOTALL), True
        found = BARE.match(self.text, start)
        if found is None:
            if self.text[start : start + 1] == '"':
                raise self._error("a quoted text has no end; it begins")
            raise self._error(f"expected {what}")
        self.at = found.end()
        return start, found.group(), False

    def _peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _take(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self.at += 1
        return True

    def _need(self, character: str) -> None:
        if not self._take(character):
            raise self._error(f"expected {character!r}")

    # ---- errors --------------------------------------------------------------------------------

    def _error(self, problem: str, at: int | None = None) -> GeError:
        return UsageError(*self._where(problem, at), hint=self._mark(at))

    def _unknown(self, problem: str, at: int, near: Iterable[str]) -> GeError:
        where = self._where(problem, at)
        return UnknownNameError(*where, near=tuple(near), hint=self._mark(at))

    def _where(self, problem: str, at: int | None) -> tuple[str]:
        at = self.at if at is None else at
        line = self.text.count("\n", 0, at)
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        place = f"column {column}" if not line else f"line {line + 1}, column {column}"
        return (f"pipeline text: {problem} at {place}",)

    def _mark(self, at: int | None) -> str:
        return point_at(self.text, self.at if at is None else at)
