r"""Pipelines as values and as texts: `OPTIMIZE_STAGE2(A,repeat{limit=10}(B,C)),acme.D{limit=10}`.

    pipeline  = [item {"," item}]
    item      = PLACE "(" [step {"," step}] ")" | step
    step      = use | "repeat" "{" "limit" "=" N "}" "(" use {"," use} ")"
    use       = WORD ["{" [WORD "=" WORD {"," WORD "=" WORD}] "}"]
    WORD      = characters other than `,{}()="` and blanks, or a "quoted text" with \ escapes

Passes run in the order written. One outside of a place stands in the one it declares, or in that
of the pass written before it where that comes later. A pass may be written more than once. What
stands in `repeat` runs again until none of it changes the graph, at most `limit` times; a quoted
"repeat" is a pass of that name. `ge_core.passes.pipeline_parser` reads texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from ge_core.errors import UsageError
from ge_core.passes.stages import PLACES, Place

REPEAT: Final = "repeat"
"""The word that begins a fixed point."""

_WORDS: Final = frozenset([REPEAT, *map(str, PLACES)])
"""Words that mean something: a pass of that name is quoted."""

BARE: Final = re.compile(r'[^\s,{}()="]+')
"""What needs no quotes."""

_WINDOW: Final = 90
"""Characters of a long line that an error shows."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A fixed point: neighbours that run again until none of them changes the graph.

    Attributes:
        id: tells neighbouring groups apart; numbered in running order.
        limit: how often each runs at most; 1 runs them once.
    """

    id: int
    limit: int

    def __post_init__(self) -> None:
        limit: object = self.limit
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise UsageError(f"a repeat's limit is {limit!r}, not a number of runs, 1 or more")


@dataclass(frozen=True, slots=True)
class PassUse:
    """One pass in a pipeline.

    Attributes:
        options: texts by field, in the order written.
        place: where that is written.
        repeat: the fixed point that it is part of.
        at: where it is written in the source text, -1 where there is none.
    """

    name: str
    options: tuple[tuple[str, str], ...] = ()
    place: Place | None = None
    repeat: Repeat | None = None
    at: int = field(default=-1, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.place is not None:
            # Stages and their names serve as places.
            object.__setattr__(self, "place", Place.of(self.place))


@dataclass(frozen=True, slots=True)
class PipelineText:
    """A pipeline that says exactly which passes run, in which order.

    Neighbours with the same `repeat` in the same place are one group; groups are numbered anew, so
    that equal pipelines compare equal.

    Attributes:
        source: the text that it was read from, for errors.
    """

    uses: tuple[PassUse, ...]
    source: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        numbers = number_groups([(use.repeat, use.place) for use in self.uses])
        uses = (replace(use, repeat=new) for use, new in zip(self.uses, numbers, strict=True))
        object.__setattr__(self, "uses", tuple(uses))

    @classmethod
    def of_names(cls, names: Iterable[str]) -> PipelineText:
        """These passes, each in its own place."""
        return cls(tuple(PassUse(name) for name in names))

    def pointer(self, use: PassUse) -> str | None:
        """The line of the source text with a mark under a pass, None where it has no source."""
        return None if use.at < 0 or not self.source else point_at(self.source, use.at)

    def __str__(self) -> str:
        return print_pipeline(self)


def number_groups(found: Sequence[tuple[Repeat | None, object]]) -> list[Repeat | None]:
    """Repeats numbered in order: neighbours with the same one in the same place are one group."""
    numbered: list[Repeat | None] = []
    count = 0
    before: tuple[Repeat | None, object] = (None, None)
    for repeat, place in found:
        if repeat is None:
            numbered.append(None)
        else:
            count += (repeat, place) != before
            numbered.append(Repeat(count, repeat.limit))
        before = (repeat, place)
    return numbered


def print_pipeline(pipeline: PipelineText) -> str:
    """The text that parses to the same pipeline."""
    items: list[str] = []
    for place, uses in groupby(pipeline.uses, key=lambda use: use.place):
        steps = ",".join(_print_steps(uses))
        items.append(steps if place is None else f"{place}({steps})")
    return ",".join(items)


def _print_steps(uses: Iterable[PassUse]) -> list[str]:
    steps: list[str] = []
    for repeat, group in groupby(uses, key=lambda use: use.repeat):
        written = [print_pipeline_use(use) for use in group]
        if repeat is None:
            steps += written
        else:
            steps.append(f"{REPEAT}{{limit={repeat.limit}}}({','.join(written)})")
    return steps


def print_pipeline_use(use: PassUse) -> str:
    """One pass with its options, as it stands in a text."""
    name = f'"{use.name}"' if use.name in _WORDS else print_word(use.name)
    if not use.options:
        return name
    return name + "{" + ",".join(f"{print_word(n)}={print_word(v)}" for n, v in use.options) + "}"


def print_word(text: str) -> str:
    """A name or value as it is written in a pipeline text."""
    if BARE.fullmatch(text) and "\\" not in text:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def point_at(text: str, at: int) -> str:
    """The line of a text that holds a character, and a mark under it; long lines are clipped."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : len(text) if end < 0 else end]
    column = at - start
    if len(line) > _WINDOW:
        first = max(0, min(column - _WINDOW // 2, len(line) - _WINDOW))
        clipped = line[first : first + _WINDOW]
        head = "..." if first else ""
        tail = "..." if first + _WINDOW < len(line) else ""
        line, column = head + clipped + tail, column - first + len(head)
    return f"{line}\n  {' ' * column}^"
