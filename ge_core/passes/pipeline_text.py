r"""Pipelines as texts: `OPTIMIZE_STAGE2(ConcatNotaskPass),acme.DropNoOpCast{limit=10}`.

    pipeline  = [item {"," item}]
    item      = PLACE "(" [use {"," use}] ")" | use
    use       = NAME ["{" [FIELD "=" VALUE {"," FIELD "=" VALUE}] "}"]
    VALUE     = characters other than `,{}()="` and blanks, or a "quoted text" with \ escapes

Passes run in the order written. One outside of a place stands in the one it declares, or in that
of the pass written before it where that comes later. A pass may be written more than once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ge_core.errors import UsageError
from ge_core.passes.stages import Place

_BARE = re.compile(r'[^\s,{}()="]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class PassUse:
    """One pass in a pipeline: its options as texts, and its place where that is written."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class PipelineText:
    """A pipeline that says exactly which passes run, in which order."""

    uses: tuple[PassUse, ...]

    @classmethod
    def of_names(cls, names: Iterable[str]) -> PipelineText:
        """These passes, each in its own place."""
        return cls(tuple(PassUse(name) for name in names))

    def __str__(self) -> str:
        return print_pipeline(self)


def print_pipeline(pipeline: PipelineText) -> str:
    """The text that parses to the same pipeline."""
    items: list[str] = []
    group: list[str] = []
    place: Place | None = None
    for use in pipeline.uses:
        if use.place != place or use.place is None:
            items += _grouped(place, group)
            group, place = [], use.place
        group.append(_print_use(use))
    return ",".join([*items, *_grouped(place, group)])


def _grouped(place: Place | None, group: list[str]) -> list[str]:
    if not group or place is None:
        return group
    return [f"{place}({','.join(group)})"]


def _print_use(use: PassUse) -> str:
    if not use.options:
        return use.name
    return use.name + "{" + ",".join(f"{n}={_print_value(v)}" for n, v in use.options) + "}"


def _print_value(value: str) -> str:
    if _BARE.fullmatch(value) and "\\" not in value:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_pipeline(text: str) -> PipelineText:
    """A pipeline from its text.

    Raises:
        UsageError: the text is malformed; points at the place.
        UnknownNameError: no such stage.
    """
    return _Parser(text).pipeline()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def pipeline(self) -> PipelineText:
        uses: list[PassUse] = []
        if self._peek():
            self._items(uses)
        if self._peek():
            raise self._error("expected ',' or the end")
        return PipelineText(tuple(uses))

    def _items(self, uses: list[PassUse]) -> None:
        while True:
            start = self.at
            name = self._word("a pass or a stage")
            if self._take("("):
                uses += self._group(name)
            else:
                self.at = start
                uses.append(self._use(None))
            if not self._take(","):
                return

    def _group(self, name: str) -> list[PassUse]:
        place = Place.of(name)
        uses: list[PassUse] = []
        if self._take(")"):
            return uses
        while True:
            uses.append(self._use(place))
            if self._take(")"):
                return uses
            self._need(",")

    def _use(self, place: Place | None) -> PassUse:
        name = self._word("a pass")
        options: dict[str, str] = {}
        if self._take("{") and not self._take("}"):
            while True:
                field = self._word("an option")
                if field in options:
                    raise self._error(f"option {field!r} is given twice")
                self._need("=")
                options[field] = self._value()
                if self._take("}"):
                    break
                self._need(",")
        return PassUse(name, tuple(options.items()), place)

    def _value(self) -> str:
        self._peek()
        quoted = _QUOTED.match(self.text, self.at)
        if quoted is None:
            return self._word("a value")
        self.at = quoted.end()
        return re.sub(r"\\(.)", r"\1", quoted.group(1), flags=re.DOTALL)

    def _word(self, what: str) -> str:
        self._peek()
        found = _BARE.match(self.text, self.at)
        if found is None:
            raise self._error(f"expected {what}")
        self.at = found.end()
        return found.group()

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

    def _error(self, problem: str) -> UsageError:
        return UsageError(
            f"pipeline text: {problem} at column {self.at + 1}",
            hint=f"{self.text}\n  {' ' * self.at}^",
        )
