"""`ge plugins` and `ge plugins doctor`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import click

from ge_core.cli.common import is_strict, output_format, print_json, warn
from ge_core.cli.tables import show

SLOW: Final = 0.3
"""Seconds of loading that are worth a word: every command that lists or compiles pays them."""
COLUMNS: Final = ("name", "distribution", "version", "api", "status", "error")


@click.group("plugins", invoke_without_command=True)
@output_format
@click.pass_context
def plugins_command(ctx: click.Context, /, form: str) -> None:
    """List the installed plugins; imports none of them."""
    if ctx.invoked_subcommand is None:
        from ge_core.config import find_config
        from ge_core.plugin.index import index_plugins

        index = index_plugins(find_config())
        show("plugins", form, [c.to_json() for c in index.candidates], COLUMNS)
        warn(index.warnings)


BRINGS: Final = ("name", "distribution", "version", "api", "status", "brings", "error")


def _brings(row: dict[str, Any]) -> str | None:
    """What a plugin registered, in a few words."""
    counts: dict[str, int] = row["registered"]
    return ", ".join(_counted(count, kind) for kind, count in counts.items()) or None


def _counted(count: int, kind: str) -> str:
    words = kind.replace("_", " ")
    if count == 1:
        words = "pass" if words == "passes" else words.removesuffix("s")
    return f"{count} {words}"


@plugins_command.command("doctor")
@output_format
@click.pass_context
def doctor_command(ctx: click.Context, /, form: str) -> int:
    """Load every plugin, say what each brings, and show the tracebacks of those that fail."""
    from ge_core.config import find_config
    from ge_core.plugin.drivers import COMMANDS as COMMAND_GROUP
    from ge_core.plugin.drivers import check_drivers
    from ge_core.plugin.loading import load_plugins
    from ge_core.plugin.stale import stale_installations
    from ge_core.session.pipeline_problems import declaration_problems

    # What is wrong is shown here, also where the configuration makes an error of it.
    config = find_config()
    strict = is_strict(ctx) or config.strict_plugins
    plugins = load_plugins(config=replace(config, strict_plugins=False))
    unknown = plugins.failures.unknown
    rows: list[dict[str, Any]] = [candidate.to_json() for candidate in plugins.candidates]
    tracebacks = {f.candidate.name: f.traceback for f in plugins.failures.failures}
    reports = {(r.candidate.name, r.candidate.distribution): r for r in plugins.reports}
    for row in rows:
        report = reports.get((row["name"], row["distribution"]))
        row["traceback"] = tracebacks.get(row["name"]) if row["status"] == "failed" else None
        row["seconds"] = None if report is None else report.seconds
        row["registered"] = {} if report is None else report.registered
        row["changes"] = [] if report is None else list(report.changes)
    drivers = check_drivers(COMMAND_GROUP)
    stale = stale_installations()
    pipelines = declaration_problems(plugins.registries)
    bad = any(row["status"] in ("failed", "incompatible", "duplicate", "broken") for row in rows)
    bad = bad or any(row["changes"] for row in rows)
    bad = bad or any(row["error"] for row in drivers) or bool(stale or pipelines or unknown)
    if form == "json":
        behind = [one.to_json() for one in stale]
        print_json(
            {
                "schema": "ge-plugins/1",
                "items": rows,
                "drivers": drivers,
                "stale": behind,
                "pipelines": pipelines,
                "unknown": list(unknown),
            }
        )
    else:
        show("plugins", form, [{**row, "brings": _brings(row)} for row in rows], BRINGS)
        for row in rows:
            for words in row["changes"]:
                click.echo(f"{row['name']} ({row['distribution']} {row['version']}) {words}")
            if row["seconds"] is not None and row["seconds"] > SLOW:
                click.echo(
                    f"{row['name']} ({row['distribution']} {row['version']}) takes "
                    f"{row['seconds']:.1f} s to load; refer to heavy modules as 'module:Name'"
                )
        for words in unknown:
            click.echo(words)
        click.echo()
        show("drivers", form, drivers, ("name", "group", "distribution", "version", "error"))
        for row in rows:
            if row["traceback"]:
                click.echo(f"\n{row['name']} ({row['distribution']} {row['version']}):")
                click.echo(row["traceback"].rstrip())
        for one in stale:
            click.echo(f"\n{one}")
        for row in pipelines:
            owner = f"{row['owner']} {row['version']}".rstrip()
            click.echo(f"\n{row['name']} ({owner}): {row['error']}")
    return 4 if bad and strict else int(bad)


COMMANDS: Final = {"plugins": plugins_command}
