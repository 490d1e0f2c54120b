"""`ge new plugin`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ge_core.cli.common import output_format, print_json


@click.group("new")
def new_command() -> None:
    """Write the beginnings of something; `plugin` is what there is."""


@new_command.command("plugin")
@click.argument("name")
@click.option(
    "--with",
    "kinds",
    multiple=True,
    metavar="KIND[,KIND]...",
    help="What it contains: pass (the default), checker, assigner, trace, op, target, pipeline, "
    "option, instrument; or all.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder to make; by default ./NAME-ge. It must not exist.",
)
@output_format
def plugin_command(name: str, kinds: tuple[str, ...], out: Path | None, form: str) -> None:
    """Write a package that installs, is found, and passes its own tests.

    NAME becomes the prefix of everything that the plugin registers.
    """
    from ge_core.config import find_config
    from ge_core.scaffold import KINDS, new_plugin

    asked = [kind.strip() for text in kinds for kind in text.split(",")] or ["pass"]
    chosen = [one for kind in asked for one in (KINDS if kind == "all" else [kind])]
    path = new_plugin(name, chosen, out, config=find_config())
    if form == "json":
        print_json({"schema": "ge-new/1", "path": str(path)})
        return
    click.echo(f"{path}\n\nNext, in the environment that has `ge`:\n")
    click.echo(f'  pip install -e "{path}[test]"\n  pytest {path}\n  ge plugins doctor')


COMMANDS: Final = {"new": new_command}
