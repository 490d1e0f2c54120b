"""The stages of a compile, in order, with a place before and after each.

Third parties may stand in every one: GE offers none after its second optimisation stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ge_core.errors import UnknownNameError, near_matches


class Stage(Enum):
    """What happens when; members in running order."""

    PREPARE = "PREPARE"
    OPTIMIZE_STAGE1 = "OPTIMIZE_STAGE1"
    OPTIMIZE_STAGE2 = "OPTIMIZE_STAGE2"
    BEFORE_BUILD = "BEFORE_BUILD"
    TENSOR_MOVE = "TENSOR_MOVE"
    MEM_CONFLICT = "MEM_CONFLICT"
    SCHEDULE = "SCHEDULE"
    """The listed order is frozen after it."""
    MEM_ASSIGN = "MEM_ASSIGN"
    OFFSETS = "OFFSETS"
    TASK_GEN = "TASK_GEN"
    CHECK = "CHECK"

    @property
    def before(self) -> Place:
        """The place just before the stage (`before_NAME` in texts)."""
        return Place(self, -1)

    @property
    def after(self) -> Place:
        """The place just after the stage (`after_NAME` in texts)."""
        return Place(self, 1)


_RANK = {stage: at for at, stage in enumerate(Stage)}
_SIDES = {-1: "before_", 0: "", 1: "after_"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pass stands: in a stage, or just before (`side` -1) or after (1) it."""

    stage: Stage
    side: int = 0

    @property
    def rank(self) -> int:
        """Places run by growing rank."""
        return 3 * _RANK[self.stage] + self.side + 1

    def __str__(self) -> str:
        return _SIDES[self.side] + self.stage.value

    @classmethod
    def of(cls, where: Stage | Place | str) -> Place:
        """A place from a stage, a place or its name; `UnknownNameError` with near names."""
        if isinstance(where, Place):
            return where
        if isinstance(where, Stage):
            return cls(where)
        found = _BY_NAME.get(where)
        if found is None:
            raise UnknownNameError(f"no stage {where!r}", near=near_matches(where, _BY_NAME))
        return found


PLACES: tuple[Place, ...] = tuple(Place(stage, side) for stage in Stage for side in (-1, 0, 1))
"""All places in running order."""

_BY_NAME = {str(place): place for place in PLACES}
