"""What third parties add: rules in the chain, and steps of the trace."""

from __future__ import annotations

from typing import Any

from ge_core.analysis import TraceRules
from ge_core.api import DeleteRules, GraphBuilder, Keep, Owner

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
