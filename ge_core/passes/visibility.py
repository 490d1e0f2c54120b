"""Who is offered an option: the depth of listings, entry points, and sections.

GE says of each option at which of its entry points (a session, the IR build, the ATC command) it
is visible, under which name and in which section of the help. Visibility concerns listings: any
source may set any option, as in GE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from ge_core.errors import PluginError, near_matches


class Visibility(StrEnum):
    """How deep a listing must go to show an option."""

    USER = "user"
    EXPERT = "expert"
    HIDDEN = "hidden"
    """Only in full listings: GE's internal ones."""


class EntryPoint(StrEnum):
    """Where options are offered: GE's entry points and ours."""

    SESSION = "session"
    IR_BUILD = "ir_build"
    ATC = "atc"
    PYTHON = "python"
    """`ge_core.compile`: offers what GE's session or IR build offers."""
    COMMAND = "command"
    """The command `ge`: offers what GE's ATC offers."""


EVERYWHERE: Final = tuple(EntryPoint)

_COUNTERPARTS: Final[Mapping[EntryPoint, tuple[EntryPoint, ...]]] = {
    EntryPoint.PYTHON: (EntryPoint.SESSION, EntryPoint.IR_BUILD),
    EntryPoint.COMMAND: (EntryPoint.ATC,),
}


def offered(entry: EntryPoint, at: Iterable[EntryPoint]) -> bool:
    """Whether an option that is visible at some entry points is so at this one."""
    there = frozenset(at)
    return not there.isdisjoint((entry, *_COUNTERPARTS.get(entry, ())))


def read_entry_points(names: Iterable[str], option: str) -> tuple[EntryPoint, ...]:
    """Entry points in their own order; `PluginError` for a name that is none."""
    found = set()
    for name in names:
        try:
            found.add(EntryPoint(name))
        except ValueError:
            raise PluginError(
                f"option {option!r}: {name!r} is no entry point",
                near=near_matches(str(name), [str(entry) for entry in EntryPoint]),
                hint="entry points: " + ", ".join(EntryPoint),
            ) from None
    return tuple(entry for entry in EntryPoint if entry in found)


GE_SECTIONS: Final[Mapping[str, str]] = {
    "general": "General",
    "input": "Input",
    "output": "Output",
    "target": "Target",
    "feature": "Feature",
    "model_tuning": "ModelTuning",
    "operator_tuning": "OperatorTuning",
    "debug": "Debug",
    # Ours, which say more about the few things that we do than GE's would.
    "passes": "Feature",
    "order": "ModelTuning",
    "memory": "ModelTuning",
    "build": "General",
}
"""Section of our listings -> GE's; a section that a plugin makes up stands in `Feature`."""


def read_category(category: str) -> str:
    """The section's own name: GE's spelling of one (`ModelTuning`) is read too."""
    return next((ours for ours, ges in GE_SECTIONS.items() if ges == category), category)


def ge_section(category: str) -> str:
    """The section of GE's help that ours belongs to."""
    return GE_SECTIONS.get(category, "Feature")
