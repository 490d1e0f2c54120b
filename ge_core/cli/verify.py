"""`ge verify`: the proof on its own, for plans of any origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from ge_core.cli.common import (
    SettingParam,
    ShapeParam,
    is_strict,
    op_traits_option,
    output_format,
    print_json,
    set_up_logs,
    warn,
)

file_option = click.Path(dir_okay=False, path_type=Path)


@click.command("verify")
@click.argument("model", type=file_option)
@click.argument("compiled", type=file_option)
@click.argument("plan", type=file_option)
@click.option("--tasks", type=file_option, help="The task list; else the listed order counts.")
@click.option("--target", help="The device, for alignments; the plan's by default.")
@click.option(
    "--input-shape",
    "shapes",
    type=ShapeParam(),
    multiple=True,
    help="Shape of an open graph input.",
)
@click.option("--set", "settings", type=SettingParam(), multiple=True, help="Options in force.")
@op_traits_option
@output_format
@click.pass_context
def verify_command(ctx: click.Context, /, form: str, **arguments: Any) -> int:
    """Prove that COMPILED (ge-graph/1), laid out by PLAN, computes what MODEL computes."""
    from ge_core.session.verification import verify_files

    set_up_logs(ctx)

    proof = verify_files(strict_plugins=is_strict(ctx), warn=lambda text: warn([text]), **arguments)
    if form == "json":
        print_json(
            {
                "schema": "ge-verify/1",
                "ok": proof.ok,
                "violations": [violation.to_json() for violation in proof.violations],
                "assumptions": list(proof.assumptions),
            }
        )
    else:
        for violation in proof.violations:
            click.echo(str(violation))
        for assumption in proof.assumptions:
            click.echo(f"assumed: {assumption}")
        click.echo("ok" if proof.ok else f"{len(proof.violations)} violations")
    return 0 if proof.ok else 5


COMMANDS: Final = {"verify": verify_command}
