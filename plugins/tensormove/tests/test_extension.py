"""What third parties add: rules in the chain, and steps of the trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from ge_core.analysis import TraceRules
from ge_core.api import DeleteCandidate, DeleteRules, GraphBuilder, Keep, Owner, PassError

OWNER = Owner("acme", "acme-banks", "1.0")


def test_a_contributed_rule_keeps_a_copy_with_its_own_code(delete: Any) -> None:
    """It is asked after the built-in ones, and sees the copy, its trace and its readers.

    Also where a built-in rule keeps the copy and has a hint, which must be enough by itself.
    """
    seen: list[tuple[str, str, int]] = []

    def same_bank(copy: Any) -> Keep | None:
        seen.append((copy.copy.name, str(copy.trace.output), len(copy.successors.plain)))
        if copy.copy.attrs.get("acme.bank") == 1:
            return Keep("OTHER_BANK", blame=copy.feed)
        return None

    staged, rules = DeleteRules(), DeleteRules()
    staged.add("bank", same_bank, codes={"OTHER_BANK": "the banks differ"})
    rules.absorb(staged, OWNER)
    b = GraphBuilder()
    for at in range(2):
        act = b.op("Relu", b.data(f"x{at}"), name=f"act{at}")
        b.op("Exp", b.op("TensorMove", act, name=f"mv{at}", attrs={"acme.bank": at}), name=f"e{at}")
    b.op("Exp", b.op("TensorMove", b.data("y"), name="kept"), name="e")
    env = delete(b.graph, delete_rules=rules)
    final = env.remarks.final
    assert ["REMOVED", "acme.OTHER_BANK", "R2_NOT_DECLARED"] == [
        final(name).code for name in ("mv0", "mv1", "kept")
    ]
    assert "the banks differ" == final("mv1").reason
    assert {("mv0", "act0:0", 1), ("mv1", "act1:0", 1), ("kept", "y:0", 1)} == set(seen)


def registered(*packages: Callable[[DeleteRules], None]) -> DeleteRules:
    """The rules of several packages, called `one`, `two`, ..."""
    rules = DeleteRules()
    for name, register in zip(("one", "two"), packages, strict=False):
        staged = DeleteRules()
        register(staged)
        rules.absorb(staged, Owner(name, f"{name}-rules", "1.0"))
    return rules


def lone_copy(**facts: Any) -> GraphBuilder:
    """A copy that every built-in rule lets go."""
    b = GraphBuilder()
    act = b.op("Relu", b.data("x"), name="act")
    b.op("Exp", b.op("TensorMove", act, name="mv", **facts), name="use")
    return b


def test_contributed_rules_are_asked_in_their_order_until_one_says_no(delete: Any) -> None:
    """By their constraints, then by name, whatever the order of packages; who follows is silent."""
    asked: list[str] = []

    def saying(name: str, answer: Keep | None) -> Callable[[DeleteCandidate], Keep | None]:
        def rule(copy: DeleteCandidate) -> Keep | None:
            asked.append(name)
            return answer

        return rule

    def one(rules: DeleteRules) -> None:
        rules.add("b", saying("one.b", Keep("NO")), codes={"NO": "no"})
        rules.add("a", saying("one.a", None), codes=(), after=("two.late",))

    def two(rules: DeleteRules) -> None:
        rules.add("late", saying("two.late", None), codes=())
        rules.add("last", saying("two.last", Keep("NO")), codes={"NO": "no"}, after=("one.b",))
        rules.add("first", saying("two.first", None), codes=(), before=("one.b",))
        rules.add("other", saying("two.other", None), codes=(), passes=("SomeOtherPass",))

    rules = registered(one, two)
    env = delete(lone_copy().graph, delete_rules=rules)
    assert "one.NO" == env.remarks.final("mv").code
    order = [rule.name for rule in rules.for_pass("TensorMoveDeletePass")]
    assert order[: order.index("one.b") + 1] == asked
    assert order.index("two.first") < order.index("one.b") < order.index("two.last")
    assert order.index("two.late") < order.index("one.a")
    assert "two.other" not in order


def test_contributed_rules_are_asked_about_what_would_go_only(delete: Any) -> None:
    """Not about copies that a built-in rule keeps for good, nor those without an output."""
    asked: list[str] = []

    def rule(copy: DeleteCandidate) -> Keep | None:
        asked.append(copy.copy.name)
        return None

    rules = registered(lambda rules: rules.add("look", rule, codes=()))
    b = lone_copy()
    act = b.graph.node("act").outputs[0]
    b.node("TensorMove", act, name="unread", outputs=[])
    var = b.op("Variable", name="w")
    b.op("Reshape", b.op("TensorMove", var, name="special"), name="v", reuse_input=0)
    delete(b.graph, delete_rules=rules)
    assert ["mv"] == asked


@pytest.mark.parametrize("answer", [True, False, 0, "NO", ("NO",), {"code": "NO"}, Keep])
def test_an_answer_of_another_kind_stops_the_compile(delete: Any, answer: Any) -> None:
    """It is neither a yes nor a no: nothing is guessed, and the graph is as it was."""
    rules = registered(
        lambda rules: rules.add("bad", cast(Any, lambda copy: answer), codes={"NO": "no"})
    )
    b = lone_copy()
    with pytest.raises(PassError, match=r"delete rule 'one\.bad' answered") as caught:
        delete(b.graph, delete_rules=rules)
    assert "one-rules 1.0" == caught.value.owner
    assert b.graph.find("mv") is not None


@pytest.mark.parametrize("error", [ZeroDivisionError("bah"), SystemExit(3), StopIteration()])
def test_whatever_a_rule_raises_names_its_package(delete: Any, error: BaseException) -> None:
    """Also what would end the process, or a loop."""

    def rule(copy: DeleteCandidate) -> Keep | None:
        raise error

    b = lone_copy()
    with pytest.raises(PassError, match=r"delete rule 'one\.bad' (raised|tried)") as caught:
        delete(b.graph, delete_rules=registered(lambda rules: rules.add("bad", rule, codes=())))
    assert "one-rules 1.0" == caught.value.owner
    assert b.graph.find("mv") is not None


def _raises(copy: DeleteCandidate) -> Keep | None:
    raise ZeroDivisionError("bah")


def _edits(copy: DeleteCandidate) -> Keep | None:
    attrs: Any = copy.copy.attrs
    attrs["x"] = 1
    return None


def _adds(copy: DeleteCandidate) -> Keep | None:
    copy.graph.set_attr(copy.copy, "x", 1)
    return None


EDITED = "a delete rule must not edit: it only looks"


@pytest.mark.parametrize(
    ("rule", "words", "hint"),
    [
        (_raises, "raised ZeroDivisionError: bah", None),
        (_edits, "raised TypeError", EDITED),
        (_adds, "raised GraphError", EDITED),
        (Keep("NO"), "fields that don't fill the text of its code 'acme.NO'", "fills 'no {what}'"),
        (Keep("NO", fields={"bytes": 1}), "answered a field 'bytes'", "another name"),
        (Keep("NO", fields=cast(Any, 7)), "answered fields=7", None),
        (Keep("NO", fields={"what": 1}, blame=7), "blame=7 is no node", None),
        (Keep("NO", fields={"what": 1}, hint=cast(Any, 7)), "hint=7 is no sentence", None),
        (Keep("YES"), "gives code 'YES', which it did not declare", None),
    ],
)
def test_what_a_contributed_rule_does_wrong_is_said_of_its_package(
    delete: Any, rule: Any, words: str, hint: str | None
) -> None:
    """Not of the package of the pass that asks it."""
    staged, rules = DeleteRules(), DeleteRules()
    asked = rule if callable(rule) else lambda copy: rule
    staged.add("bank", asked, codes={"NO": "no {what}"})
    rules.absorb(staged, OWNER)
    b = GraphBuilder()
    b.op("Exp", b.op("TensorMove", b.op("Relu", b.data("x")), name="mv"))
    with pytest.raises(PassError) as caught:
        delete(b.graph, delete_rules=rules)
    assert ("acme-banks 1.0", True) == (caught.value.owner, words in caught.value.message)
    assert hint is None or hint in str(caught.value.hint)
    assert "delete rule 'acme.bank'" in caught.value.message


def test_a_candidate_is_what_the_interface_promises(delete: Any) -> None:
    """Every member is there when a contributed rule is asked."""
    seen: list[object] = []

    def look(copy: DeleteCandidate) -> Keep | None:
        found = (copy.copy, copy.graph, copy.input, copy.feed, copy.output, copy.origin, copy.trace)
        seen.extend([*map(str, found[2:5]), copy.origin.output is copy.feed, copy.ctx.ops is None])
        return None

    staged, rules = DeleteRules(), DeleteRules()
    staged.add("look", look, codes=())
    rules.absorb(staged, OWNER)
    b = GraphBuilder()
    b.op("Exp", b.op("TensorMove", b.op("Relu", b.data("x"), name="r"), name="mv"))
    delete(b.graph, delete_rules=rules)
    assert ["mv@0", "r:0", "mv:0", True, False] == seen


def test_a_contributed_trace_step_makes_an_op_transparent(delete: Any) -> None:
    """The trace goes through it to a graph input, whose owner has to be asked."""
    import ge_tensormove

    rules, staged = TraceRules(), TraceRules()
    ge_tensormove.ge_register_trace_rules(staged)
    staged.add("AcmeWindow", lambda output, trace: trace.through(output.node.inputs[0]))
    rules.absorb(staged, OWNER)
    codes = []
    for given in ({}, {"trace_rules": rules}):
        b = GraphBuilder()
        window = b.op("AcmeWindow", b.data("x"))
        b.op("Exp", b.op("TensorMove", window, name="mv"))
        codes.append(delete(b.graph, **given).remarks.final("mv").code)
    assert ["REMOVED", "R2_NOT_DECLARED"] == codes
