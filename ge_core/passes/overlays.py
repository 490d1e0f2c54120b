"""Overlays: a pipeline as changes to another one, as values.

    Overlay(
        "acme-npu",
        base="O3",
        target="acme-npu",
        add=(Change("acme.DropNoOpCast", before=("ConcatNotaskPass",)),),
        remove=(Change("ReorderForMemoryPass"),),
        settings={"acme.DropNoOpCast.limit": "100"},
    )

`ge_core.passes.overlay_files` reads the same from TOML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ge_core.errors import UsageError
from ge_core.passes.pipeline_text import Repeat
from ge_core.passes.stages import Place
from ge_core.registry import NOBODY, Owner

DEFAULT_BASE = "O3"


@dataclass(frozen=True, slots=True)
class Change:
    """One pass that is added, removed, replaced or moved.

    Attributes:
        name: the pass; `replacement`: what takes its place, of a replace.
        before, after: its place among others, of an add or reorder.
        place: another stage than it declares, of an add or reorder.
        options: of the pass, of an add or replace.
        line: in the file, 0 where there is none.
    """

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    place: Place | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    replacement: str | None = None
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _no_text("before", self.before)
        _no_text("after", self.after)
        _as_place(self)
        for name, value in self.options.items():
            if not isinstance(value, str):
                raise UsageError(f"option {name!r} is given {value!r}, which is no text")


@dataclass(frozen=True, slots=True)
class StageChange:
    """A whole stage that is replaced by what a pipeline text has in it.

    Attributes:
        pipeline: the name of a registered text, or a text.
    """

    place: Place
    pipeline: str
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _as_place(self)


@dataclass(frozen=True, slots=True)
class RepeatChange:
    """Passes of one stage that become a fixed point: in this order, at most `limit` times.

    Attributes:
        place: moves them there first.
    """

    passes: tuple[str, ...]
    limit: int
    place: Place | None = None
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _no_text("passes", self.passes)
        _as_place(self)
        Repeat(0, self.limit)


def _no_text(what: str, value: object) -> None:
    # A lone text would be taken letter by letter.
    if isinstance(value, str):
        raise UsageError(f"{what}={value!r} is not a tuple; write ({value!r},)")


def _as_place(change: Change | StageChange | RepeatChange) -> None:
    """Stages and their names serve as places."""
    if change.place is not None:
        object.__setattr__(change, "place", Place.of(change.place))


@dataclass(frozen=True, slots=True)
class Overlay:
    """A pipeline as changes to its base.

    Attributes:
        base: a level, a level set or another overlay; None for that of what it includes, else O3.
        target: the device that it is made for.
        settings: options by name, `Pass.field` and `Pass` (on, off) among them.
        include: other overlays whose changes come before its own: names of pipelines, or overlays.
        stages: stages that are replaced as a whole.
        origin: the file or resource that it was read from.
        summary: one line for listings.
        lines: where `base`, `include[0]`, `set.NAME`, ... stand in the file.
    """

    name: str
    base: str | None = None
    target: str | None = None
    add: tuple[Change, ...] = ()
    remove: tuple[Change, ...] = ()
    replace: tuple[Change, ...] = ()
    reorder: tuple[Change, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    owner: Owner = NOBODY
    include: tuple[str | Overlay, ...] = ()
    stages: tuple[StageChange, ...] = ()
    repeat: tuple[RepeatChange, ...] = ()
    summary: str = ""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes to single passes."""
        return (*self.add, *self.remove, *self.replace, *self.reorder)

    @property
    def shown(self) -> str:
        """What a user reads of it: the file, or its name and whose it is."""
        if self.origin:
            return self.origin
        owner = f" ({self.owner})" if self.owner.name else ""
        return f"pipeline {self.name}{owner}"

    def where(self, line: int) -> str:
        """The file and line, or what is known of them."""
        return f"{self.origin}:{line}" if self.origin and line else self.shown
