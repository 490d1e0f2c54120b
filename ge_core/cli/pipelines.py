"""`ge pipelines`, `ge pipeline show`, `ge pipeline diff`."""

from __future__ import annotations

from typing import Any, Final

import click

from ge_core.cli.common import (
    SettingParam,
    kernel_of,
    output_format,
    print_json,
    settings_of,
    together,
    warn,
)
from ge_core.cli.listing import registries
from ge_core.cli.tables import show

_planning_flags = together(
    click.option("-O", "--level", help="The level, where the pipeline is none itself."),
    click.option("--set", "settings", type=SettingParam(), multiple=True, help="Set an option."),
    click.option("--enable", multiple=True, metavar="PASS", help="Switch a pass on."),
    click.option("--disable", multiple=True, metavar="PASS", help="Switch a pass off."),
    click.option("--target", help="The device, which may bring a pipeline."),
)


@click.command("pipelines")
@output_format
@click.pass_context
def pipelines_command(ctx: click.Context, /, form: str) -> None:
    """List levels, level sets and named pipelines: whose they are and what they stand on."""
    from ge_core.session.pipeline_problems import pipeline_problems
    from ge_core.session.pipeline_view import list_pipelines

    found = registries(ctx)
    rows = list_pipelines(found.pipelines)
    broken = pipeline_problems(found)
    for row in rows:
        row["error"] = broken.get(row["name"])
    if form == "human":
        for row in rows:
            if row["contested"]:
                row["owner"] = " and ".join(row["contested"])
    columns = ["name", "kind", "base", "target", "owner", "version", "origin", "summary"]
    show("pipelines", form, rows, [*columns, "error"] if broken else columns)


@click.group("pipeline")
def pipeline_group() -> None:
    """Show a pipeline in full, or what differs between two."""


@pipeline_group.command("show")
@click.argument("pipeline", required=False)
@click.option("--text", is_flag=True, help="Print the pipeline text, which --pipeline takes.")
@_planning_flags
@output_format
@click.pass_context
def show_command(
    ctx: click.Context, /, pipeline: str | None, text: bool, form: str, **flags: Any
) -> None:
    """Show what PIPELINE runs, in order, whose the passes are, and why they run.

    PIPELINE is a level, a name, an overlay file or a text; what a compile runs here by default.
    """
    shown = asked_pipeline(ctx, pipeline, flags)
    if form == "json":
        print_json(shown.to_json())
        return
    click.echo(str(shown.schedule.text()) if text else "\n".join(shown.lines()))
    warn(shown.schedule.warnings)


@pipeline_group.command("diff")
@click.argument("base")
@click.argument("other")
@click.option("--exit-code", is_flag=True, help="End with 1 where they differ.")
@_planning_flags
@output_format
@click.pass_context
def diff_command(
    ctx: click.Context, /, base: str, other: str, exit_code: bool, form: str, **flags: Any
) -> int:
    """Say what OTHER does that BASE doesn't: passes, their order and options, the target.

    Each is a level, a name, an overlay file or a text.
    """
    from ge_core.passes.schedule_diff import compare_schedules

    shown = [asked_pipeline(ctx, what, flags) for what in (base, other)]
    found = compare_schedules(*(one.schedule for one in shown))
    if form == "json":
        print_json(
            {
                "schema": "ge-pipeline-diff/1",
                "base": shown[0].name,
                "other": shown[1].name,
                "same": not found,
                "items": [difference.to_json() for difference in found],
            }
        )
    else:
        for difference in found:
            click.echo(str(difference))
        if not found:
            click.echo("no difference")
        warn(dict.fromkeys(text for one in shown for text in one.schedule.warnings))
    return 1 if found and exit_code else 0


def asked_pipeline(ctx: click.Context, what: str | None, flags: dict[str, Any]) -> Any:
    """A pipeline with the flags of a command, as `ge_core.session.pipeline_view.Shown`."""
    from ge_core.session.pipeline_view import show_pipeline
    from ge_core.session.request import CompileRequest

    request = CompileRequest(**settings_of(flags), target=flags["target"])
    return show_pipeline(kernel_of(ctx), what, request)


COMMANDS: Final = {"pipelines": pipelines_command, "pipeline": pipeline_group}
