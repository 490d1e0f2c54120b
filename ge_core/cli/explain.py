"""`ge explain`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ge_core.cli.common import (
    compile_flags,
    output_format,
    print_json,
    requested,
    set_up_logs,
    warn,
)

if TYPE_CHECKING:
    from ge_core.ir import Graph
    from ge_core.session.result import Result
    from ge_core.session.trial import Trial


@click.command("explain")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("node", required=False)
@compile_flags
@click.option(
    "--as-it-is", is_flag=True, help="Don't compile again to try what would free the copy."
)
@output_format
@click.pass_context
def explain_command(
    ctx: click.Context, /, model: Path, node: str | None, as_it_is: bool, form: str, **flags: Any
) -> int:
    """Say why each move, join and split of MODEL, or one NODE, stayed or went.

    Of one NODE the whole story is told; what might free a copy that stays is tried out, and counts
    where the proof holds with it. A model whose own compile can't be proved is told of, and fails.
    """
    from ge_core.plugin.watch import results_kept_apart
    from ge_core.session.front import compile
    from ge_core.session.report import proof

    set_up_logs(ctx)
    with results_kept_apart():
        result = compile(model, **requested(ctx, flags))
    if form == "human":
        warn(result.warnings)
    story = result.explain(node)  # a node that nothing was said of is an error in both forms
    tried = [] if node is None or as_it_is else _trials(result, node, requested(ctx, flags))
    if form == "json":
        remarks = result.finals() if node is None else result.remarks.of(node)
        journey = None if node is None else result.journey(node)
        print_json(
            {
                "schema": "ge-explain/1",
                "remarks": [remark.to_json() for remark in remarks],
                "story": None if journey is None else journey.to_json(),
                "tried": [trial.to_json() for trial in tried],
                "proof": proof(result),
                "warnings": list(result.warnings),
            }
        )
    else:
        click.echo(
            story or "nothing to explain: no copies, and no other node that a pass changed or kept"
        )
        for trial in tried:
            click.echo(f"  {trial}")
    # What is told of a result that is wrong is no reason to believe in it.
    result.check_proof()
    return 0


def _trials(result: Result, node: str, arguments: dict[str, Any]) -> list[Trial]:
    """What came of the changes that might free a copy, each compiled with the command's flags."""
    from ge_core.passes.precedence import LEVEL
    from ge_core.plugin.watch import results_kept_apart
    from ge_core.session.front import compile
    from ge_core.session.trial import trials

    def again(graph: Graph, changed: Mapping[str, Any]) -> Result:
        options = {**arguments["options"], **changed.get("options", {})}
        level = options.pop(LEVEL, None) or arguments["level"]
        asked = {**arguments, "level": level, **changed, "input_shapes": {}, "origins": {}}
        asked["enable"] = [*arguments["enable"], *changed.get("enable", ())]
        asked["options"] = options
        with results_kept_apart():
            return compile(graph, **asked)

    return trials(result, node, again)


COMMANDS: Final = {"explain": explain_command}
