"""`ge compile`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any, Final

import click

from ge_core.cli.common import (
    compile_flags,
    output_format,
    print_json,
    requested,
    set_up_logs,
    warn,
    write_text,
)
from ge_core.cli.dumps import instruments, watching_flags

file_option = click.Path(dir_okay=False, path_type=Path)


@click.command("compile")
@click.argument("model", type=file_option)
@click.option("-o", "--output", type=file_option, help="Compiled graph: .onnx, or .json.")
@click.option("--plan", type=file_option, help="Write the plan (ge-plan/1) here.")
@click.option("--remarks", type=file_option, help="Write the remarks (JSON lines) here.")
@click.option("--tasks", type=file_option, help="Write the task list (ge-tasks/1) here.")
@click.option(
    "--print-pipeline", is_flag=True, help="Print the pipeline that would run, as a text, and end."
)
@compile_flags
@watching_flags
@output_format
@click.pass_context
def compile_command(ctx: click.Context, /, model: Path, form: str, **flags: Any) -> int:
    """Load MODEL, remove its copies, plan its memory, prove the result and write it."""
    import json

    from ge_core.passes.remarks import write_json_lines
    from ge_core.plugin.watch import results_kept_apart
    from ge_core.session.files import check_output, check_places
    from ge_core.session.front import compile

    set_up_logs(ctx)
    if flags["print_pipeline"]:
        from ge_core.cli.pipelines import asked_pipeline

        schedule = asked_pipeline(ctx, flags["pipeline"], flags).schedule
        warn(schedule.warnings)
        click.echo(str(schedule.text()))
        return 0
    if flags["output"] is not None:
        check_output(flags["output"])
    check_places([flags[name] for name in ("output", "plan", "tasks", "remarks") if flags[name]])
    asked = requested(ctx, flags)
    with results_kept_apart():
        watching = instruments(flags, strict=asked["strict_plugins"])
        result = compile(model, **asked, audit=flags["audit"], instruments=watching)
    if form == "json":
        print_json(result.report(timing=flags["timing"]))
    else:
        click.echo(str(result))
        for line in result.timing.lines() if flags["timing"] else ():
            click.echo(line)
    # A result that is wrong is reported and not written.
    result.check_proof()
    if flags["output"] is not None:
        with results_kept_apart():
            result.save(flags["output"])
    if flags["plan"] is not None:
        write_text(flags["plan"], json.dumps(result.plan.to_json()) + "\n")
    if flags["tasks"] is not None:
        write_text(flags["tasks"], json.dumps(result.tasks.to_json()) + "\n")
    if flags["remarks"] is not None:
        stream = StringIO()
        write_json_lines(result.remarks, stream)
        write_text(flags["remarks"], stream.getvalue())
    return 0


COMMANDS: Final = {"compile": compile_command}
