"""What commands share: flags of a compile, JSON or human output, input shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ge_core.digits import whole_number

if TYPE_CHECKING:
    from ge_core.session.kernel import Kernel

F = TypeVar("F", bound=Callable[..., Any])


class ShapeParam(click.ParamType[Any]):
    """`NAME=1x3x64x64`; the name may contain `=` and `:`, and a scalar is `NAME=`."""

    name = "NAME=1x3x64x64"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[int, ...]]:
        """(name, shape), or click's own error."""
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).rpartition("=")
        dims = [whole_number(dim) for dim in text.split("x")] if text else []
        shape = tuple(dim for dim in dims if dim is not None)
        if not equals or not name or len(shape) < len(dims):
            self.fail(f"{value!r} is not NAME=1x3x64x64", param, ctx)
        return name, shape


class SettingParam(click.ParamType[Any]):
    """`OPTION=VALUE`."""

    name = "OPTION=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """(option, value), or click's own error."""
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not equals or not name:
            self.fail(f"{value!r} is not OPTION=VALUE", param, ctx)
        return name, text


op_traits_option = click.option(
    "--op-traits",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A TOML file that says what ops do with memory which no plugin declares.",
)


def together(*flags: Callable[[F], F]) -> Callable[[F], F]:
    """Several flags as one decorator, in the order in which help shows them."""

    def decorate(function: F) -> F:
        for flag in reversed(flags):
            function = flag(function)
        return function

    return decorate


compile_flags = together(
    click.option("-O", "--level", default=None, help="Optimisation level, O3 by default."),
    click.option(
        "--input-shape",
        "input_shapes",
        type=ShapeParam(),
        multiple=True,
        help="Shape of a graph input whose file leaves dimensions open.",
    ),
    click.option(
        "--set",
        "settings",
        type=SettingParam(),
        multiple=True,
        help="Set an option of GE or a pass.",
    ),
    click.option("--enable", multiple=True, metavar="PASS", help="Switch a pass on."),
    click.option("--disable", multiple=True, metavar="PASS", help="Switch a pass off."),
    click.option("--pipeline", help="A pipeline: its text, its name, or a TOML file."),
    click.option("--target", help="The device: a name, or a TOML file."),
    click.option("--assigner", help="The memory assigner, `best` by default."),
    op_traits_option,
    click.option(
        "--objective",
        type=click.Choice(["copies", "peak"]),
        help="What to prefer where both can't be had; a higher peak than O1's only with `copies`.",
    ),
    click.option(
        "--verify-each", is_flag=True, help="Check the graph's structure after each pass."
    ),
)
"""The flags of `ge compile` that every compiling command takes."""

output_format = click.option(
    "--format",
    "form",
    type=click.Choice(["human", "json"]),
    default="human",
    help="How the result is written to standard output.",
)


def settings_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Options and switches as the flags have them, and how each was written.

    Raises:
        UsageError: an option is set to two values.
    """
    options: dict[str, str] = {}
    origins: dict[str, str] = {}
    for name, value in flags["settings"]:
        if options.setdefault(name, value) != value:
            raise _twice(origins[name], f"--set {name}={value}")
        origins[name] = f"--set {name}={value}"
    level = flags["level"]
    if level is not None:
        written = f"-O {level}"
        if options.get("ge.oo.level", level) != level:
            raise _twice(written, origins["ge.oo.level"])
        origins["ge.oo.level"] = written
    for verb in ("enable", "disable"):
        origins.update({f"{verb} {name}": f"--{verb} {name}" for name in flags[verb]})
    return {
        "level": level,
        "options": options,
        "enable": flags["enable"],
        "disable": flags["disable"],
        "origins": origins,
    }


def _twice(one: str, other: str) -> Exception:
    from ge_core.errors import UsageError

    return UsageError("an option is given twice, with two values", hint=f"given by: {one}, {other}")


def requested(ctx: click.Context, flags: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `ge_core.compile` that the flags stand for."""
    return {
        **settings_of(flags),
        "input_shapes": dict(flags["input_shapes"]),
        "pipeline": flags["pipeline"],
        "target": flags["target"],
        "assigner": flags["assigner"],
        "objective": flags["objective"],
        "verify_each": flags["verify_each"],
        "op_traits": flags["op_traits"],
        "strict_plugins": is_strict(ctx),
    }


def is_strict(ctx: click.Context) -> bool:
    """Whether `--strict-plugins` was given."""
    return bool((ctx.find_root().obj or {}).get("strict_plugins"))


def kernel_of(ctx: click.Context) -> Kernel:
    """The kernel with every plugin merged; what loading them warned of is told, once a command."""
    from ge_core.session.kernel import default_kernel

    kernel = default_kernel(strict=is_strict(ctx))
    if not ctx.find_root().meta.setdefault(_TOLD, False):
        ctx.find_root().meta[_TOLD] = True
        warn(kernel.warnings)
    return kernel


_TOLD = "ge_core.cli.warnings"


def warn(warnings: Iterable[str]) -> None:
    """Warnings on standard error, apart from the result."""
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


def print_json(document: Mapping[str, Any]) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def write_text(path: Path, text: str) -> None:
    """Replace a text file as a whole."""
    from ge_core.ir import write_atomically

    write_atomically(path, text.encode())


def set_up_logs(ctx: click.Context) -> None:
    """Send structlog's lines to standard error, as the command line asked."""
    import logging
    import sys

    import structlog

    settings = ctx.find_root().obj or {}
    level = getattr(logging, str(settings.get("log_level", "warning")).upper())
    as_json = settings.get("log_format") == "json"
    last: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
