"""`ge checkers`, `ge assigners`, `ge targets`."""

from __future__ import annotations

from typing import Any, Final

import click

from ge_core.cli.common import kernel_of, output_format
from ge_core.cli.tables import show
from ge_core.plugin.odd_rules import unknown_types
from ge_core.registry import Owner


def registries(ctx: click.Context) -> Any:
    """All registries with every plugin merged."""
    return kernel_of(ctx).registries


def owned(name: str, owner: Owner, **facts: Any) -> dict[str, Any]:
    """A list item: name, owner and version first."""
    return {"name": name, "owner": owner.distribution, "version": owner.version, **facts}


@click.command("checkers")
@output_format
@click.pass_context
def checkers_command(ctx: click.Context, /, form: str) -> None:
    """List the conflict checkers by pair of anchor types."""
    found = registries(ctx)
    rows = []
    for checker in found.checkers:
        row = owned(
            " and ".join(checker.types),
            checker.owner,
            types=list(checker.types),
            kind=checker.kind,
            codes=list(checker.codes),
        )
        unknown = unknown_types(checker, found.anchor_types)
        rows.append({**row, "unknown": unknown} if unknown else row)
    more = ("unknown",) if any("unknown" in row for row in rows) else ()
    show("checkers", form, rows, ("name", "kind", "codes", "owner", *more))


@click.command("assigners")
@output_format
@click.pass_context
def assigners_command(ctx: click.Context, /, form: str) -> None:
    """List the memory assigners."""
    rows = [
        owned(entry.name, entry.owner, about=str(entry.about.get("about", "")))
        for entry in registries(ctx).assigners.entries()
    ]
    show("assigners", form, rows, ("name", "owner", "version", "about"))


@click.command("targets")
@output_format
@click.pass_context
def targets_command(ctx: click.Context, /, form: str) -> None:
    """List the targets."""
    rows = [
        owned(
            entry.name,
            entry.owner,
            align_bytes=entry.value.align_bytes,
            run_align=entry.value.run_align,
            pools=dict(entry.value.pools),
            strided=entry.value.strided,
            pipeline=entry.value.pipeline,
            about=entry.value.about,
        )
        for entry in registries(ctx).targets.entries()
    ]
    show("targets", form, rows, ("name", "align_bytes", "run_align", "owner", "about"))


COMMANDS: Final = {
    "checkers": checkers_command,
    "assigners": assigners_command,
    "targets": targets_command,
}
