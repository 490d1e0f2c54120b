"""The page about case files: two that run, and everything that they can say and expect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from ge_core.cases.graph_checks import GRAPH_CHECKS
from ge_core.cases.plan_checks import PLAN_CHECKS
from ge_core.cases.registry_checks import ERROR_CHECKS, SCHEDULE_CHECKS
from ge_core.cases.steps import STEPS
from scripts.cli_examples import CASE
from scripts.markdown import code, page, table

REGISTRY_CASE = """\
{
  "id": "off-beats-on",
  "family": "pass_registry",
  "why": "Inside one source, off beats on.",
  "declare": {"passes": {"A": {"levels": "O1+"}, "B": {"after": ["A"]}}},
  "options": {"ge.oo.level": "O1"},
  "enable": ["A"],
  "disable": ["A"],
  "expect": {"runs": ["B"], "off": ["A"]}
}
"""


def case_files() -> str:
    """The page."""
    return page(
        "Case files",
        "A case file is a fact with a number: what goes in, what runs, and what must be true "
        "afterwards, in JSON. `ge case` runs files and folders of them; with "
        "`ge_core.testing.pytest_plugin` pytest collects `*.case.json`. The product's own "
        "conformance suite is made of such files.",
        "## A graph and what becomes of it",
        f'```json title="a.case.json"\n{CASE}```',
        "```console\n$ ge case a.case.json\n```",
        "`graph` is a [`ge-graph/1`](json-forms.md#ge-graph1); a description that is left out is "
        "float32[1, 16]. `pipeline` names passes, and these steps of the kernel: "
        f"{', '.join(code(step) for step in sorted(STEPS))}. The target is `ascend`, and options "
        "are read as tolerantly as GE reads them, unless the case sets `ge.strictOptions`. An "
        "expected `error` is (a part of) the name of an error's class. "
        "[All keys](schemas.md#case-file).",
        "### What can be expected of the graph",
        _keys(GRAPH_CHECKS),
        "### What can be expected of plan and tasks",
        _keys(PLAN_CHECKS),
        "## Which passes run, and why",
        "Cases of the family `pass_registry` need no graph: they declare passes, options, levels "
        "and pipelines (or take those that are `installed`), say what each source says, and expect "
        "a schedule.",
        f'```json title="off.case.json"\n{REGISTRY_CASE}```',
        "```console\n$ ge case off.case.json\n```",
        "`options`, `enable` and `disable` are those of the command line; `sources` has those of "
        "`pipeline`, `project` and `environment`. [All keys](schemas.md#registry-case-file).",
        "### What can be expected of a schedule",
        _keys(SCHEDULE_CHECKS),
        "### What can be expected of an error",
        _keys(ERROR_CHECKS),
    )


def _keys(checks: Mapping[str, Callable[..., object]]) -> str:
    rows = ([code(name), inspect.getdoc(check) or ""] for name, check in checks.items())
    return table(["key", "what holds"], rows)
