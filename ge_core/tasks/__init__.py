"""The task list of a compiled graph: what an executor launches, in which order, on which bytes.

`ge_core.tasks.document` reads lists from files and is imported on its own, as it needs pydantic.
"""

from ge_core.tasks.bindings import Binding, BindingUse, bindings, bound
from ge_core.tasks.generate import EXPANSION_LIMIT, generate_tasks
from ge_core.tasks.kernels import Kernel, KernelContext, KernelEntry, Kernels
from ge_core.tasks.marks import kernel_library, set_marks
from ge_core.tasks.model import (
    SCHEMA,
    Call,
    DumpDescriptor,
    Region,
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
    "Task",
    "TaskKind",
    "TaskList",
    # making it
    "EXPANSION_LIMIT",
    "generate_tasks",
    "kernel_library",
    "set_marks",
    # binding a caller's buffers
    "Binding",
    "BindingUse",
    "bindings",
    "bound",
    # computing ops
    "Kernel",
    "KernelContext",
    "KernelEntry",
    "Kernels",
]
