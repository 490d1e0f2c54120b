"""Further rules of removal passes: for whom they speak, in which order, and their failures."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import PassError
from ge_core.passes import DeleteRules, Keep
from ge_core.registry import Owner

ACME = Owner("acme", "acme-casts", "1.0")


def merged(**declared: dict[str, Any]) -> DeleteRules:
    """acme's rules."""
    staged, rules = DeleteRules(), DeleteRules()
    for name, about in declared.items():
        staged.add(name, **{"rule": lambda query: None, "codes": ("BANK",), **about})
    rules.absorb(staged, ACME)
    return rules


def test_rules_speak_for_the_passes_they_name() -> None:
    """Without a name for every one; in order of constraints, then by name."""
    rules = merged(a={"after": ("c",)}, b={"passes": ("Other",)}, c={})
    assert ["acme.c", "acme.a"] == [rule.name for rule in rules.for_pass("P")]
    assert ["acme.b", "acme.c", "acme.a"] == [rule.name for rule in rules.for_pass("Other")]


def test_codes_of_rules_get_the_prefix() -> None:
    """They are declared with the rule."""
    assert [("acme.BANK", "acme.a")] == [
        (code.name, code.giver) for code in merged(a={}).get("acme.a").codes
    ]


def test_a_rule_answers_none_or_keep() -> None:
    """Anything else is an error that names its package."""
    keep = Keep("BANK", hint="use one bank")
    assert merged(a={"rule": lambda query: query}).get("acme.a")(keep) is keep
    with pytest.raises(PassError, match="delete rule 'acme.a' answered True") as raised:
        merged(a={"rule": lambda query: True}).get("acme.a")(None)
    assert "acme-casts 1.0" == raised.value.owner


def test_a_rule_that_raises() -> None:
    """Names the rule and its package."""
    with pytest.raises(PassError, match="'acme.a' raised ZeroDivisionError") as raised:
        merged(a={"rule": lambda query: 1 // 0}).get("acme.a")(None)
    assert "acme-casts 1.0" == raised.value.owner
