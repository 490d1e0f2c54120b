"""What plugins register for memory: assigners, anchor types, conflict checkers."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import PassError, PluginError, UnknownNameError
from ge_core.ir import GraphBuilder
from ge_core.memory import (
    AnchorTypeRegistry,
    AssignerRegistry,
    Budget,
    CheckerRegistry,
    MemoryProblem,
    Placement,
)
from ge_core.registry import Owner

ACME = Owner("acme", "acme-memory", "1.0")
GE = Owner("kernel", "graph-engine-core", "1.0", builtin=True)


class FirstFit:
    """The assigner of the author's guide."""

    def assign(self, problem: MemoryProblem, budget: Budget) -> Placement:
        """Clusters in order of birth, each at the lowest free offset."""
        for cluster in sorted(problem.clusters, key=lambda c: (c.birth, c.name)):
            problem.place(cluster, problem.lowest_free(cluster))
        return problem.placement()


def test_an_assigner_is_made_when_asked_for() -> None:
    """By its full name; a class as it is, a reference by importing it."""
    staged, assigners = AssignerRegistry(), AssignerRegistry()
    staged.add("first_fit", FirstFit, about="the guide's")
    staged.add("acme.lazy", "fractions:Fraction")
    assigners.absorb(staged, ACME)
    assert assigners.names() == ["acme.first_fit", "acme.lazy"]
    assert isinstance(assigners.make("acme.first_fit"), FirstFit)
    assert assigners.make("acme.first_fit").assign(MemoryProblem(), Budget()).offsets == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere_at_all:Thing", "can't be loaded"),
        ("fractions:Fraction", "has no method assign"),
        (lambda: 1 / 0, "can't be made: it raised ZeroDivisionError"),
    ],
)
def test_a_broken_assigner_names_its_owner(source: Any, message: str) -> None:
    """Whatever fails is the owner's, and said so."""
    staged, assigners = AssignerRegistry(), AssignerRegistry()
    staged.add("bad", source)
    assigners.absorb(staged, ACME)
    with pytest.raises(PluginError, match=message) as caught:
        assigners.make("acme.bad")
    assert caught.value.owner == "acme-memory 1.0"


def test_unknown_and_taken_names() -> None:
    """Near matches name their owners; a second claim names both."""
    staged, assigners = AssignerRegistry(), AssignerRegistry()
    staged.add("first_fit", FirstFit)
    assigners.absorb(staged, ACME)
    with pytest.raises(UnknownNameError) as caught:
        assigners.make("acme.firstfit")
    assert caught.value.near == ("acme.first_fit (acme-memory 1.0)",)
    with pytest.raises(PluginError, match="registered twice"):
        assigners.absorb(staged, ACME)
    with pytest.raises(PluginError, match="no class and no reference"):
        staged.add("odd", 3)  # type: ignore[arg-type]


def test_anchor_types_mark_anchors() -> None:
    """A marker is asked about inputs and outputs; names get their owner's prefix."""
    staged, types = AnchorTypeRegistry(), AnchorTypeRegistry()
    staged.add("PINNED", marks=lambda anchor: "bank" in anchor.node.attrs)
    types.absorb(staged, ACME)
    build = GraphBuilder()
    pinned = build.op("Gen", name="a", attrs={"bank": 1})
    plain = build.op("Relu", pinned, name="b")
    assert types.of(pinned) == ["acme.PINNED"]
    assert types.of(plain.node.inputs[0]) == []


def test_a_marker_that_raises_names_its_owner() -> None:
    """And the anchor it failed on."""
    staged, types = AnchorTypeRegistry(), AnchorTypeRegistry()
    staged.add("ODD", marks=lambda anchor: anchor.nothing)  # type: ignore[union-attr]
    types.absorb(staged, ACME)
    with pytest.raises(PassError, match="raised AttributeError: .*asked about a:0") as caught:
        types.of(GraphBuilder().op("Gen", name="a"))
    assert caught.value.owner == "acme-memory 1.0"


def test_rules_are_for_pairs_in_either_order() -> None:
    """A pair has one rule; codes get their owner's prefix."""
    staged, checkers = CheckerRegistry(), CheckerRegistry()
    staged.always("A", "B", code="NEVER_TOGETHER")
    staged.never("A", "C")
    staged.check("C", "B", lambda a, b, query: (a, b, query), codes=("ODD",))
    checkers.absorb(staged, ACME)
    rule = checkers.rule("B", "A")
    assert rule is not None and (rule.kind, rule.codes) == ("always", ("acme.NEVER_TOGETHER",))
    asked = checkers.rule("B", "C")
    assert asked is not None and asked.types == ("C", "B") and asked(1, 2, 3) == (1, 2, 3)
    assert checkers.rule("A", "A") is None
    assert checkers.partners("A") == ["B", "C"]
    with pytest.raises(PluginError, match="have a rule already"):
        staged.never("B", "A")


def test_types_in_rules_get_their_full_names() -> None:
    """An author's own types may be written without the prefix; GE's stay bare."""
    staged, checkers = CheckerRegistry(), CheckerRegistry()
    staged.never("PINNED", "USER_MEMORY_OUTPUT")
    checkers.absorb(staged, ACME)
    checkers.resolve({"acme.PINNED", "USER_MEMORY_OUTPUT"})
    assert checkers.rule("acme.PINNED", "USER_MEMORY_OUTPUT") is not None
    assert checkers.rule("PINNED", "USER_MEMORY_OUTPUT") is None


def test_a_checker_that_raises_names_its_owner() -> None:
    """What comes out of a checker is an answer or an error of its package."""
    staged, checkers = CheckerRegistry(), CheckerRegistry()
    staged.check("A", "B", lambda a, b, query: query.nothing)
    checkers.absorb(staged, ACME)
    (rule,) = checkers
    with pytest.raises(PassError, match="checker for A and B raised AttributeError") as caught:
        rule(1, 2, 3)
    assert caught.value.owner == "acme-memory 1.0"


def test_there_is_one_read_write_checker() -> None:
    """It is made from its reference when asked for; a second one is refused."""
    checkers, first, second = CheckerRegistry(), CheckerRegistry(), CheckerRegistry()
    assert checkers.make_read_write() is None
    first.read_write("fractions:Fraction")
    second.read_write(object())
    checkers.absorb(first, GE)
    assert checkers.make_read_write() == 0
    with pytest.raises(PluginError, match="registered already"):
        checkers.absorb(second, ACME)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ("TWO_BANKS", "codes='TWO_BANKS' is no list of codes"),
        (("two banks",), "'two banks' is no reason code"),
        ((7,), "7 is no reason code"),
        (7, "codes=7 is no list of codes"),
    ],
)
def test_codes_that_are_none_are_refused(codes: Any, words: str) -> None:
    """When they are registered: no checker could give them."""
    with pytest.raises(PluginError, match=words):
        CheckerRegistry().check("A", "B", lambda a, b, query: None, codes=codes)


def test_a_second_rule_of_the_same_plugin_names_nobody_else() -> None:
    """The loader says which plugin it was."""
    staged = CheckerRegistry()
    staged.never("A", "B")
    with pytest.raises(PluginError) as caught:
        staged.always("B", "A", code="NO")
    assert caught.value.owner is None


def test_a_sorter_answers_for_its_types_in_one_call() -> None:
    """Names as the author wrote them, with the prefix or without, are the registered ones."""
    staged, types = AnchorTypeRegistry(), AnchorTypeRegistry()
    asked: list[object] = []

    def sort(anchor: object) -> list[str]:
        asked.append(anchor)
        return ["SECOND", "acme.FIRST"]

    for name in ("acme.FIRST", "SECOND"):
        staged.add(name, lambda anchor: True, sort=sort)
    staged.add("ALONE", lambda anchor: True)
    types.absorb(staged, ACME)
    x = GraphBuilder().data("x")
    assert ["acme.ALONE", "acme.FIRST", "acme.SECOND"] == types.of(x)
    assert [x] == asked


@pytest.mark.parametrize("answer", [["THIRD"], None, 1 / 3])
def test_a_sorter_that_answers_nonsense_is_named_with_its_package(answer: object) -> None:
    """A name that was not declared with it, or nothing to go through."""
    staged, types = AnchorTypeRegistry(), AnchorTypeRegistry()
    staged.add("FIRST", lambda anchor: True, sort=lambda anchor: answer)  # type: ignore[arg-type, return-value]  # nonsense
    types.absorb(staged, ACME)
    with pytest.raises(PassError, match=r"acme\.FIRST.*x:0"):
        types.of(GraphBuilder().data("x"))
