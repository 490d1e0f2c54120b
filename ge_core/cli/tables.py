"""Lists of things for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ge_core.cli.common import print_json

Row = Mapping[str, Any]


def show(command: str, form: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Print items: a table of some columns, or one JSON document with all keys."""
    if form == "json":
        print_json({"schema": f"ge-{command}/1", "items": list(rows)})
        return
    if not rows:
        click.echo(f"no {command}")
        return
    texts = [[cell(row.get(column)) for column in columns] for row in rows]
    widths = [
        max(len(column), *(len(line[at]) for line in texts)) for at, column in enumerate(columns)
    ]
    for line in (list(columns), *texts):
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


def cell(value: Any) -> str:
    """One value in one line."""
    if value is None:
        return "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(item) for item in value)
    # Names and texts of packages reach a terminal: no line ends and no escapes among them.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
