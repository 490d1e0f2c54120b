"""Flags that look into a compile: dumps of the graph between passes, times, audits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ge_core.cli.common import together

if TYPE_CHECKING:
    from ge_core.passes.instruments import Instrument

watching_flags = together(
    click.option(
        "--dump-ir",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Write the graph after each pass into DIR, as JSON and as text.",
    ),
    click.option("--dump-after", multiple=True, metavar="PASS", help="Dump after this pass only."),
    click.option("--dump-changed", is_flag=True, help="Dump only after passes that changed it."),
    click.option("--dump-failed", is_flag=True, help="Dump only what a failing pass began with."),
    click.option("--timing", is_flag=True, help="Show where the time went, as a tree."),
    click.option(
        "--audit",
        is_flag=True,
        help="Check that passes edit as they must, and keep what they promise of analyses.",
    ),
)
"""Dumps, times and audits of a compile."""


def instruments(flags: Mapping[str, Any], *, strict: bool) -> list[Instrument]:
    """What watches the compile by these flags.

    Raises:
        UsageError: flags that say nothing, or contradict each other.
        UnknownNameError: a pass that nobody registered.
    """
    from ge_core.errors import UsageError
    from ge_core.passes.watching import DumpGraphs
    from ge_core.session.kernel import default_kernel

    folder, after = flags["dump_ir"], flags["dump_after"]
    changed, failed = flags["dump_changed"], flags["dump_failed"]
    if folder is None:
        for name, given in (("after", after), ("changed", changed), ("failed", failed)):
            if given:
                raise UsageError(f"--dump-{name} says nothing without --dump-ir DIR")
        return []
    if changed and failed:
        raise UsageError("--dump-changed and --dump-failed contradict each other", hint="give one")
    passes = default_kernel(strict=strict).registries.passes
    names = [passes.entry(name).name for name in after] or None
    return [DumpGraphs(folder, passes=names, only_changed=changed, only_failed=failed)]
