"""Commands and flags under their old names, while those still work."""

from __future__ import annotations

import click

from ge_core import deprecation
from ge_core.errors import UnknownNameError
from ge_core.renames import Rename


def present_arguments(arguments: list[str]) -> list[str]:
    """A command and its arguments by their present names; old ones are told on standard error.

    Raises:
        UnknownNameError: a name whose time is over; names the new one.
    """
    command, *rest = arguments
    if command in deprecation.COMMANDS:
        command = _present(deprecation.COMMANDS[command], "command")
    flags = deprecation.FLAGS.get(command, {})
    end = rest.index("--") if "--" in rest else len(rest)
    return [command, *(_flag(word, flags) for word in rest[:end]), *rest[end:]]


def _flag(word: str, flags: deprecation.Renames) -> str:
    name, equals, value = word.partition("=")
    rename = flags.get(name)
    return word if rename is None else f"{_present(rename, 'flag')}{equals}{value}"


def _present(rename: Rename, kind: str) -> str:
    if rename.expired:
        raise UnknownNameError(rename.gone(kind, rename.new))
    click.echo(f"warning: {rename.warning(kind, rename.new)}", err=True)
    return rename.new
