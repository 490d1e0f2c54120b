"""Every reason code, tripped by an example or, where no file can say how, by a graph made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ge_core.api import Graph, GraphBuilder, GraphError
from ge_core.cases import Case
from ge_core.session.kernel import default_kernel
from ge_core.testing.rule_examples import examples_in, failures_of, hint_failures, remark_of
from ge_tensormove.codes import CODES

EXAMPLES = examples_in(Path(__file__).parents[1] / "examples" / "TensorMoveDeletePass")


def plain() -> Graph:
    """A copy that may go."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    b.op("Exp", b.op("TensorMove", act, name="mv"), name="use")
    return b.graph


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_an_example_ends_with_its_remark(example: Case) -> None:
    """Code, words, whom it blames, bytes and hint are those that the file shows."""
    assert [] == failures_of(example, default_kernel())
    node, facts = remark_of(example)
    # What nobody can read moves nothing.
    moved = sum(64 for _ in example.build().node(node).outputs)
    assert (example.id, moved) == (facts["code"], facts["bytes"])


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if remark_of(e)[1]["hint"]], ids=lambda example: example.id
)
def test_following_a_hint_lets_the_copy_go(example: Case) -> None:
    """Set what it says to set, add or cut the edge, take off the mark."""
    assert [] == hint_failures(example, default_kernel())


SPECIAL: dict[str, tuple[dict[str, Any], str | None]] = {
    "R4_NO_CHECKER": ({"read_write": False}, "install graph-engine-memconflict"),
    "R5_NO_CHECKERS": ({"layout": False}, "install graph-engine-memconflict"),
    "RAISES_PEAK": ({"kept": frozenset({"mv"})}, "--objective copies"),
}
"""Codes that no file trips: what the pass is given, and the way on."""


@pytest.mark.parametrize("code", SPECIAL)
def test_what_surrounds_a_compile_can_keep_a_copy(code: str, delete: Any) -> None:
    """Plugins that aren't there, and the memory that a removal would cost; without that it goes."""
    given, hint = SPECIAL[code]
    remark = delete(plain(), **given).remarks.final("mv")
    blame = [one.anchor for one in remark.blame]
    assert (code, hint, 64) == (remark.code, remark.hint.value, remark.bytes)
    assert ["act:0", "use@0"] == blame
    assert "REMOVED" == delete(plain()).remarks.final("mv").code


def test_a_graph_that_refuses_the_edit(delete: Any, monkeypatch: Any) -> None:
    """The copy stays and the failure is told, in the graph's own words."""

    def refuse(*args: Any, **facts: Any) -> None:
        raise GraphError("not today")

    monkeypatch.setattr("ge_core.ir.graph.Graph.bypass", refuse)
    graph = plain()
    remark = delete(graph).remarks.final("mv")
    assert ("REMOVAL_FAILED", "failed", 64) == (remark.code, remark.kind, remark.bytes)
    assert "not today" in remark.reason
    assert graph.find("mv") is not None


def test_every_code_is_tripped() -> None:
    """By one example each, or by what stands above."""
    assert sorted(CODES) == sorted([*(e.id for e in EXAMPLES), *SPECIAL, "REMOVAL_FAILED"])


@pytest.mark.parametrize("code", CODES)
def test_a_code_names_its_rule(code: str) -> None:
    """R0 to R5, as case files do."""
    text = CODES[code]
    rule = code[:2] if code.startswith("R") and code[1].isdigit() else None
    assert rule == (None if isinstance(text, str) else text[1])


def test_a_copy_of_unknown_size(delete: Any) -> None:
    """Bytes that nobody knows are None, not 0."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x", (-1, 4)), name="act", shape=(-1, 4))
    b.op("Exp", b.op("TensorMove", act, name="mv", shape=(-1, 4)), name="use", shape=(-1, 4))
    assert None is delete(b.graph).remarks.final("mv").bytes
