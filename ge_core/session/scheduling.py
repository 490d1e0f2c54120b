"""Which passes a request runs, with this kernel and its configuration."""

from __future__ import annotations

from ge_core.passes.planning import Schedule, plan_passes
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest


def schedule_for(kernel: Kernel, request: CompileRequest) -> Schedule:
    """The schedule. See `plan_passes` for what it raises."""
    return plan_passes(
        kernel.catalog,
        [request.source(), *kernel.sources],
        request.pipeline or kernel.config.pipeline,
    )
