"""Where somebody else's code raised: every error that stands for it names the line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from ge_core.analysis.trace import TraceRule
from ge_core.errors import GeError, PluginError, UsageError
from ge_core.foreign import foreign
from ge_core.ir import Graph, GraphBuilder, Node
from ge_core.memory.anchor_types import AnchorType
from ge_core.memory.checkers import PairRule
from ge_core.passes import GraphPass, NodePass
from ge_core.passes.context import PassContext
from ge_core.passes.delete_rules import DeleteRule
from ge_core.registry import Owner

from .conftest import Run

ACME = Owner("acme", "acme-casts", "1.0")
NOBODYS: Any = None
"""An argument that nobody looks at."""
HERE = "tests/passes/test_raised.py"


def oops(*_: Any) -> Any:
    """Raises."""
    raise KeyError("oops")


OOPS = inspect.getsourcelines(oops)[1] + 2
"""The line that raises."""


class Raises(GraphPass):
    """Raises in a function that it calls."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Raise."""
        oops()


class Misreads(GraphPass):
    """Raises inside Python's own library."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Raise."""
        json.loads("{")


class RaisesAtExp(NodePass):
    """Raises at one node."""

    def visit(self, node: Node, ctx: PassContext) -> None:
        """Raise."""
        if node.op == "Exp":
            oops()


class Misuses(GraphPass):
    """Has the kernel raise."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Remove what is read."""
        graph.remove(graph.nodes_of("Exp")[0])


def chain() -> Graph:
    """An Exp and a Relu."""
    builder = GraphBuilder("root")
    x = builder.data("x")
    e = builder.op("Exp", x, name="e")
    builder.net_output(builder.op("Relu", e, name="r"))
    return builder.graph


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files start here."""
    monkeypatch.chdir(Path(__file__).parents[2])


def error_of(run: Run, cls: type) -> GeError:
    """What running a pass raises."""
    with pytest.raises(GeError) as raised:
        run(chain(), {}, acme={"P": {"cls": cls}})
    return raised.value


def line(cls: type, text: str) -> int:
    """The number of the first line of a class that has this in it."""
    lines, first = inspect.getsourcelines(cls)
    return first + next(at for at, one in enumerate(lines) if text in one)


def test_the_line_of_a_pass_is_named(run: Run) -> None:
    """Below the owner: the deepest line that isn't the kernel's."""
    assert [
        "pass 'acme.P' failed: KeyError: 'oops'",
        "  owner: acme-casts 1.0",
        f"  at {HERE}:{OOPS} in oops",
    ] == str(error_of(run, Raises)).splitlines()


@pytest.mark.parametrize(("cls", "text"), [(Misreads, "json.loads"), (Misuses, "graph.remove")])
def test_the_line_that_called_is_named(run: Run, cls: type, text: str) -> None:
    """Neither Python's own library nor the kernel is at fault for what it is given."""
    assert f"at {HERE}:{line(cls, text)} in run" == error_of(run, cls).where


def test_the_node_being_visited_is_named(run: Run) -> None:
    """A node pass runs over many: which one it was."""
    assert f"at {HERE}:{OOPS} in oops, visiting 'e' (Exp)" == error_of(run, RaisesAtExp).where


@pytest.mark.parametrize(
    "ask",
    [
        lambda: DeleteRule("r", oops, owner=ACME)(NOBODYS),
        lambda: AnchorType("T", oops, owner=ACME)(NOBODYS),
        lambda: PairRule(("A", "B"), "check", function=oops, owner=ACME)(1, 2, 3),
        lambda: TraceRule("Exp", oops, owner=ACME)(NOBODYS, NOBODYS),
    ],
    ids=["delete rule", "anchor type", "checker", "trace rule"],
)
def test_the_line_of_whatever_else_is_asked_is_named(ask: Any) -> None:
    """Rules, checkers and markers like passes."""
    with pytest.raises(GeError) as raised:
        ask()
    assert f"at {HERE}:{OOPS} in oops" == raised.value.where


def test_the_users_own_mistakes_have_no_line() -> None:
    """Whoever notices a malformed file or argument: it is not the place to look."""
    with pytest.raises(UsageError) as raised, foreign("it", "acme-casts 1.0"):
        raise UsageError("no such thing")
    assert raised.value.where is None


@pytest.fixture
def logs() -> Iterator[list[Any]]:
    """What is logged while somebody listens."""
    with structlog.testing.capture_logs() as records:
        yield records


def test_the_traceback_is_logged(logs: list[Any]) -> None:
    """At level debug, for --log-level debug."""
    with pytest.raises(PluginError) as raised, foreign("frontend 'x'", "acme-casts 1.0"):
        oops()
    assert [("debug", "frontend 'x' raised KeyError: 'oops'", raised.value.__cause__)] == [
        (record["log_level"], record["event"], record["exc_info"]) for record in logs
    ]


def test_nothing_is_printed_where_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    """A library that was not asked to log writes nothing."""
    with pytest.raises(PluginError), foreign("frontend 'x'", "acme-casts 1.0"):
        oops()
    assert ("", "") == tuple(capsys.readouterr())
