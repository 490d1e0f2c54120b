"""Executes a compiled graph inside its planned arena.

The driver is `ge_runtime.executor:NumpyExecutor`; the plugin contributes the kernels of GE's own
ops. Importing this module imports no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ge_core.api import Target, hookimpl
from ge_runtime.kernels import register

if TYPE_CHECKING:
    from ge_core.api import Kernels, TargetRegistry


@hookimpl
def ge_register_targets(targets: TargetRegistry) -> None:
    """What the executor is as a device: it gathers and scatters rows on its way to a kernel."""
    targets.add(
        Target(
            "numpy",
            strided=True,
            about="the numpy executor: 64-byte buffers; ops read and write rows with gaps",
        )
    )


@hookimpl
def ge_register_kernels(kernels: Kernels) -> None:
    """Kernels of GE's own ops, and the stand-in for every other op of a graph from GE."""
    register(kernels)
