"""Delete rules of plugins speak for copies in front of stores that came with the graph."""

from __future__ import annotations

import pytest

from ge_core.api import DeleteCandidate, DeleteRules, Graph, GraphBuilder, Keep, Owner, PassError
from ge_core.passes.environment import Environment
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import plan_passes
from ge_core.passes.precedence import ARGUMENTS, Source
from ge_core.session.kernel import default_kernel

ADD, DELETE = "InnerIdentityAddPass", "InnerIdentityDeletePass"
STORE = {"reference": True}


def run(graph: Graph, rules: DeleteRules, *names: str) -> Environment:
    """Run passes by name with contributed rules."""
    kernel = default_kernel()
    schedule = plan_passes(
        kernel.catalog, [Source(ARGUMENTS, {"ge.oo.level": "O3"})], ",".join(names)
    )
    env = kernel.environment(graph, schedule, kernel.target("ascend"))
    env.delete_rules = rules
    env.codes.add(code for rule in rules for code in rule.codes)
    PassManager(schedule, env, verify_each=True, audit=True).run()
    return env


def rules_with(answer: Keep | Exception, asked: list[str]) -> DeleteRules:
    """One rule for all passes."""

    def rule(copy: DeleteCandidate) -> Keep | None:
        asked.append(f"{copy.feed} {copy.origin.node.name}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    staged, rules = DeleteRules(), DeleteRules()
    staged.add("stay", rule, codes={"ASKED": "it was asked for"})
    rules.absorb(staged, Owner("acme", "acme-rules", "1.0"))
    return rules


def stored_into(*, held: bool) -> Graph:
    """A store, with or without a copy in front of it that came with the graph."""
    b = GraphBuilder()
    x = b.data("x")
    act = b.op("Relu", x, name="act")
    pre = b.op("Exp", act, name="pre")
    if held:
        act = b.op("Identity", act, name="hold", attrs={"_inner_identity": True}, control=[pre])
    b.net_output(b.op("Assign", act, pre, name="st", attrs=STORE, reuse_input=0))
    return b.graph


def test_a_copy_that_came_with_the_graph_stays_where_a_rule_says_so() -> None:
    """With the rule's code; two are blamed."""
    asked: list[str] = []
    env = run(stored_into(held=True), rules_with(Keep("ASKED"), asked), DELETE)
    remark = env.remarks.final("hold")
    assert ["act:0 act"] == asked
    assert remark is not None
    assert ("acme.ASKED", ["act:0", "st@0"]) == (
        remark.code,
        [one.anchor or one.node for one in remark.blame],
    )
    assert env.root.find("hold") is not None
    assert run(stored_into(held=True), DeleteRules(), DELETE).root.find("hold") is None


def test_a_copy_that_was_put_in_for_a_store_is_not_asked_about() -> None:
    """Without it the graph is as it came."""
    asked: list[str] = []
    env = run(stored_into(held=False), rules_with(Keep("ASKED"), asked), ADD, DELETE)
    remark = env.remarks.final("inner_identity_0")
    assert remark is not None
    assert ([], "INNER_IDENTITY_UNNEEDED") == (asked, remark.code)


def test_a_rule_that_raises_is_named() -> None:
    """Not the pass that asked it."""
    rules = rules_with(ZeroDivisionError("bah"), [])
    with pytest.raises(PassError, match=r"delete rule 'acme\.stay' raised Zero") as caught:
        run(stored_into(held=True), rules, DELETE)
    assert "acme-rules 1.0" == caught.value.owner
