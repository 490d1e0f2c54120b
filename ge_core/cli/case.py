"""`ge case`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ge_core.cli.common import kernel_of, output_format, print_json, set_up_logs


@click.command("case")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_format
@click.pass_context
def case_command(ctx: click.Context, /, paths: tuple[Path, ...], form: str) -> int:
    """Run case files, or all those in folders: graph, pipeline, expectations."""
    from ge_core.cases import find_cases, run_case
    from ge_core.plugin.watch import results_kept_apart

    set_up_logs(ctx)
    kernel = kernel_of(ctx)
    with results_kept_apart():
        results = [run_case(case, kernel) for case in find_cases(paths)]
    failed = [result for result in results if not result.passed]
    passed = len(results) - len(failed)
    if form == "json":
        print_json(
            {
                "schema": "ge-case/1",
                "passed": passed,
                "failed": len(failed),
                "failures": [
                    {"id": result.case.id, "expected": failure.expected, "got": failure.got}
                    for result in failed
                    for failure in result.failures
                ],
            }
        )
    else:
        for result in failed:
            for failure in result.failures:
                click.echo(f"{result.case.id}: expected {failure.expected}; {failure.got}")
        click.echo(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not results else 0


COMMANDS: Final = {"case": case_command}
