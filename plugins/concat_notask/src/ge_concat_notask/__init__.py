"""Concat, Pack and Split without a task: their tensors are planned to lie in one buffer.

The passes put marks on nodes that the planner obeys; they move no bytes and change no edge.
`unmark` takes the marks of one node back.
"""

from __future__ import annotations

from typing import Any

from ge_concat_notask.concat_notask import ConcatNotaskPass
from ge_concat_notask.dumps import DUMP
from ge_concat_notask.kept_pieces import PLACED_PIECES, pieces_of, pieces_stay
from ge_concat_notask.marks import is_marked, unmark
from ge_concat_notask.overlap_unmark import OverlapUnmarkPass
from ge_concat_notask.pack_notask import PackNotaskPass
from ge_concat_notask.peak import early_bytes
from ge_concat_notask.setting import LAYOUT
from ge_concat_notask.slice_notask import SliceNotaskPass
from ge_concat_notask.split_notask import SplitNotaskPass
from ge_concat_notask.tensor_placement import TensorPlacementPass
from ge_core.api import Level, Stage, hookimpl

__all__ = [
    # passes
    "ConcatNotaskPass",
    "OverlapUnmarkPass",
    "PackNotaskPass",
    "SliceNotaskPass",
    "SplitNotaskPass",
    "TensorPlacementPass",
    # marks
    "early_bytes",
    "is_marked",
    "unmark",
]


@hookimpl
def ge_register_options(options: Any) -> None:
    """GE's switch for dumps: no task carries the addresses of nodes that have none."""
    options.add(
        DUMP,
        type="flag",
        default="0",
        help="1: nodes that lose their task are marked, so that a dump finds their tensors.",
        category="debug",
    )


@hookimpl
def ge_register_passes(passes: Any) -> None:
    """Splits first: a join must see their marks. Concat before Pack, as in GE."""
    levels = Level.O3.and_above()
    stage = Stage.OPTIMIZE_STAGE2
    passes.add_claim(
        PLACED_PIECES,
        remember=pieces_of,
        check=pieces_stay,
        summary="joins and splits without a task keep the inputs and outputs they were placed for",
    )
    # What plugins' rules were asked about before is joined, and one made anew would be apart.
    passes.add_analysis(LAYOUT, same=None, summary="What plugins' layout rules say of joins.")
    about: dict[str, Any] = {
        "levels": levels,
        "stage": stage,
        "establishes": [PLACED_PIECES],
        "preserves": [LAYOUT],
    }
    passes.add(
        SplitNotaskPass, before=["ConcatNotaskPass", "PackNotaskPass"], handles=["split"], **about
    )
    passes.add(
        SliceNotaskPass,
        before=["ConcatNotaskPass", "PackNotaskPass"],
        handles=["slice"],
        **(about | {"levels": Level.O4.and_above()}),
    )
    passes.add(ConcatNotaskPass, before=["PackNotaskPass"], handles=["join"], **about)
    passes.add(PackNotaskPass, handles=["pack"], **about)
    # Last of what edits a graph: copies and order are settled, so bytes may be used again.
    passes.add(
        TensorPlacementPass,
        levels=Level.O4.and_above(),
        stage=Stage.SCHEDULE,
        after=["ReorderForMemoryPass"],
        establishes=[PLACED_PIECES],
    )
    passes.add(OverlapUnmarkPass, levels=Level.O4.and_above(), stage=Stage.PREPARE.before)
