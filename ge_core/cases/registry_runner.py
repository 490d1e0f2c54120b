"""Runs one case of the family `pass_registry`: the passes are planned, and nothing is compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from ge_core.cases.declaring import declared
from ge_core.cases.model import CaseResult, Failure
from ge_core.cases.registry_case import RegistryCase
from ge_core.cases.registry_checks import ERROR_CHECKS, SCHEDULE_CHECKS
from ge_core.errors import GeError, near_matches
from ge_core.passes.planning import Catalog, Schedule, plan_passes
from ge_core.passes.sources import Source


def run_registry_case(case: RegistryCase, installed: Catalog) -> CaseResult:
    """Plan the passes of a case and judge the schedule, or the error that came of it.

    Args:
        installed: what cases with `"installed": true` plan with.
    """
    result = CaseResult(case)
    result.failures.extend(_unknown_keys(case))
    try:
        with tempfile.TemporaryDirectory() as folder:
            schedule = _plan(case, installed, Path(folder))
    except GeError as error:
        result.error = error
        if not ERROR_CHECKS.keys() & case.expect.keys():
            result.failures.append(Failure("no error", f"{type(error).__name__}: {error}"))
        for key, error_check in ERROR_CHECKS.items():
            if key in case.expect:
                result.failures.extend(error_check(case.expect[key], error))
        return result
    if "error" in case.expect or "code" in case.expect or "words" in case.expect:
        result.failures.append(Failure(f"error {case.expect.get('error', '')}", "no error"))
    for key, check in SCHEDULE_CHECKS.items():
        if key in case.expect:
            result.failures.extend(check(case.expect[key], schedule))
    return result


def _plan(case: RegistryCase, installed: Catalog, folder: Path) -> Schedule:
    for name, text in case.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = [
        Source(said.source, said.options, said.enable, said.disable, said.origin, folder=folder)
        for said in case.sources
    ]
    pipeline = case.pipeline[0] if case.pipeline else None
    return plan_passes(declared(case, installed), sources, pipeline, exact=case.exact)


def _unknown_keys(case: RegistryCase) -> Iterator[Failure]:
    known = [*SCHEDULE_CHECKS, *ERROR_CHECKS]
    for key, wanted in case.expect.items():
        if key not in known:
            near = ", ".join(near_matches(key, known))
            yield Failure(f"{key}: {wanted!r}", f"no such check; near: {near}")
    if not case.expect:
        yield Failure("something", "the case expects nothing")
