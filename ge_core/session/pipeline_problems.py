"""Which of the registered pipelines can't be used, and why: `ge plugins doctor` says it."""

from __future__ import annotations

from ge_core.errors import GeError
from ge_core.passes.planning import plan_passes
from ge_core.plugin.registries import Registries
from ge_core.registry import Owner


def pipeline_problems(registries: Registries) -> list[dict[str, str]]:
    """What, owner, version and error of pipelines, level sets and targets' pipelines.

    Each pipeline is planned once with nothing else set: a file that can't be read, a pass that
    isn't there and an order that contradicts itself are found before somebody needs it.
    """
    pipelines, catalog = registries.pipelines, registries.catalog()
    found: list[dict[str, str]] = []

    def add(what: str, owner: Owner, error: GeError) -> None:
        near = f" (near: {', '.join(error.near)})" if error.near else ""
        problem = error.message + near
        found.append(
            {"name": what, "owner": owner.distribution, "version": owner.version, "error": problem}
        )

    for name, owners in sorted(pipelines.contested.items()):
        for owner in owners:
            add(f"pipeline {name}", owner, pipelines.unknown(name))
    for level in pipelines.levels.entries():
        try:
            pipelines.levels.working(level.name)
        except GeError as error:
            add(f"level {level.name}", level.owner, error)
    for entry in pipelines.entries():
        try:
            plan_passes(catalog, pipeline=entry.name)
        except GeError as error:
            add(f"pipeline {entry.name}", entry.owner, error)
    for target in registries.targets.entries():
        wanted = target.value.pipeline
        if wanted is not None and not wanted.endswith(".toml"):
            try:
                pipelines.entry(pipelines.current(wanted)[0])
            except GeError as error:
                add(f"target {target.name}", target.owner, error)
    return found
