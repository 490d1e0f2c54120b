"""The `ge` command: what exists, and how errors end. Commands are imported when they run."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Final, NoReturn

import click

from ge_core.cli.retired import present_arguments
from ge_core.errors import GeError
from ge_core.process_state import command_runs

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "compile": ("compile", "Load, optimise, plan, prove and write a model."),
    "run": ("run", "Compile a model and execute it inside its planned arena."),
    "verify": ("verify", "Prove a compiled graph and a plan of any origin."),
    "explain": ("explain", "Say why each move, join and split stayed or went."),
    "case": ("case", "Run case files: graph, pipeline, expectations."),
    "convert": ("convert", "Convert between supported graph files."),
    "passes": ("passes", "List passes; `show` one, or say `why` it runs."),
    "pipelines": ("pipelines", "List levels, level sets and named pipelines."),
    "pipeline": ("pipelines", "Show a pipeline in full, or the `diff` of two."),
    "options": ("options", "List the options, their defaults and owners; `show` one."),
    "checkers": ("listing", "List the conflict checkers by pair of anchor types."),
    "assigners": ("listing", "List the memory assigners."),
    "targets": ("listing", "List the targets."),
    "plugins": ("plugins", "List installed plugins; `doctor` loads them and says what failed."),
    "new": ("new", "Write a plugin's package: `ge new plugin NAME`."),
}
"""Command -> (module below ge_core.cli, help line): `ge --help` imports none of the modules."""

GROUP: Final = "ge_core.commands.v1"


class LazyGroup(click.Group):
    """Finds built-in commands by module name and plugins' commands by entry point."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Built-in commands in their order, then plugins' by name."""
        return [*COMMANDS, *sorted(_plugin_commands())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None where there is no such command."""
        if cmd_name in COMMANDS:
            module = import_module(f"ge_core.cli.{COMMANDS[cmd_name][0]}")
            found: click.Command = module.COMMANDS[cmd_name]
            return found
        return _load_plugin_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown command names those that look like it."""
        if args and not args[0].startswith("-"):
            args = present_arguments(args)
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in self.list_commands(ctx):
            from ge_core.errors import UnknownNameError, near_matches

            near = near_matches(name, self.list_commands(ctx))
            raise UnknownNameError(f"no command {name!r}", near=near, hint="see `ge --help`")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing one."""
        rows = [(name, text) for name, (_, text) in COMMANDS.items()]
        rows += [(name, f"From {owner}.") for name, owner in sorted(_plugin_commands().items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _plugin_commands() -> dict[str, str]:
    from ge_core.plugin.drivers import driver_points

    points = driver_points(GROUP)
    return {name: points[name][0].distribution for name in points if name not in COMMANDS}


def _load_plugin_command(name: str) -> click.Command | None:
    from ge_core.errors import PluginError, PluginLoadError
    from ge_core.foreign import in_words
    from ge_core.plugin.drivers import driver_points

    points = driver_points(GROUP).get(name, [])
    if not points:
        return None
    owners = ", ".join(point.owner for point in points)
    if len(points) > 1:
        raise PluginError(f"command {name!r} is contested: {owners}")
    try:
        command = points[0].load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, SystemExit included
        raise PluginLoadError(
            f"command {name!r} failed at import: it {in_words(error)}", owner=owners
        ) from error
    if not isinstance(command, click.Command):
        raise PluginError(f"command {name!r} is not a click command", owner=owners)
    return command


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="graph-engine-core", prog_name="ge")
@click.option(
    "--log-format",
    type=click.Choice(["human", "json"]),
    default="human",
    help="How logs are written to standard error.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    help="Least level that is logged.",
)
@click.option("--strict-plugins", is_flag=True, help="A plugin that fails to load is an error.")
@click.pass_context
def ge(ctx: click.Context, /, **settings: Any) -> None:
    """Remove copies from neural-network graphs, plan their memory, and prove the result."""
    ctx.obj = settings


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; ends the process with the documented exit code."""
    try:
        with command_runs():
            code = ge.main(args=args, prog_name="ge", standalone_mode=False)
    except GeError as error:
        click.echo(f"error {error.code}: {error}{_outdated(error)}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe went away: nothing is wrong, and nothing more can be said.
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        from ge_core.cli.unexpected import report

        sys.exit(report(error))
    sys.exit(code if isinstance(code, int) else 0)


def _outdated(error: GeError) -> str:
    """What a missing name may come from: a project that was edited and not installed again."""
    from ge_core.errors import PassError, PluginError, UnknownNameError

    missing = isinstance(error, UnknownNameError) or (
        isinstance(error, PluginError) and not isinstance(error, PassError)
    )
    if not missing:
        return ""
    from ge_core.plugin.stale import stale_installations

    return "".join(f"\n  {line}" for one in stale_installations() for line in one.lines())


if __name__ == "__main__":
    main()
