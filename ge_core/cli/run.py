"""`ge run`."""

from __future__ import annotations

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
)

file_option = click.Path(dir_okay=False, path_type=Path)


@click.command("run")
@click.argument("model", type=file_option)
@click.option(
    "--inputs", type=file_option, help="Inputs by name (.npz); generated where not given."
)
@click.option("--outputs", type=file_option, help="Write the outputs (.npz) here.")
@click.option("--check", is_flag=True, help="Compare with an unplanned run of the original.")
@click.option("--executor", default="numpy", show_default=True, help="Who executes.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of generated inputs.")
@compile_flags
@output_format
@click.pass_context
def run_command(
    ctx: click.Context,
    /,
    model: Path,
    inputs: Path | None,
    outputs: Path | None,
    check: bool,
    executor: str,
    seed: int,
    form: str,
    **flags: Any,
) -> int:
    """Compile MODEL and execute it inside its planned arena."""
    from ge_core.plugin.watch import results_kept_apart
    from ge_core.session.execution import execute, render, write_outputs
    from ge_core.session.front import compile

    set_up_logs(ctx)
    with results_kept_apart():
        result = compile(model, **requested(ctx, flags))
        if form == "human":
            warn(result.warnings)
        result.check_proof()
        outcome = execute(result, inputs=inputs, seed=seed, check=check, executor=executor)
        if outputs is not None:
            write_outputs(outputs, outcome)
    if form == "json":
        print_json(outcome.to_json())
    else:
        click.echo(render(outcome))
    return 0 if outcome.ok else 1


COMMANDS: Final = {"run": run_command}
