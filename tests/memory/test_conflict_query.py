"""Asking layout rules about two classes that are to be joined."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.analysis import AliasClasses, Anchor, Scheme
from ge_core.errors import PassError
from ge_core.ir import GraphBuilder, InputAnchor, OutputAnchor
from ge_core.memory.anchor_types import AnchorTypeRegistry
from ge_core.memory.checkers import CheckerRegistry
from ge_core.memory.conflict_query import Clash, LayoutChecks
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.registry import Owner

OPS = OpRegistry()
register_builtin_ops(OPS)
OWNER = Owner("acme", "acme-banks", "1.0")


def banked(anchor: Anchor) -> bool:
    """Outputs of nodes with a bank."""
    return isinstance(anchor, OutputAnchor) and "acme.bank" in anchor.node.attrs


def picky(anchor: Anchor) -> bool:
    """Inputs of Picky nodes."""
    return isinstance(anchor, InputAnchor) and anchor.node.op == "Picky"


def clash(rules: Any, *banks: int, op: str = "Picky") -> Clash | None:
    """The clash, if any, between a value of the first bank and a copy of it."""
    types, staged_types = AnchorTypeRegistry(), AnchorTypeRegistry()
    staged_types.add("BANKED", banked)
    staged_types.add("PICKY", picky)
    types.absorb(staged_types, OWNER)
    checkers, staged = CheckerRegistry(), CheckerRegistry()
    rules(staged)
    checkers.absorb(staged, OWNER)
    checkers.resolve(types)
    b = GraphBuilder()
    made = b.op("Relu", b.data("x"), name="made", attrs={"acme.bank": banks[0]})
    facts = {"acme.bank": banks[1]} if len(banks) > 1 else {}
    copy = b.op("TensorMove", made, name="mv", attrs=facts)
    b.op(op, copy, name="use")
    classes = AliasClasses(b.graph, OPS, Scheme.SYMBOLS, types.of)
    checks = LayoutChecks(checkers, b.graph, OPS, lambda name: f"value of {name}")
    return checks.first_clash(classes, copy.node.inputs[0], copy)


def same_bank(a: OutputAnchor, b: OutputAnchor, query: Any) -> Any:
    """Two banks are a conflict."""
    if a.node.attrs["acme.bank"] == b.node.attrs["acme.bank"]:
        return query.no_conflict()
    return query.conflict(code="TWO_BANKS", isolate=b)


def test_a_function_decides_about_its_pair() -> None:
    """Its code comes back under its owner's name, with the anchor to isolate."""

    def rules(checkers: CheckerRegistry) -> None:
        checkers.check("BANKED", "BANKED", same_bank, codes=("TWO_BANKS",))

    assert clash(rules, 1, 1) is None
    found = clash(rules, 1, 2)
    assert found is not None
    assert ("acme.TWO_BANKS", "made:0", "mv:0", "acme-banks 1.0") == (
        found.code,
        str(found.first),
        str(found.second),
        found.owner,
    )
    assert found.second is found.isolate


def test_anchors_come_in_the_order_the_types_were_written() -> None:
    """Whichever side of the join they are on."""
    seen = []

    def check(a: Anchor, b: Anchor, query: Any) -> Any:
        seen.append((str(a), str(b)))
        return query.no_conflict()

    clash(lambda checkers: checkers.check("PICKY", "BANKED", check), 1)
    assert [("use@0", "made:0")] == seen


def test_an_absolute_pair_isolates_the_input() -> None:
    """No function is asked."""
    found = clash(lambda checkers: checkers.always("BANKED", "PICKY", code="NEVER_BOTH"), 1)
    assert found is not None
    assert ("acme.NEVER_BOTH", "use@0") == (found.code, str(found.isolate))


def test_pairs_without_a_rule_and_harmless_pairs_say_nothing() -> None:
    """Only registered conflicts are conflicts."""
    assert clash(lambda checkers: None, 1, 2) is None
    assert clash(lambda checkers: checkers.never("BANKED", "BANKED"), 1, 2) is None


def test_anchors_of_one_node_never_clash() -> None:
    """What one node demands of its own ports is its own affair."""

    def rules(checkers: CheckerRegistry) -> None:
        checkers.always("BANKED", "PICKY", code="NEVER_BOTH")

    b = GraphBuilder()
    made = b.op("Picky", b.data("x"), name="p", attrs={"acme.bank": 1}, reuse_input=0)
    types = AnchorTypeRegistry()
    types.add("BANKED", banked)
    types.add("PICKY", picky)
    checkers = CheckerRegistry()
    rules(checkers)
    classes = AliasClasses(b.graph, OPS, Scheme.SYMBOLS, types.of)
    checks = LayoutChecks(checkers, b.graph, OPS, lambda name: None)
    assert checks.first_clash(classes, made, made.node.inputs[0]) is None


def test_a_checker_sees_options_members_and_producers() -> None:
    """Both classes' anchors are members of the memory in question; views are looked through."""
    seen: list[Any] = []

    def check(a: InputAnchor, b: OutputAnchor, query: Any) -> Any:
        members = sorted(str(member) for member in query.members())
        seen.append((query.option("o"), members, str(query.producer(a)), query.root.name))
        return query.no_conflict()

    clash(lambda checkers: checkers.check("PICKY", "BANKED", check), 1)
    members = ["made:0", "mv:0", "mv@0", "use@0"]
    assert [("value of o", members, "made:0", "root")] == seen


@pytest.mark.parametrize("answer", [None, "conflict", True])
def test_a_nonsense_answer_names_the_package(answer: Any) -> None:
    """A checker answers with what its query makes."""
    with pytest.raises(PassError, match="acme-banks"):
        clash(lambda checkers: checkers.check("BANKED", "BANKED", lambda a, b, q: answer), 1, 2)


def test_producers_are_found_through_views() -> None:
    """Up to the first output that is neither a view nor the copy; an unconnected input has none."""
    seen: list[Any] = []

    def check(a: InputAnchor, b: OutputAnchor, query: Any) -> Any:
        seen.extend(str(query.producer(anchor)) for anchor in a.node.inputs)
        return query.no_conflict()

    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act", attrs={"acme.bank": 1})
    view = b.op("Reshape", act, name="view", reuse_input=0)
    copy = b.op("TensorMove", view, name="mv")
    b.op("Picky", copy, view, None, name="use")
    types = AnchorTypeRegistry()
    types.add("BANKED", banked)
    types.add("PICKY", picky)
    checkers = CheckerRegistry()
    checkers.check("PICKY", "BANKED", check)
    classes = AliasClasses(b.graph, OPS, Scheme.SYMBOLS, types.of)
    LayoutChecks(checkers, b.graph, OPS, lambda name: None).first_clash(
        classes, copy.node.inputs[0], copy
    )
    assert ["act:0", "act:0", "None"] == seen[:3]
