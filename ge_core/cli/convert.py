"""`ge convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ge_core.cli.common import ShapeParam, set_up_logs

file_option = click.Path(dir_okay=False, path_type=Path)


@click.command("convert")
@click.argument("source", metavar="IN", type=file_option)
@click.argument("target", metavar="OUT", type=file_option)
@click.option(
    "--input-shape",
    "shapes",
    type=ShapeParam(),
    multiple=True,
    help="Shape of a graph input whose file leaves dimensions open.",
)
@click.pass_context
def convert_command(
    ctx: click.Context,
    /,
    source: Path,
    target: Path,
    shapes: tuple[tuple[str, tuple[int, ...]], ...],
) -> int:
    """Read the graph file IN and write it as OUT; suffixes say in which formats."""
    from ge_core.session.files import load, save

    set_up_logs(ctx)
    save(load(source, input_shapes=dict(shapes)), target, source_path=source)
    return 0


COMMANDS: Final = {"convert": convert_command}
