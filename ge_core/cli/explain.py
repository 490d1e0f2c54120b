"""`ge explain`."""

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


@click.command("explain")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("node", required=False)
@compile_flags
@output_format
@click.pass_context
def explain_command(
    ctx: click.Context, /, model: Path, node: str | None, form: str, **flags: Any
) -> int:
    """Say why each move, join and split of MODEL, or one NODE, stayed or went."""
    from ge_core.plugin.watch import results_kept_apart
    from ge_core.session.front import compile

    set_up_logs(ctx)
    with results_kept_apart():
        result = compile(model, prove=False, **requested(ctx, flags))
    if form == "human":
        warn(result.warnings)
    story = result.explain(node)  # a node that nothing was said of is an error in both forms
    if form == "json":
        remarks = result.finals() if node is None else result.remarks.of(node)
        print_json(
            {
                "schema": "ge-explain/1",
                "remarks": [remark.to_json() for remark in remarks],
                "warnings": list(result.warnings),
            }
        )
    else:
        click.echo(
            story or "nothing to explain: no copies, and no other node that a pass changed or kept"
        )
    return 0


COMMANDS: Final = {"explain": explain_command}
