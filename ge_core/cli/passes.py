"""`ge passes`, `ge passes show NAME`, `ge passes why NAME`, `ge passes claims`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from ge_core.cli.common import (
    SettingParam,
    kernel_of,
    output_format,
    print_json,
    settings_of,
    warn,
)
from ge_core.cli.listing import owned, registries
from ge_core.cli.tables import show

if TYPE_CHECKING:
    from ge_core.passes.claims import Claim


@click.group("passes", invoke_without_command=True)
@output_format
@click.pass_context
def passes_command(ctx: click.Context, /, form: str) -> None:
    """List the passes: where they run, from which level on, and whose they are."""
    if ctx.invoked_subcommand is None:
        rows = [_row(declaration) for declaration in registries(ctx).passes]
        rows.sort(key=lambda row: (row["rank"], row["name"]))
        for row in rows:
            del row["rank"]
        show("passes", form, rows, ("name", "stage", "levels", "owner", "version", "summary"))


def _row(declaration: Any) -> dict[str, Any]:
    return owned(
        declaration.name,
        declaration.owner,
        rank=declaration.place.rank,
        stage=str(declaration.place),
        levels=[str(level) for level in declaration.levels],
        switch=list(declaration.switch),
        before=list(declaration.before),
        after=list(declaration.after),
        needs=list(declaration.needs),
        requires=list(declaration.requires),
        establishes=list(declaration.establishes),
        invalidates=list(declaration.invalidates),
        preserves=list(declaration.preserves),
        repeat=declaration.repeat,
        required=declaration.required,
        changes_values=declaration.changes_values,
        summary=declaration.summary,
    )


@passes_command.command("show")
@click.argument("name")
@output_format
@click.pass_context
def show_command(ctx: click.Context, /, name: str, form: str) -> None:
    """Show one pass: constraints, options with their help, reason codes."""
    from ge_core.passes.pass_options import describe_options

    passes = registries(ctx).passes
    name, warning = passes.current(name)
    if warning is not None:
        warn([warning])
    declaration = passes.get(name)
    facts = _row(declaration)
    del facts["rank"]
    facts["options"] = [
        {
            "name": f"{declaration.name}.{o.name}",
            "type": o.type,
            "default": o.default,
            "help": o.help,
        }
        for o in describe_options(declaration)
    ]
    facts["codes"] = [
        {"name": code.name, "text": code.text, "rule": code.rule} for code in declaration.codes
    ]
    facts["counters"] = [
        {"name": counter, "text": text} for counter, text in declaration.counters.items()
    ]
    if form == "json":
        print_json({"schema": "ge-pass/1", **facts})
        return
    titles = ("options", "codes", "counters")
    for key, value in facts.items():
        if key in titles:
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        click.echo(f"{key:<15} {text or '-'}")
    for title in titles:
        click.echo(title)
        for item in facts[title]:
            about = item["help"] if title == "options" else item["text"]
            click.echo(f"  {item['name']}: {about}")


@passes_command.command("claims")
@output_format
@click.pass_context
def claims_command(ctx: click.Context, /, form: str) -> None:
    """List the claims about graphs that are enforced: what holds, and from where on."""
    rows = [
        owned(
            claim.name,
            claim.owner,
            holds=_holds(claim),
            establish=_saying(ctx, claim, "establishes"),
            require=_saying(ctx, claim, "requires"),
            invalidate=_saying(ctx, claim, "invalidates"),
            summary=claim.summary,
        )
        for claim in registries(ctx).passes.claims
    ]
    show("claims", form, rows, ("name", "holds", "establish", "owner", "version", "summary"))


def _holds(claim: Claim) -> str:
    if claim.always:
        return "always"
    return "established" if claim.holds_after is None else str(claim.holds_after)


def _saying(ctx: click.Context, claim: Claim, what: str) -> list[str]:
    """The passes that say this of a claim."""
    return [
        declaration.name
        for declaration in registries(ctx).passes
        if any(
            claim.name in (name, declaration.owner.full(name))
            for name in getattr(declaration, what)
        )
    ]


@passes_command.command("why")
@click.argument("name")
@click.option("-O", "--level", help="The level to ask about.")
@click.option("--set", "settings", type=SettingParam(), multiple=True, help="Set an option.")
@click.option("--enable", multiple=True, metavar="PASS", help="Switch a pass on.")
@click.option("--disable", multiple=True, metavar="PASS", help="Switch a pass off.")
@click.option("--pipeline", help="The pipeline to ask about.")
@click.option("--target", help="The device to ask about, which may bring a pipeline.")
@output_format
@click.pass_context
def why_command(ctx: click.Context, /, name: str, form: str, **flags: Any) -> None:
    """Say whether a pass runs, and the chain of decisions that says so."""
    from ge_core.session.request import CompileRequest
    from ge_core.session.scheduling import schedule_for

    kernel = kernel_of(ctx)
    name, warning = kernel.registries.passes.current(name)
    if warning is not None:
        warn([warning])
    kernel.registries.passes.get(name)
    asked = {key: flags[key] for key in ("pipeline", "target")}
    request = CompileRequest(**settings_of(flags), **asked)
    schedule = schedule_for(kernel, request)
    warn(schedule.warnings)
    decision = schedule.decisions[name]
    if form == "json":
        because = [step.to_json() for step in decision.because]
        print_json({"schema": "ge-why/1", "name": name, "runs": decision.runs, "because": because})
        return
    click.echo(f"{name} {'runs' if decision.runs else 'does not run'}")
    for step in decision.because:
        click.echo(f"  {step.source}: {step.rule}: {step.value}")


COMMANDS: Final = {"passes": passes_command}
