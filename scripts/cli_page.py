"""The page about commands, made from what click and the command's own reference declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ge_core.cli.common import compile_flags
from ge_core.cli.documents import file_name
from ge_core.cli.main import COMMANDS as NAMES
from ge_core.cli.main import ge
from ge_core.cli.reference import EXIT_CODES, FACTS, Facts
from scripts.cli_examples import EXAMPLES, TINY
from scripts.doc_snippets import ANYTHING
from scripts.markdown import code, codes, page, table

INTRO = (
    "`ge COMMAND --help` says the same on a terminal. `--format json` prints one document on "
    "standard output, named by its `schema`; fields may be added to it, not removed or changed in "
    "meaning, and [each has a JSON schema](schemas.md). Logs and errors go to standard error."
)
GLOBAL = "`--log-format json`, `--log-level` and `--strict-plugins` stand before the command."


def commands() -> str:
    """A section per command, those below a command included."""
    rows = ([str(number), text] for number, text in EXIT_CODES.items())
    return page(
        "Commands",
        INTRO,
        console(("ge --help",)),
        GLOBAL,
        "## Exit codes",
        table(["code", "meaning"], rows),
        f"The examples below use this graph:\n\n{_file('tiny.json', TINY)}",
        *(_section(words, command) for words, command in declared()),
    )


def declared() -> Iterator[tuple[str, click.Command]]:
    """(words, command) of every command of the kernel, in the order of `ge --help`."""
    context = click.Context(ge)
    for name in NAMES:
        command = ge.get_command(context, name)
        assert command is not None
        yield from _below(name, command)


def _below(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    runs_alone = not isinstance(command, click.Group) or command.invoke_without_command
    if runs_alone:
        yield words, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _below(f"{words} {name}", inner)


def console(shown: tuple[str, ...], cut: tuple[int, int] = (0, 0)) -> str:
    """A block of commands, to be run; what they print is put in later."""
    head, tail = cut
    room = "-\n" * head + f"{ANYTHING}\n" + "-\n" * tail if head + tail else ""
    return "```console\n" + "".join(f"$ {command}\n{room}" for command in shown) + "```"


def _file(name: str, text: str) -> str:
    return f'```{name.rpartition(".")[2]} title="{name}"\n{text}```'


def _section(words: str, command: click.Command) -> str:
    facts, example = FACTS[words], EXAMPLES[words]
    usage = command.collect_usage_pieces(click.Context(command))
    parts = [
        f"## ge {words}",
        _sentences(command.help or ""),
        f"`{' '.join(['ge', words, *usage])}`",
        _parameters(words, command, facts),
        _exits(facts),
        example.about,
        *(_file(name, text) for name, text in example.files),
        console(example.shown, example.cut),
    ]
    if facts.document is not None:
        name = file_name(facts.document)
        parts.append(
            f"JSON document: [`{facts.document}`](schemas/{name}), {_fields(facts.document)}."
        )
    return "\n\n".join(part for part in parts if part)


def _fields(document: str) -> str:
    return f"[its fields](schemas.md#{document.replace('/', '')})"


def _sentences(text: str) -> str:
    return " ".join(text.split())


# ---- arguments and flags -------------------------------------------------------------------------


def _parameters(words: str, command: click.Command, facts: Facts) -> str:
    shared = [] if words == "compile" else _shared(command)
    rows = [
        [
            code(_name(argument)),
            "required" if argument.required else "optional",
            facts.arguments[_name(argument)],
        ]
        for argument in command.params
        if isinstance(argument, click.Argument)
    ]
    rows += [
        [codes(option.opts + option.secondary_opts), _values(option), _sentences(option.help or "")]
        for option in command.params
        if isinstance(option, click.Option) and option.name not in shared
    ]
    if shared:
        rows.append(
            ["those of `ge compile`", "", "`-O`, `--set` and the others that say how it compiles"]
        )
    return table(["argument or flag", "values", "meaning"], rows)


def _name(argument: click.Argument) -> str:
    return (argument.metavar or argument.name or "").upper()


def _shared(command: click.Command) -> list[str]:
    """The flags of a compile, where a command takes them all."""
    flags = [str(option.name) for option in compiling().params]
    names = {option.name for option in command.params}
    return flags if names.issuperset(flags) else []


def compiling() -> click.Command:
    """A command with the flags of a compile and nothing else."""
    return click.command("any")(compile_flags(lambda: None))


def _values(option: click.Option) -> str:
    if option.is_flag:
        return "a switch"
    kind: Any = option.type
    if isinstance(kind, click.Choice):
        shown = codes(kind.choices)
    else:
        context = click.Context(click.Command("any"))
        shown = code(option.make_metavar(context))
    default = option.default if option.show_default or isinstance(kind, click.Choice) else None
    if isinstance(default, (str, int)):
        shown += f"; {code(default)} by default"
    return shown + ("; may be repeated" if option.multiple else "")


def _exits(facts: Facts) -> str:
    texts = {**EXIT_CODES, 1: facts.failure or EXIT_CODES[1]}
    return "Exit codes: " + "; ".join(f"{number} {texts[number]}" for number in facts.exits) + "."
