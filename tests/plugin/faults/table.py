"""What one misbehaviour is: the plugin's source, the command that meets it, and how it must end."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Final, Literal

DISTRIBUTION: Final = "acme-dist"
VERSION: Final = "1.5"
OWNER: Final = f"{DISTRIBUTION} {VERSION}"
GRAPH: Final = "GRAPH"
"""Stands for the path of the sample graph in a command."""
OUT: Final = "OUT"
"""Stands for the path of a file that does not exist yet, without its suffix."""

COMPILE: Final = ("compile", GRAPH, "--format", "json")

Ends = Literal["error", "warning", "fine"]


@dataclass(frozen=True)
class Fault:
    """One way to misbehave.

    Attributes:
        what: what the plugin `acme` of the distribution `acme-dist 1.5` does; a row of the page.
        code: the source of its module.
        says: what the one message says besides package and version.
        ends: an error (nothing else is done), a warning (the rest works), or fine (nothing is
            wrong with the result, and `says` is in the standard error output).
        run: the command.
        exit: its exit code; that of a plugin's error, or 0, by default.
        entry: name and value of the entry point; `{module}` stands for the module.
        group: the entry point's group.
        files: further files of the distribution by name.
        alone: runs in a process of its own, because it touches the process's state.
    """

    what: str
    code: str
    says: tuple[str, ...]
    ends: Ends = "error"
    run: tuple[str, ...] = COMPILE
    exit: int | None = None
    entry: tuple[str, str] = ("acme", "{module}")
    group: str = "ge_core.plugins.v1"
    files: dict[str, str] = field(default_factory=dict)
    alone: bool = False

    @property
    def code_expected(self) -> int:
        """The exit code."""
        return self.exit if self.exit is not None else 4 if self.ends == "error" else 0


HEAD: Final = """\
from dataclasses import dataclass

from ge_core.api import *

"""


def hook(name: str, body: str, before: str = "") -> str:
    """A module with one hook: `ge_register_<name>(<name>)`."""
    argument = {"memory_assigners": "assigners", "conflict_checkers": "checkers"}.get(
        name, name.rpartition("_")[2]
    )
    return (
        f"{HEAD}{textwrap.dedent(before)}\n@hookimpl\ndef ge_register_{name}({argument}):\n"
        + textwrap.indent(textwrap.dedent(body).strip() + "\n", "    ")
    )


def a_pass(
    body: str, *, kind: str = "GraphPass", stage: str = "OPTIMIZE_STAGE1", more: str = ""
) -> str:
    """A module with one pass `P` that runs at every level; its method's body is given."""
    head = "visit(self, node, ctx)" if kind == "NodePass" else "run(self, graph, ctx)"
    method = textwrap.indent(textwrap.dedent(body).strip() + "\n", " " * 8)
    return (
        f"{HEAD}KEPT = []\n\n\nclass P({kind}, codes=('DONE', 'NOT_YET')):\n"
        f"    '''Misbehaves.'''\n\n    def {head}:\n{method}\n\n"
        "@hookimpl\ndef ge_register_passes(passes):\n"
        f"    passes.add(P, levels=ALWAYS, stage='{stage}'{more})\n"
    )


def an_assigner(body: str, before: str = "") -> str:
    """A module with the assigner `low`; its method's body is given, `good(problem)` is right."""
    method = textwrap.indent(textwrap.dedent(body).strip() + "\n", " " * 8)
    return (
        f"{HEAD}{textwrap.dedent(before)}\n\ndef good(problem):\n"
        "    for cluster in problem.clusters:\n"
        "        problem.place(cluster, problem.lowest_free(cluster))\n"
        "    return problem.placement()\n\n\n"
        f"class Low:\n    def assign(self, problem, budget):\n{method}\n\n"
        "@hookimpl\ndef ge_register_memory_assigners(assigners):\n    assigners.add('low', Low)\n"
    )


ASSIGN: Final = (*COMPILE, "--assigner", "acme.low")
