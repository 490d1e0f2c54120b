"""What a violation says where expected and found have the same name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ge_core.ir import Graph, GraphBuilder, clone
from ge_core.proof import ProofResult, Rewrite
from ge_core.proof.result import Findings

Prove = Callable[..., ProofResult]


def graph(op: str = "Exp", **attrs: object) -> Graph:
    """x -> e -> Relu r."""
    build = GraphBuilder()
    e = build.op(op, build.data("x"), build.data("y"), name="e", attrs=attrs)
    build.net_output(build.op("Relu", e, name="r"))
    return build.graph


@pytest.mark.parametrize(
    ("original", "compiled", "expected"),
    [
        (graph(), graph("Log"), "e computes Log now, Exp in the original"),
        (graph(f=1), graph(f=2), "attribute f of e is 2 now, 1 in the original"),
        (graph(f=[1, 2]), graph(), "attribute f of e is missing now, [1, 2] in the original"),
        (graph(), graph(f={"a": 1}), "attribute f of e is {'a': 1} now, missing in the original"),
        (graph(f=object()), graph(f=1), "attribute f of e is 1 now, <object> in the original"),
        (graph(f=1), graph(f=True), "attribute f of e is True now, 1 in the original"),
        (
            graph(f=list(range(99))),
            graph(f=list(range(98))),
            "attribute f of e differs",
        ),
    ],
)
def test_what_differs(prove: Prove, original: Graph, compiled: Graph, expected: str) -> None:
    """The op type, else the first attribute, with its values where they are short."""
    result = prove(compiled, original=original)
    assert [expected] == [violation.differs for violation in result.violations]
    first = result.violations[0]
    assert first.expected == first.found
    assert f"({expected})" in str(first)


def test_values_of_constants(prove: Prove) -> None:
    """Two constants of one name and other bytes."""

    def make(value: int) -> Graph:
        build = GraphBuilder()
        w = build.const("w", bytes([value] * 16), (4,))
        build.net_output(build.op("Relu", w, name="r"))
        return build.graph

    result = prove(make(1), original=make(2))
    assert "the value of w differs" == result.violations[0].differs


def test_names_that_say_it(prove: Prove) -> None:
    """Where another tensor is read nothing needs to be added."""
    other = graph()
    other.rewire(other.node("r").inputs[0], other.node("y").outputs[0])
    result = prove(clone(other), original=graph())
    assert [("e:0", None)] == [
        (violation.expected[:3], violation.differs) for violation in result.violations
    ]


def test_rewrites_of_other_parts_are_no_reason() -> None:
    """What a pass did behind a value-changing one can't be why something before it is wrong."""
    log = [Rewrite("A", ["n"], 0), Rewrite("B", ["n"], 1), Rewrite("C", ["m"])]
    findings = Findings(log)
    for part, between in ((0, (None, "V")), (1, ("V", None)), (None, (None, None))):
        findings.enter(part, *between)
        findings.add("reads", "n")
        findings.add("reads", "m")
    assert [
        ("A", None, "V"),
        ("C", None, "V"),
        ("B", "V", None),
        ("C", "V", None),
        ("B", None, None),
        ("C", None, None),
    ] == [(v.since_pass, v.from_pass, v.up_to_pass) for v in findings.violations]
