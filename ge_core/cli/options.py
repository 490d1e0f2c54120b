"""`ge options`, `ge options show NAME`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from ge_core.cli.common import kernel_of, output_format, print_json
from ge_core.cli.listing import owned, registries
from ge_core.cli.tables import show

if TYPE_CHECKING:
    from ge_core.passes.options import OptionDeclaration
    from ge_core.passes.registry import PassDeclaration

ENTRY_POINTS: Final = ("session", "ir_build", "atc", "python", "command")
"""Spelled out, so that `ge --help` needn't import the passes."""


@click.group("options", invoke_without_command=True)
@click.option(
    "--entry-point",
    type=click.Choice(ENTRY_POINTS),
    help="Only what is offered there, by the names that it has there.",
)
@click.option("--category", help="Only this section, by our name for it or by GE's.")
@click.option("--all", "every", is_flag=True, help="GE's internal ones too.")
@output_format
@click.pass_context
def options_command(
    ctx: click.Context,
    /,
    entry_point: str | None,
    category: str | None,
    every: bool,
    form: str,
) -> None:
    """List the options, their defaults and their owners."""
    if ctx.invoked_subcommand is not None:
        return
    from ge_core.passes.visibility import EntryPoint, Visibility

    found = registries(ctx)
    section = None if category is None else _section(category, found.options)
    entry = None if entry_point is None else EntryPoint(entry_point)
    options = [
        option
        for option in found.options
        if (every or option.visibility is not Visibility.HIDDEN)
        and (entry is None or option.visible_at(entry))
        and section in (None, option.category)
    ]
    rows = [facts_of(option, found) for option in options]
    for row, option in zip(rows, options, strict=True):
        row["shown"] = option.name if entry is None else option.shown_at(entry)
        if form == "human" and row["defaults"]:
            row["default"] = _shown(row["defaults"])
    name = "name" if entry is None else "shown"
    show("options", form, rows, (name, "default", "owner", "help"))


def _section(wanted: str, options: Iterable[OptionDeclaration]) -> str:
    """Our name of a section; `UnknownNameError` where no option stands in it."""
    from ge_core.errors import UnknownNameError, near_matches
    from ge_core.passes.visibility import read_category

    section = read_category(wanted)
    there = sorted({option.category for option in options})
    if section not in there:
        raise UnknownNameError(
            f"no options in section {wanted!r}",
            near=near_matches(wanted, there),
            hint="sections: " + ", ".join(there),
        )
    return section


def facts_of(option: OptionDeclaration, found: Any) -> dict[str, Any]:
    """What a listing says of one option."""
    from ge_core.passes.switches import bound_passes
    from ge_core.passes.visibility import ge_section

    by_level = option.default if not isinstance(option.default, (str, type(None))) else None
    return owned(
        option.name,
        option.owner,
        type=option.type,
        default=option.default if by_level is None else None,
        defaults=None if by_level is None else dict(by_level),
        choices=list(option.choices),
        levels=list(option.levels),
        category=option.category,
        section=ge_section(option.category),
        visibility=str(option.visibility),
        entry_points=[str(entry) for entry in option.entry_points],
        show_names={str(entry): name for entry, name in option.show_names.items()},
        binds=[d.name for d in bound_passes(option.name, found.passes, found.options)],
        help=option.help,
    )


@options_command.command("show")
@click.argument("name")
@output_format
@click.pass_context
def show_command(ctx: click.Context, /, name: str, form: str) -> None:
    """Show one option, its value at each level and the one in force here; a pass's too."""
    facts = _facts(kernel_of(ctx), name)
    if form == "json":
        print_json({"schema": "ge-option/1", **facts})
        return
    for key, value in facts.items():
        click.echo(f"{key:<13} {_shown(value)}")


def _facts(kernel: Any, written: str) -> dict[str, Any]:
    """Of an option, of a pass's own name, or of an option of a pass."""
    from ge_core.passes.switches import NameReader
    from ge_core.session.request import CompileRequest
    from ge_core.session.scheduling import schedule_for

    found = kernel.registries
    names = NameReader(found.options, found.passes)
    schedule = schedule_for(kernel, CompileRequest())
    option = names.option_name(written)
    if option is not None:
        declaration = found.options.get(option)
        facts = {"kind": "option", **facts_of(declaration, found)}
        facts["at_levels"] = _at_levels(declaration, found.pipelines.levels)
        facts["value"] = schedule.options.get(option)
        facts["source"] = schedule.options.source(option)
        return facts
    name = names.pass_name(written)
    if name is not None:
        return _of_pass(schedule, found, name)
    owner, _, field = written.rpartition(".")
    name = names.pass_name(owner) if owner else None
    if name is None:
        raise names.no_option(written)
    return _of_field(schedule, found.passes.get(name), field)


def _at_levels(option: OptionDeclaration, levels: Any) -> dict[str, str | None]:
    return {name: option.default_at(levels.working(name)) for name in _levels(levels)}


def _levels(levels: Any) -> list[str]:
    """The kernel's, and the sets that stand on one of them."""
    from ge_core.errors import GeError
    from ge_core.passes.levels import Level

    sets = []
    for name in levels.names():
        with suppress(GeError):  # the doctor says what is wrong with it
            sets.append(levels.working(name).name)
    return [*map(str, Level), *sets]


def _of_pass(schedule: Any, found: Any, name: str) -> dict[str, Any]:
    """A pass's own name is an option: on or off."""
    from ge_core.passes.precedence import ON_VALUES, bound_option

    declaration = found.passes.get(name)
    decision = schedule.decisions[name]
    levels = found.pipelines.levels
    bound = [bound_option(one, declaration, found.options) or one for one in declaration.switch]
    at_levels = {}
    for level in _levels(levels):
        working = levels.working(level)
        if bound:
            options = [found.options.get(one) for one in reversed(bound) if one in found.options]
            values = [option.default_at(working) for option in options]
            on = next((value for value in values if value is not None), None) in ON_VALUES
        else:
            on = working.among(declaration.levels) is not None
        at_levels[level] = "on" if on else "off"
    return {
        "kind": "pass",
        **owned(declaration.name, declaration.owner),
        "type": "on or off",
        "bound_to": bound,
        "at_levels": at_levels,
        "value": "on" if decision.runs else "off",
        "source": decision.because[0].source if decision.because else None,
        "help": declaration.summary,
    }


def _of_field(schedule: Any, declaration: PassDeclaration, field: str) -> dict[str, Any]:
    from ge_core.passes.pass_options import changed_options, describe_options, no_such_option

    described = {option.name: option for option in describe_options(declaration)}
    if field not in described:
        raise no_such_option(declaration, field, described)
    option = described[field]
    given: Mapping[str, Any] = next(
        (s.options for s in schedule.passes if s.name == declaration.name), {}
    )
    return {
        "kind": "pass option",
        **owned(f"{declaration.name}.{field}", declaration.owner),
        "type": option.type,
        "default": option.default,
        "value": changed_options(declaration, given).get(field, option.default),
        "help": option.help,
    }


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(one)}" for key, one in value.items()) or "-"
    if isinstance(value, list):
        return ", ".join(one or "empty" for one in value) or "-"
    if value is None:
        return "-"
    return "empty" if value == "" else str(value)


COMMANDS: Final = {"options": options_command}
