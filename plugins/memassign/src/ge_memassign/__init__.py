"""Memory assigners and the target they were first written for. Assigners are imported when used."""

from __future__ import annotations

from typing import Any

from ge_core.api import Level, Stage, Target, hookimpl
from ge_memassign.io_offsets import SetInputOutputOffsetPass


@hookimpl
def ge_register_memory_assigners(assigners: Any) -> None:
    """`best` is the default."""
    assigners.add("bump", "ge_memassign.bump:Bump", about="no two buffers share bytes")
    assigners.add("fast", "ge_memassign.fast:Fast", about="best of several orders")
    assigners.add("best", "ge_memassign.best:Best", about="fast, then a bounded search")


@hookimpl
def ge_register_passes(passes: Any) -> None:
    """What GE writes onto the ends of a graph once offsets are known; on at every level."""
    passes.add(SetInputOutputOffsetPass, levels=Level.O0.and_above(), stage=Stage.OFFSETS)


@hookimpl
def ge_register_options(options: Any) -> None:
    """What the planner does beyond GE's rules."""
    options.add(
        "ge.memory.inplace",
        type="flag",
        default="0",
        help="1: outputs take the place of inputs where the op's traits say that it can work so.",
        category="memory",
    )


@hookimpl
def ge_register_targets(targets: Any) -> None:
    """Ascend: 512-byte blocks, pieces of a run at 32 bytes."""
    about = "512-byte buffers, pieces of a run at 32 bytes"
    targets.add(Target("ascend", align_bytes=512, run_align=32, about=about))
