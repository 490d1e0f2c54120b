"""Which passes a request runs and on which target, with this kernel and its configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ge_core.errors import GeError, UsageError, hint_lines
from ge_core.passes.overlays import Overlay
from ge_core.passes.pipeline_text import PipelineText
from ge_core.passes.pipelines import TEXT, NamedPipeline
from ge_core.passes.planning import Schedule, plan_passes
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.targets import Target

_NONE = "level O0 runs none but required passes: -O O0"

CONFIGURED = "configured"
"""Where a text comes from that the configuration has."""


def schedule_for(kernel: Kernel, request: CompileRequest, *, plain: bool = False) -> Schedule:
    """The schedule: of the pipeline that is asked for, else configured, else that of the target.

    Its target is the one that is asked for, else configured, else that of the pipeline.

    Args:
        plain: use no pipeline, whatever is asked for: what the level runs.

    Raises:
        GeError: what `plan_passes` raises, or the target, or its pipeline, can't be used.
    """
    warnings: list[str] = []
    wanted = _wanted_target(kernel, request, warnings)
    pipeline: str | Path | Overlay | PipelineText | NamedPipeline | None = None
    if not plain:
        pipeline = request.pipeline
        pipeline = _configured(kernel, warnings) if pipeline is None else pipeline
        if isinstance(pipeline, str) and not pipeline.strip():
            raise UsageError("the pipeline is an empty text", hint=_NONE)
    fallback = None
    if not plain and pipeline is None and wanted is not None:
        fallback = _of_target(kernel, wanted, warnings)
    schedule = plan_passes(
        kernel.catalog, [request.source(), *kernel.sources], pipeline, fallback=fallback
    )
    device = wanted or _of_pipeline(kernel, schedule, warnings) or kernel.target(None)
    return replace(
        schedule,
        device=device,
        target=_as_given(request.target) or kernel.config.target or schedule.target,
        warnings=tuple(dict.fromkeys((*warnings, *schedule.warnings))),
    )


def _as_given(target: str | Path | Target | None) -> str | None:
    if target is None:
        return None
    return target.name if isinstance(target, Target) else str(target)


def _wanted_target(kernel: Kernel, request: CompileRequest, warnings: list[str]) -> Target | None:
    """The target that is asked for or configured; the error says where it is configured."""
    if request.target is not None:
        return kernel.target(request.target, warnings.append)
    return None if kernel.config.target is None else kernel.target(None, warnings.append)


def _of_pipeline(kernel: Kernel, schedule: Schedule, warnings: list[str]) -> Target | None:
    """The target that a pipeline names; the error says which pipeline."""
    if schedule.target is None:
        return None
    try:
        return kernel.target(schedule.target, warnings.append)
    except GeError as error:
        said = f"it is the target of pipeline {schedule.pipeline!r}"
        if schedule.pipeline in kernel.registries.pipelines:
            said += f" ({kernel.registries.pipelines.entry(schedule.pipeline).owner})"
        error.hint = hint_lines(said, error.hint)
        raise


def _configured(kernel: Kernel, warnings: list[str]) -> NamedPipeline | None:
    """The configuration's pipeline; a file of the project lies relative to the configuration."""
    wanted, pipelines = kernel.config.pipeline, kernel.registries.pipelines
    if wanted is None:
        return None
    if not wanted.strip():
        hint = f"given by: {kernel.config.file}: pipeline\n  {_NONE}, or level in the configuration"
        raise UsageError("the pipeline is an empty text", hint=hint)
    folder, said = kernel.config.folder, f"{kernel.config.file}: pipeline"
    if folder is not None and wanted.endswith(".toml") and wanted not in pipelines:
        wanted = str(folder / wanted)
    try:
        named = pipelines.select(wanted, warnings)
    except GeError as error:
        error.hint = hint_lines(f"given by: {said}", error.hint)
        raise
    return replace(named, origin=said) if named.name == TEXT else named


def _of_target(kernel: Kernel, target: Target, warnings: list[str]) -> NamedPipeline | None:
    """The pipeline of the target in force."""
    if target.pipeline is None:
        return None
    pipelines = kernel.registries.pipelines
    try:
        if not target.pipeline.endswith(".toml"):
            # No text: a target names what is registered or lies in a file.
            pipelines.entry(pipelines.current(target.pipeline)[0])
        named = pipelines.select(target.pipeline, warnings)
    except GeError as error:
        targets = kernel.registries.targets
        owner = f" ({targets.entry(target.name).owner})" if target.name in targets else ""
        said = f"it is the pipeline of target {target.name!r}{owner}"
        error.hint = hint_lines(said, error.hint)
        raise
    return replace(named, chosen=f"target {target.name!r}")
