"""The last resort: an exception that nobody turned into an error, said in one message."""

from __future__ import annotations

import os
import traceback
from types import TracebackType

import click

from ge_core.errors import GeError
from ge_core.foreign import in_words, located

SHOW = "GE_TRACEBACK"
"""Set to 1, the traceback of such an exception is printed too."""


def report(error: Exception) -> int:
    """Say whose code raised it; the exit code."""
    owner, names = _whose(error.__traceback__)
    if os.environ.get(SHOW) == "1":
        click.echo("".join(traceback.format_exception(error)), err=True)
    if owner is None:
        said = GeError(
            f"a fault of the kernel: it {in_words(error)}",
            hint=f"{SHOW}=1 shows where; please report it",
        )
    else:
        what = ", ".join(map(repr, names))
        said = GeError(
            f"plugin code ({what}) {in_words(error)}", owner=owner, hint=f"{SHOW}=1 shows where"
        )
        located(said, error)
    click.echo(f"error {said.code}: {said}", err=True)
    return 1 if owner is None else 4


def _whose(trace: TracebackType | None) -> tuple[str | None, list[str]]:
    """Package and version of the innermost frame that lies in a plugin, and its entry points."""
    from ge_core.plugin.scan import OURS, scan

    by_module: dict[str, tuple[str, list[str]]] = {}
    for point in scan(OURS):
        top = point.value.partition(":")[0].partition(".")[0].strip()
        by_module.setdefault(top, (point.owner, []))[1].append(point.name)
    found: tuple[str | None, list[str]] = (None, [])
    while trace is not None:
        top = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in by_module:
            found = by_module[top]
        trace = trace.tb_next
    return found
