"""The task list of a compiled graph: what an executor launches, in which order, on which bytes."""

from ge_core.tasks.model import (
    SCHEMA,
    Call,
    DumpDescriptor,
    Region,
    Strided,
    Task,
    TaskKind,
    TaskList,
)

__all__ = [
    # the list and its parts
    "SCHEMA",
    "Call",
    "DumpDescriptor",
    "Region",
    "Strided",
    "Task",
    "TaskKind",
    "TaskList",
]
