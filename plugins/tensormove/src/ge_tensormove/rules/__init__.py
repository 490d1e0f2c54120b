"""The rules that a copy has to pass, in order; the first that says no keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from ge_core.api import Keep
from ge_tensormove.candidate import Candidate
from ge_tensormove.rules.after_copy import AfterCopy
from ge_tensormove.rules.behind_views import BehindViews
from ge_tensormove.rules.fixed_inside import FixedInside
from ge_tensormove.rules.layout import Layout
from ge_tensormove.rules.listed_order import ListedOrder
from ge_tensormove.rules.other_names import OtherNames
from ge_tensormove.rules.path import PathValid
from ge_tensormove.rules.read_write import ReadWrite
from ge_tensormove.rules.reserved import Reserved
from ge_tensormove.rules.single_path import SinglePath
from ge_tensormove.rules.user_memory import UserMemory

Rule: TypeAlias = Callable[[Candidate], Keep | None]

CHAIN: Final[tuple[Rule, ...]] = (
    Reserved(),
    PathValid(),
    UserMemory(),
    SinglePath(),
    ReadWrite(),
    Layout(),
    FixedInside(),
    BehindViews(),
    OtherNames(),
    AfterCopy(),
    ListedOrder(),
)
"""GE's R0 to R5, then what GE doesn't look at: it completes R1 and R3."""

__all__ = ["CHAIN", "Rule"]
