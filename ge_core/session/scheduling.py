"""Which passes a request runs, with this kernel and its configuration."""

from __future__ import annotations

from dataclasses import replace

from ge_core.errors import GeError
from ge_core.passes.pipelines import TEXT, NamedPipeline
from ge_core.passes.planning import Schedule, plan_passes
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest


def schedule_for(kernel: Kernel, request: CompileRequest, *, plain: bool = False) -> Schedule:
    """The schedule: of the pipeline that is asked for, else configured, else that of the target.

    Args:
        plain: use no pipeline, whatever is asked for: what the level runs.

    Raises:
        GeError: what `plan_passes` raises, or the target's pipeline can't be used.
    """
    warnings: list[str] = []
    pipeline: str | NamedPipeline | None = None
    if not plain:
        # An empty text is a pipeline too: it runs nothing but what is required.
        pipeline = request.pipeline
        pipeline = _configured(kernel, warnings) if pipeline is None else pipeline
    fallback = None if plain or pipeline is not None else _of_target(kernel, request, warnings)
    schedule = plan_passes(
        kernel.catalog, [request.source(), *kernel.sources], pipeline, fallback=fallback
    )
    if fallback is not None and schedule.pipeline == fallback.name:
        # The target was chosen, and may be a file on top of the one that its pipeline names.
        schedule = replace(schedule, target=request.target or kernel.config.target)
    elif request.target is None and schedule.target is not None:
        _check_target(kernel, schedule)
    return replace(schedule, warnings=(*warnings, *schedule.warnings))


def _check_target(kernel: Kernel, schedule: Schedule) -> None:
    """Whether the target that a pipeline names is there; the error says which pipeline."""
    try:
        kernel.target(schedule.target)
    except GeError as error:
        said = f"it is the target of pipeline {schedule.pipeline!r}"
        if schedule.pipeline in kernel.registries.pipelines:
            said += f" ({kernel.registries.pipelines.entry(schedule.pipeline).owner})"
        error.hint = "\n  ".join(filter(None, [said, error.hint]))
        raise


def _configured(kernel: Kernel, warnings: list[str]) -> NamedPipeline | None:
    """The configuration's pipeline; a file of the project lies relative to the configuration."""
    wanted, pipelines = kernel.config.pipeline, kernel.registries.pipelines
    if wanted is None:
        return None
    folder, said = kernel.config.folder, f"{kernel.config.file}: pipeline"
    if folder is not None and wanted.endswith(".toml") and wanted not in pipelines:
        wanted = str(folder / wanted)
    try:
        named = pipelines.select(wanted, warnings)
    except GeError as error:
        error.hint = "\n  ".join(filter(None, [f"given by: {said}", error.hint]))
        raise
    return replace(named, origin=said) if named.name == TEXT else named


def _of_target(
    kernel: Kernel, request: CompileRequest, warnings: list[str]
) -> NamedPipeline | None:
    """The pipeline of the target that is asked for or configured."""
    name = request.target or kernel.config.target
    target = None if name is None else kernel.target(name)
    if target is None or target.pipeline is None:
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
        error.hint = "\n  ".join(filter(None, [said, error.hint]))
        raise
    return replace(named, chosen=f"target {target.name!r}")
